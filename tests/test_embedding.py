from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

import numpy as np
import pytest

from enfold.errors import Invalid, Unavailable
from enfold.models import minilm
from enfold.models.embedding import (
    BATCH,
    MINILM_SAME,
    MINILM_UNRELATED,
    MOST_CHARACTERS,
    REFUSED,
    SAME,
    Endpoint,
    embedder,
    scale,
)
from enfold.models.minilm import MiniLm
from enfold.ports import Embedder

MODEL = MiniLm()

SHA256: Final = {
    "model.onnx": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


def cosine(left: str, right: str) -> float:
    one, two = MODEL.embed([left, right])
    return float(one @ two)


# ---- the model that comes along -----------------------------------------------------------------


@pytest.mark.parametrize(("file", "digest"), SHA256.items())
def test_the_shipped_files_are_those_that_were_verified(file: str, digest: str) -> None:
    assert hashlib.sha256((minilm.FOLDER / file).read_bytes()).hexdigest() == digest
    assert digest in (minilm.FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("Postgres", "PostgreSQL", 0.898),
        ("K8s", "Kubernetes", 0.476),
        ("Munich", "München", 0.796),
        ("Who runs the ingest worker?", "Ada moved the ingest worker to Postgres 15.", 0.522),
        ("Opus 4.8", "Opus 4.7", 0.971),
        (".next", "Next", 0.919),
        ("Ada manages Grace.", "Grace manages Ada.", 0.974),
    ],
)
def test_the_model_places_texts_as_it_was_measured(left: str, right: str, expected: float) -> None:
    assert cosine(left, right) == pytest.approx(expected, abs=0.01)


def test_rows_are_of_length_one_and_in_the_order_of_the_texts() -> None:
    texts = ["a", "The weekly review is on Tuesday at ten. " * 9, "Ada", "東京", "C++"]
    rows = MODEL.embed(texts)
    assert rows.shape == (5, MODEL.dimensions)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(5), abs=1e-5)
    for row, text in zip(rows, texts, strict=True):
        assert row @ MODEL.embed([text])[0] == pytest.approx(1, abs=1e-5)


def test_no_texts_give_no_rows() -> None:
    rows = MODEL.embed([])
    assert rows.shape == (0, 384)
    assert rows.dtype == np.float32


def test_a_vector_does_not_depend_on_what_is_in_the_batch() -> None:
    words = Path(__file__).read_text(encoding="utf-8").split()
    texts = [" ".join(words[at : at + at % 60 + 1]) for at in range(0, 900, 15)]
    together, backwards = MODEL.embed(texts), MODEL.embed(texts[::-1])[::-1]
    alone = np.concatenate([MODEL.embed([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-5
    assert np.abs(together - backwards).max() < 1e-5


def test_more_texts_than_are_held_at_once_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"text {n} " + "and more " * (n % 5) for n in range(23)]
    expected = MODEL.embed(texts)
    monkeypatch.setattr(minilm, "_WINDOW", 5)
    monkeypatch.setattr(minilm, "_BATCH", 20)
    assert MODEL.embed(texts) == pytest.approx(expected, abs=1e-5)


def test_a_batch_holds_so_many_tokens_and_no_text_twice() -> None:
    lengths = [3, 256, 2, 256, 256, 256, 256, 7, 1_024]
    batches = list(minilm._batches(lengths))
    assert sorted(at for batch in batches for at in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[at] for at in batch) <= minilm._BATCH


def test_of_a_very_long_text_the_beginning_counts() -> None:
    page = "The staging cluster runs in Frankfurt. " * 100
    rows = MODEL.embed([page, page + "x" * 10_000_000, "\n" * 1_000_000 + page])
    assert rows[1] @ rows[0] == pytest.approx(1, abs=1e-5)
    assert rows[2] @ rows[0] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    "text", ["", "   ", "\x00\x01", "half \ud83d", "🚀", "a\u200bb", "x" * 9_999]
)
def test_any_text_has_a_place(text: str) -> None:
    assert np.linalg.norm(MODEL.embed([text])[0]) == pytest.approx(1, abs=1e-5)


def test_threads_share_one_model() -> None:
    texts = [f"sentence number {n}" for n in range(16)]
    expected = MODEL.embed(texts)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda text: MiniLm().embed([text])[0], texts))
    assert np.array(found) == pytest.approx(expected, abs=1e-5)
    assert minilm._load(0) is minilm._load(0)


def _in_a_fork(texts: list[str], answer: Any) -> None:
    answer.put(MODEL.embed(texts))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_loads_its_own_model() -> None:
    texts = ["Ada moved the ingest worker."]
    expected = MODEL.embed(texts)
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    child = context.Process(target=_in_a_fork, args=(texts, answer))
    child.start()
    found = answer.get(timeout=60)
    child.join(60)
    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_a_missing_library_says_what_to_do(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "_process", minilm._Process())
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(Unavailable, match=r"ENFOLD_EMBEDDER=off") as caught:
        MODEL.embed(["Ada"])
    assert caught.value.code == "model_unavailable"


def test_a_damaged_file_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    damaged = tmp_path / "model.onnx"
    damaged.write_bytes(b"version https://")
    monkeypatch.setattr(minilm, "_process", minilm._Process())
    monkeypatch.setattr(minilm, "MODEL", damaged)
    with pytest.raises(Unavailable, match="Install enfold anew"):
        MODEL.embed(["Ada"])


def test_nothing_heavy_is_imported_before_a_text_is_placed() -> None:
    script = (
        "import sys; from enfold.models.embedding import embedder; "
        "embedder('minilm'); embedder('m', 'http://127.0.0.1:9/v1'); "
        "print({'numpy', 'onnxruntime', 'tokenizers', 'openai'} & {*sys.modules})"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environ, check=True
    )
    assert done.stdout.strip() == "set()"


def test_the_floors_keep_what_belongs_together_and_leave_out_what_does_not() -> None:
    assert cosine("who maintains the billing portal?", "BillingPortal") >= MODEL.anchor_floor
    assert cosine("who maintains the billing portal?", "Frankfurt") < MODEL.anchor_floor
    assert cosine("BillingPortal", "billing portal") >= 0.7
    assert cosine("BillingPortal", "Frankfurt") < 0.7
    moved, stayed = "Ada moved the worker to Postgres.", "Ada kept the worker on MySQL."
    assert cosine(moved, stayed) >= MODEL.belief_floor
    assert cosine(moved, "The office closes at seven.") < MODEL.belief_floor


# ---- an endpoint --------------------------------------------------------------------------------

KEY: Final = "sk-very-secret"

Reply = tuple[int, Any]


class Server(ThreadingHTTPServer):
    """An endpoint that answers as a test says; it keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.answer: Callable[[list[str]], Reply] = lambda texts: (200, vectors(texts))
        self.closes = self.trickles = False
        self.released = Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, *_: Any) -> None:  # a client that hung up is what some tests are about
        pass


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append({"path": self.path, **body})
        self.server.keys.append(self.headers["Authorization"])
        if self.server.closes:
            self.connection.close()
            return
        status, said = self.server.answer(body["input"])
        data = said if isinstance(said, bytes) else json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(data)
        while self.server.trickles:
            self.wfile.write(b" ")
            self.server.released.wait(0.02)

    def log_message(self, *_: Any) -> None:
        pass


def vectors(texts: list[str], width: int = 5) -> dict[str, Any]:
    """What a well-behaved endpoint says: not of length 1, and here in another order."""
    rows = [
        {"object": "embedding", "index": at, "embedding": [float(len(text)), *[1.0] * (width - 1)]}
        for at, text in enumerate(texts)
    ]
    return {"object": "list", "data": rows[::-1], "model": "m", "usage": {}}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "*")
    with Server() as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.trickles = False
        server.released.set()
        server.shutdown()
        thread.join()


def at(server: Server, *, timeout: float = 10.0, retries: int = 0) -> Endpoint:
    return Endpoint("m", server.url, KEY, timeout=timeout, retries=retries)


def failure(endpoint: Embedder, texts: tuple[str, ...] = ("Ada", "Grace")) -> str:
    """What it says where it can't: one sentence on what is wrong and one on what to do."""
    with pytest.raises(Unavailable) as caught:
        endpoint.embed(texts)
    said = str(caught.value)
    nonsense = said.endswith("Look whether embedder names a model for embeddings there.")
    refused = any(f"answers with status {status}." in said for status in REFUSED)
    told = "model_refused" if refused else "model_unavailable"
    assert caught.value.code == ("model_nonsense" if nonsense else told)
    assert said.startswith("The embedding model m at http://127.0.0.1:")
    chained = f"{caught.value!r} {caught.value.__cause__!r}"
    assert KEY not in said + chained
    return said


def test_an_endpoint_gives_rows_of_length_one_in_the_order_of_the_texts(server: Server) -> None:
    texts = [f"{'x' * n}y" for n in range(2 * BATCH + 3)]
    endpoint = at(server)
    rows = endpoint.embed(texts)
    assert rows.shape == (len(texts), 5)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-6)
    assert rows[:, 0] / rows[:, 1] == pytest.approx([len(text) for text in texts], rel=1e-5)
    assert [len(one["input"]) for one in server.asked] == [BATCH, BATCH, 3]
    assert {one["path"] for one in server.asked} == {"/v1/embeddings"}
    assert {one["model"] for one in server.asked} == {"m"} == {endpoint.model}
    assert set(server.keys) == {f"Bearer {KEY}"}


def test_dimensions_are_learned_from_the_first_answer(server: Server) -> None:
    endpoint = at(server)
    endpoint.embed(["Ada"])
    assert endpoint.dimensions == 5
    assert len(server.asked) == 1
    assert at(server).dimensions == 5
    assert at(server).embed([]).shape == (0, 5)


def test_an_endpoint_that_changes_its_dimensions_is_refused(server: Server) -> None:
    endpoint = at(server)
    endpoint.embed(["Ada"])
    server.answer = lambda texts: (200, vectors(texts, 7))
    assert "vectors of other dimensions than 5" in failure(endpoint)


def test_what_an_endpoint_is_sent_is_sound_not_empty_and_not_too_long(server: Server) -> None:
    at(server).embed(["", "\n ", "half \ud83d", "y" * 1_000_000])
    assert server.asked[0]["input"] == [".", ".", "half ?", "y" * MOST_CHARACTERS]


def test_a_key_of_the_environment_is_sent_nowhere(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    Endpoint("m", server.url).embed(["Ada"])
    assert server.keys == ["Bearer none"]


NONSENSE: Final[dict[str, Any]] = {
    "no JSON": b"<html>hello</html>",
    "nothing": b"",
    "another answer": {"choices": []},
    "a list": [1, 2],
    "no list": {"data": 7},
    "null": {"data": None},
    "no vectors": {"data": [{"index": 0}, {"index": 1}]},
    "words": {"data": [{"index": n, "embedding": ["a"]} for n in (0, 1)]},
    "numbers alone": {"data": [{"index": n, "embedding": 1.5} for n in (0, 1)]},
    "empty vectors": {"data": [{"index": n, "embedding": []} for n in (0, 1)]},
    "unequal length": {"data": [{"index": n, "embedding": [1.0] * (n + 1)} for n in (0, 1)]},
    "no length": {"data": [{"index": n, "embedding": [0.0, 0.0]} for n in (0, 1)]},
    "not a number": b'{"data": [{"embedding": [NaN]}, {"embedding": [1]}]}',
    "too few": {"data": [{"index": 0, "embedding": [1.0]}]},
    "too many": {"data": [{"index": n, "embedding": [1.0]} for n in (0, 1, 2)]},
    "one place twice": {"data": [{"index": 0, "embedding": [1.0]}] * 2},
    "deep": b"[" * 100_000,
    "no length that is one": {"data": [{"index": n, "embedding": [1e300]} for n in (0, 1)]},
    "no number of a float": {"data": [{"index": n, "embedding": [10**400]} for n in (0, 1)]},
}


@pytest.mark.parametrize("said", NONSENSE.values(), ids=NONSENSE.keys())
def test_nonsense_is_no_vector(server: Server, said: Any) -> None:
    server.answer = lambda _: (200, said)
    assert "Look whether embedder names a model for embeddings there." in failure(at(server))


def test_an_answer_without_places_is_in_the_order_of_the_texts(server: Server) -> None:
    server.answer = lambda _: (200, {"data": [{"embedding": [3, 4]}, {"embedding": [1, 0]}]})
    assert at(server).embed(["a", "b"]) == pytest.approx(np.array([[0.6, 0.8], [1, 0]]))


@pytest.mark.parametrize(
    ("status", "todo"),
    [
        (400, "It refuses the request"),
        (401, "set embedder_key"),
        (403, "set embedder_key"),
        (404, "look at embedder and embedder_url"),
        (429, "try again later"),
        (500, "look at what serves it"),
    ],
)
def test_a_refusal_says_what_to_do_and_not_the_key(server: Server, status: int, todo: str) -> None:
    server.answer = lambda _: (status, {"error": {"message": f"bad key {KEY}"}})
    said = failure(at(server))
    assert f"answers with status {status}." in said
    assert todo in said


def test_a_fault_that_passes_is_tried_again(server: Server) -> None:
    server.answer = lambda texts: (200, vectors(texts)) if len(server.asked) > 2 else (503, {})
    assert at(server, retries=2).embed(["Ada"]).shape == (1, 5)
    assert len(server.asked) == 3


def test_tries_come_to_an_end(server: Server) -> None:
    server.answer = lambda _: (503, {})
    assert "status 503" in failure(at(server, retries=1))
    assert len(server.asked) == 2


def test_an_endpoint_that_does_not_answer_in_time_is_left(server: Server) -> None:
    def late(texts: list[str]) -> Reply:
        server.released.wait(30)
        return 200, vectors(texts)

    server.answer = late
    assert "did not answer within 0.2 seconds" in failure(at(server, timeout=0.2))


def test_an_endpoint_that_never_ends_its_answer_is_left(server: Server) -> None:
    server.trickles = True
    assert "did not answer within 0.3 seconds" in failure(at(server, timeout=0.3))


def test_an_answer_without_end_is_cut_off(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("enfold.models.embedding.MOST_BYTES", 1 << 20)
    server.answer = lambda _: (200, b" " * (2 << 20))
    assert "answers more than 1 MB for 2 texts" in failure(at(server))


def test_an_endpoint_that_hangs_up_is_named(server: Server) -> None:
    server.closes = True
    said = failure(at(server))
    assert "can't be reached" in said
    assert "embedder_url" in said


def test_an_endpoint_that_is_not_there_is_named_without_its_password(server: Server) -> None:
    url = server.url.replace("//", "//ada:pass@").replace("/v1", "/v1?token=pass")
    server.shutdown()
    server.server_close()
    said = failure(Endpoint("m", url, KEY, retries=0))
    assert "can't be reached" in said
    assert "pass" not in said


def test_an_endpoint_without_its_library_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(Unavailable, match=r"pip install 'enfold\[llm\]'") as caught:
        Endpoint("m", "http://127.0.0.1:9/v1").embed(["Ada"])
    assert caught.value.code == "needs_extra"


# ---- floors of a model that nobody measured -----------------------------------------------------


def test_the_scale_of_the_measured_model_is_what_it_is() -> None:
    texts = [text for pair in SAME for text in pair]
    assert scale(MODEL.embed(texts)) == pytest.approx((MINILM_UNRELATED, MINILM_SAME), abs=0.01)


def test_an_endpoint_with_the_measured_model_has_its_floors(server: Server) -> None:
    server.answer = lambda texts: (
        200,
        {"data": [{"embedding": row.tolist()} for row in MODEL.embed(texts)]},
    )
    endpoint = at(server)
    assert endpoint.anchor_floor == pytest.approx(MODEL.anchor_floor, abs=0.01)
    assert endpoint.belief_floor == pytest.approx(MODEL.belief_floor, abs=0.01)
    assert len(server.asked) == 1


def test_a_model_that_places_all_texts_near_has_higher_floors(server: Server) -> None:
    def near(texts: list[str]) -> Reply:
        rows = np.hstack([np.full((len(texts), 1), 2.0), MODEL.embed(texts)])
        return 200, {"data": [{"embedding": row.tolist()} for row in rows]}

    server.answer = near
    endpoint = at(server)
    assert 0.85 < endpoint.anchor_floor < endpoint.belief_floor < 1
    pair = endpoint.embed(["who maintains the billing portal?", "Frankfurt"])
    assert 0.8 < pair[0] @ pair[1] < endpoint.anchor_floor


# ---- by name ------------------------------------------------------------------------------------


def test_an_embedder_is_made_by_its_name() -> None:
    assert isinstance(embedder("minilm"), MiniLm)
    assert embedder("off") is None
    endpoint = embedder("nomic-embed-text", "http://127.0.0.1:11434/v1", KEY)
    assert isinstance(endpoint, Endpoint)
    assert endpoint.model == "nomic-embed-text"
    assert KEY not in repr(endpoint)


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:11434", "ftp://host/v1", "http://", "http://h:x/v1"]
)
@pytest.mark.parametrize("name", ["nomic-embed-text", ""])
def test_a_model_without_an_address_is_no_setting(name: str, url: str) -> None:
    with pytest.raises(Invalid, match="embedder_url") as caught:
        embedder(name, url)
    assert caught.value.code == "bad_setting"
