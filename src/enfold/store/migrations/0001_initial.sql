-- The first schema. Edges remember what the text said; where they end now is derived from the
-- folds by the views below, never stored, so that a revert has nothing to repair.

CREATE TABLE memory (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    content     TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('fact', 'preference', 'episode', 'procedure', 'document')),
    source      TEXT,
    source_tag  TEXT,
    caller_id   TEXT UNIQUE,              -- idempotency: the same piece is stored once
    created_at  TEXT NOT NULL
);

-- Memories that no longer hold; their edges don't count. A table of its own: whether each of a hub's
-- thousands of memories is in it is asked with every count, and reading the memories themselves for
-- that took eight times as long.
CREATE TABLE stale (
    memory_id INTEGER PRIMARY KEY REFERENCES memory(id) ON DELETE CASCADE
);

CREATE TABLE entity (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    spelling     TEXT NOT NULL CHECK (spelling <> ''),
    key          TEXT NOT NULL,
    sense        INTEGER NOT NULL DEFAULT 0,
    merge_key    TEXT NOT NULL,           -- empty where the name has no letter or digit
    fold_key     TEXT NOT NULL,
    type         TEXT,
    source_tag   TEXT,
    foreign_id   TEXT,
    attributes   TEXT,                    -- what the source said beside, as JSON
    alias_only   INTEGER NOT NULL DEFAULT 0,  -- never an entity of its own: an old or imported spelling
    folded_into  INTEGER REFERENCES entity(id),
    canonical_id INTEGER NOT NULL REFERENCES entity(id) DEFERRABLE INITIALLY DEFERRED,
    again        INTEGER NOT NULL DEFAULT 0,  -- to be looked at again (see resolve); new rows are anyway
    created_at   TEXT NOT NULL,
    UNIQUE (key, sense)
);
CREATE INDEX entity_canonical ON entity (canonical_id);
CREATE INDEX entity_folded ON entity (folded_into) WHERE folded_into IS NOT NULL;
CREATE INDEX entity_merge_key ON entity (merge_key);
CREATE INDEX entity_foreign ON entity (foreign_id) WHERE foreign_id IS NOT NULL;
CREATE INDEX entity_again ON entity (again) WHERE again = 1;

CREATE TABLE mention (
    id          INTEGER PRIMARY KEY,      -- from the edge counter: grows in writing order
    memory_id   INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
    asserted_id INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
    spelling    TEXT NOT NULL,
    UNIQUE (memory_id, asserted_id, spelling)
);
CREATE INDEX mention_asserted ON mention (asserted_id, memory_id);

CREATE TABLE fact (
    id          INTEGER PRIMARY KEY,      -- from the same counter
    memory_id   INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
    subject_id  INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
    predicate   TEXT NOT NULL,
    object_id   INTEGER REFERENCES entity(id) ON DELETE CASCADE,
    literal     TEXT,
    confidence  REAL NOT NULL DEFAULT 1.0,
    source_tag  TEXT,
    attributes  TEXT,                     -- what the source said beside, as JSON
    CHECK ((object_id IS NULL) <> (literal IS NULL))
);
CREATE UNIQUE INDEX fact_once ON fact (memory_id, subject_id, predicate, coalesce(object_id, 0), coalesce(literal, ''));
CREATE INDEX fact_subject ON fact (subject_id);
CREATE INDEX fact_object ON fact (object_id) WHERE object_id IS NOT NULL;

CREATE TABLE merge (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    canonical_id   INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
    canonical_name TEXT NOT NULL,
    absorbed_id    INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
    absorbed_name  TEXT NOT NULL,
    absorbed_type  TEXT,
    decided_by     TEXT NOT NULL CHECK (decided_by IN ('rule', 'human', 'model', 'import')),
    rule           TEXT NOT NULL,
    score          REAL NOT NULL,
    reason         TEXT NOT NULL,
    actor          TEXT,
    model          TEXT,
    conflict_id    INTEGER,
    run_id         INTEGER,
    asked_absorbed  INTEGER NOT NULL,  -- the rows the fold was asked for through, before both
    asked_canonical INTEGER NOT NULL,  -- sides were followed to their roots
    overruled      TEXT NOT NULL DEFAULT '[]',  -- JSON list of decision ids
    edge_mark      INTEGER NOT NULL,
    moved          INTEGER NOT NULL DEFAULT 0,
    silenced       INTEGER NOT NULL DEFAULT 0,
    created_at     TEXT NOT NULL,
    reverted_at    TEXT
);
CREATE UNIQUE INDEX merge_live ON merge (absorbed_id) WHERE reverted_at IS NULL;
CREATE INDEX merge_canonical ON merge (canonical_id, reverted_at);
CREATE INDEX merge_absorbed ON merge (absorbed_id);
CREATE INDEX merge_asked_absorbed ON merge (asked_absorbed) WHERE reverted_at IS NULL;
CREATE INDEX merge_asked_canonical ON merge (asked_canonical) WHERE reverted_at IS NULL;

-- The receipt of a fold, edge by edge.
CREATE TABLE merge_edge (
    merge_id INTEGER NOT NULL REFERENCES merge(id) ON DELETE CASCADE,
    edge_id  INTEGER NOT NULL,
    effect   TEXT NOT NULL CHECK (effect IN ('moved', 'silenced')),
    PRIMARY KEY (merge_id, edge_id, effect)
) WITHOUT ROWID;

-- Names shown: the latest row of a root that is still in its cluster.
CREATE TABLE renaming (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    root_id    INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
    shown_id   INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
    actor      TEXT,
    created_at TEXT NOT NULL
);
CREATE INDEX renaming_root ON renaming (root_id, id);
CREATE INDEX renaming_shown ON renaming (shown_id);

CREATE TABLE decision (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    left_key    TEXT NOT NULL,
    left_sense  INTEGER NOT NULL,
    left_name   TEXT NOT NULL,
    right_key   TEXT NOT NULL,
    right_sense INTEGER NOT NULL,
    right_name  TEXT NOT NULL,
    decided_by  TEXT NOT NULL,
    actor       TEXT,
    why         TEXT NOT NULL,
    created_at  TEXT NOT NULL,
    undone_at   TEXT,
    undone_by   TEXT
);
CREATE INDEX decision_left ON decision (left_key, left_sense) WHERE undone_at IS NULL;
CREATE INDEX decision_right ON decision (right_key, right_sense) WHERE undone_at IS NULL;

CREATE TABLE conflict (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    kind         TEXT NOT NULL CHECK (kind IN ('entity', 'memory', 'name')),
    queued_id    INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
    candidate_id INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
    asked_by     TEXT NOT NULL,
    rule         TEXT NOT NULL,
    score        REAL NOT NULL,
    reason       TEXT NOT NULL,
    impact       INTEGER NOT NULL,
    created_at   TEXT NOT NULL,
    answer       TEXT,
    answered_by  TEXT,
    merge_id     INTEGER,
    decision_id  INTEGER,
    decided_at   TEXT
);
CREATE UNIQUE INDEX conflict_pending ON conflict (min(queued_id, candidate_id), max(queued_id, candidate_id))
    WHERE answer IS NULL AND kind = 'entity';
CREATE INDEX conflict_open ON conflict (id) WHERE answer IS NULL;
CREATE INDEX conflict_decided ON conflict (decided_at, id) WHERE answer IS NOT NULL;
CREATE INDEX conflict_decision ON conflict (decision_id) WHERE decision_id IS NOT NULL;
CREATE INDEX conflict_queued ON conflict (queued_id);
CREATE INDEX conflict_candidate ON conflict (candidate_id);

-- Every pair of rows that a rule asks about. Pairs depend on the names alone, so this table is
-- written when names are examined and never touched by folds; what is left to ask is open_pair.
CREATE TABLE suggestion (
    left_id  INTEGER NOT NULL,                -- of rows there are: see suggestion_goes_with_its_row;
    right_id INTEGER NOT NULL,                -- foreign keys took half the time of a million pairs
    rule     TEXT NOT NULL,
    score    REAL NOT NULL,
    PRIMARY KEY (left_id, right_id),
    CHECK (left_id < right_id)
) WITHOUT ROWID;
CREATE INDEX suggestion_right ON suggestion (right_id);

-- What is left to ask: one row for each pair of roots that some suggestion leads to and that is
-- neither queued nor settled apart, with the best such suggestion and the weaker root's mentions.
-- Derived, so that a pass over few names need not go through all: it holds but for the pairs that
-- touch a row of unsettled or of a new mention, or its root: these are worked out anew when asked for.
CREATE TABLE open_pair (
    low      INTEGER NOT NULL,
    high     INTEGER NOT NULL,
    weight   INTEGER NOT NULL,
    score    REAL NOT NULL,
    left_id  INTEGER NOT NULL,
    right_id INTEGER NOT NULL,
    rule     TEXT NOT NULL,
    PRIMARY KEY (low, high)
) WITHOUT ROWID;
CREATE INDEX open_pair_high ON open_pair (high);
CREATE INDEX open_pair_rank ON open_pair (weight DESC, score DESC, low, high);

CREATE TABLE unsettled (
    entity_id INTEGER PRIMARY KEY             -- may be gone
);

-- Triggers mark, so that no writer can forget. Where nothing is suggested there is nothing to settle:
-- a first import and a first pass are spared the marks. New mentions need none: their ids grow, and
-- 'settled' in meta holds the last one seen. A trigger made adding them cost half as much again.
CREATE TRIGGER unsettled_by_fold AFTER UPDATE OF canonical_id ON entity
WHEN old.canonical_id <> new.canonical_id AND EXISTS (SELECT 1 FROM suggestion)
BEGIN
    INSERT INTO unsettled VALUES (old.canonical_id), (new.id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER suggestion_goes_with_its_row AFTER DELETE ON entity
BEGIN
    DELETE FROM suggestion WHERE left_id = old.id;
    DELETE FROM suggestion WHERE right_id = old.id;
END;
-- Without a condition: the row's suggestions may be gone before the trigger runs.
CREATE TRIGGER unsettled_by_deletion AFTER DELETE ON entity
BEGIN
    INSERT INTO unsettled VALUES (old.canonical_id), (old.id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unsettled_by_lost_mention AFTER DELETE ON mention
WHEN EXISTS (SELECT 1 FROM suggestion)
BEGIN
    INSERT INTO unsettled VALUES (old.asserted_id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unsettled_by_stale_memory AFTER INSERT ON stale
WHEN EXISTS (SELECT 1 FROM suggestion)
BEGIN
    INSERT INTO unsettled SELECT asserted_id FROM mention WHERE memory_id = new.memory_id
    ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unsettled_by_active_memory AFTER DELETE ON stale
WHEN EXISTS (SELECT 1 FROM suggestion)
BEGIN
    INSERT INTO unsettled SELECT asserted_id FROM mention WHERE memory_id = old.memory_id
    ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unsettled_by_decision AFTER INSERT ON decision
WHEN EXISTS (SELECT 1 FROM suggestion)
BEGIN
    INSERT INTO unsettled SELECT id FROM entity WHERE key = new.left_key AND sense = new.left_sense
    ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unsettled_by_undone_decision AFTER UPDATE OF undone_at ON decision
WHEN EXISTS (SELECT 1 FROM suggestion)
BEGIN
    INSERT INTO unsettled SELECT id FROM entity WHERE key = new.left_key AND sense = new.left_sense
    ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unsettled_by_question AFTER INSERT ON conflict
WHEN EXISTS (SELECT 1 FROM suggestion)
BEGIN
    INSERT INTO unsettled VALUES (new.queued_id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unsettled_by_answer AFTER UPDATE OF answer ON conflict
WHEN EXISTS (SELECT 1 FROM suggestion)
BEGIN
    INSERT INTO unsettled VALUES (new.queued_id) ON CONFLICT DO NOTHING;
END;

-- Hashed keys of names (64 bits, signed). A full pass writes them all, sorted, as pages of pairs:
-- fifteen million rows would take a minute. What has come since stands beside, a row a key.
CREATE TABLE name_page (
    page      INTEGER PRIMARY KEY,
    first_key INTEGER NOT NULL,
    pairs     BLOB NOT NULL               -- the keys, then the entity ids, each 8 bytes, little endian
);
CREATE INDEX name_page_key ON name_page (first_key, page);

CREATE TABLE name_index (
    key       INTEGER NOT NULL,
    entity_id INTEGER NOT NULL,
    PRIMARY KEY (key, entity_id)
) WITHOUT ROWID;

-- The words of names, for a person's search: in Latin letters without marks; written with their rows.
-- A row is found by its words, words by their beginning or by three letters in a row.
CREATE TABLE word (
    id   INTEGER PRIMARY KEY,
    word TEXT NOT NULL UNIQUE
);
CREATE VIRTUAL TABLE word_part USING fts5 (
    word, content = 'word', content_rowid = 'id', tokenize = 'trigram', detail = none, columnsize = 0
);

-- Shortest names first, so that whoever reads a few of a common word's rows reads the nearest.
CREATE TABLE word_of (
    word_id   INTEGER NOT NULL,
    letters   INTEGER NOT NULL,           -- of the whole name
    entity_id INTEGER NOT NULL,
    PRIMARY KEY (word_id, letters, entity_id)
) WITHOUT ROWID;

CREATE TABLE run (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    kind       TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at   TEXT,
    report     TEXT NOT NULL DEFAULT '{}',
    backup     TEXT,
    error      TEXT
);

CREATE TABLE set_aside (
    run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    source TEXT NOT NULL,
    line   INTEGER NOT NULL,
    reason TEXT NOT NULL,
    text   TEXT NOT NULL
);
CREATE INDEX set_aside_run ON set_aside (run_id);

-- One row a setting: the frozen context, the edge counter, the last mention that open_pair counts,
-- the versions of names and rules.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
-- edge: the last id of a mention or fact; settled, examined, indexed: the last mention whose weight is
-- in open_pair, the last row of a pass, the last row in name_index; words: the version that made them.
INSERT INTO meta VALUES
    ('edge', '0'), ('settled', '0'), ('examined', '0'), ('indexed', '0'), ('words', '');

-- Where each mention ends now, and which count: of one memory's mentions with one end the lowest id.
CREATE VIEW mention_counted AS
SELECT min(m.id) AS id, m.memory_id, e.canonical_id AS entity_id
FROM mention m
JOIN entity e ON e.id = m.asserted_id
WHERE NOT EXISTS (SELECT 1 FROM stale x WHERE x.memory_id = m.memory_id)
GROUP BY m.memory_id, e.canonical_id;

-- The same of facts. A fact of a thing with itself never counts. Facts between entities stand apart
-- from those with a literal, so that either end is found by its index.
CREATE VIEW link_counted AS
SELECT min(f.id) AS id, f.memory_id, s.canonical_id AS subject_id, f.predicate,
       o.canonical_id AS object_id, max(f.confidence) AS confidence
FROM fact f
JOIN entity s ON s.id = f.subject_id
JOIN entity o ON o.id = f.object_id
WHERE s.canonical_id <> o.canonical_id
  AND NOT EXISTS (SELECT 1 FROM stale x WHERE x.memory_id = f.memory_id)
GROUP BY f.memory_id, s.canonical_id, f.predicate, o.canonical_id;

CREATE VIEW literal_counted AS
SELECT min(f.id) AS id, f.memory_id, s.canonical_id AS subject_id, f.predicate, f.literal,
       max(f.confidence) AS confidence
FROM fact f
JOIN entity s ON s.id = f.subject_id
WHERE f.literal IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM stale x WHERE x.memory_id = f.memory_id)
GROUP BY f.memory_id, s.canonical_id, f.predicate, f.literal;

-- What each entity is called: its latest rename that is still in its cluster, else its own spelling.
CREATE VIEW shown AS
SELECT e.id AS root_id, coalesce(
    (SELECT s.spelling FROM renaming r JOIN entity s ON s.id = r.shown_id
     WHERE r.root_id = e.id AND s.canonical_id = e.id ORDER BY r.id DESC LIMIT 1),
    e.spelling) AS name
FROM entity e
WHERE e.folded_into IS NULL;

-- Pairs of entities that a live decision keeps apart, both ways round.
CREATE VIEW apart AS
SELECT d.id AS decision_id, l.canonical_id AS left_id, r.canonical_id AS right_id
FROM decision d
JOIN entity l ON l.key = d.left_key AND l.sense = d.left_sense
JOIN entity r ON r.key = d.right_key AND r.sense = d.right_sense
WHERE d.undone_at IS NULL AND l.canonical_id <> r.canonical_id
UNION ALL
SELECT d.id, r.canonical_id, l.canonical_id
FROM decision d
JOIN entity l ON l.key = d.left_key AND l.sense = d.left_sense
JOIN entity r ON r.key = d.right_key AND r.sense = d.right_sense
WHERE d.undone_at IS NULL AND l.canonical_id <> r.canonical_id;
