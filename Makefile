# Every target sets up what it needs, in .venv, from the hashed locks in requirements/.
# Written for GNU make 3.81 and later, and any POSIX shell.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
DEMO ?= examples/dmetrics/memory.jsonl
UV ?= uv

unexport PYTHONPATH
unexport PYTHONHOME

.PHONY: help demo test check bench suites docs lock clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.run ## scan a real graph, then settle it in a throw-away directory
	@set -e; \
	enfold="$(CURDIR)/$(BIN)/enfold"; \
	run() { printf '\n$$ enfold %s\n' "$$*"; "$$enfold" "$$@"; }; \
	work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; trap 'exit 130' INT TERM; \
	run scan $(DEMO); \
	cp $(DEMO) "$$work/memory.jsonl"; cd "$$work"; \
	run import memory.jsonl; \
	run resolve --dry-run; \
	run resolve; \
	run conflicts; \
	run merges

# What works on a graph works on one in PostgreSQL: the tests that open graphs run there as well.
ON_POSTGRESQL = beliefs cards check conflicts folds gate guard homonyms indexing intake lookup recall \
  related remember resolve review sealed search senses store suggestions terms

test: check ## check, then the whole suite with coverage, then on PostgreSQL what opens graphs
	$(BIN)/pytest -n auto --dist worksteal --cov
	$(BIN)/pytest -n auto --dist worksteal --postgresql start $(ON_POSTGRESQL:%=tests/test_%.py)

check: $(VENV)/.dev ## lint, format, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.run ## measure; ARGS="..." is handed on
	$(BIN)/python bench/run.py $(ARGS)

suites: $(VENV)/.dev ## make the tables in docs/explanation/accuracy.md anew; SETS="FOLDER ..."
	$(BIN)/python tests/test_suites.py --write $(SETS)

docs: $(VENV)/.dev ## build the documentation into site/
	$(BIN)/zensical build --clean --strict

lock: ## remake requirements/ from pyproject.toml (needs uv)
	$(UV) pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
	  --upgrade --quiet --no-annotate --custom-compile-command 'make lock' \
	  --output-file requirements/run.txt
	$(UV) pip compile pyproject.toml --group dev --constraints requirements/run.txt \
	  --universal --python-version 3.11 --generate-hashes \
	  --upgrade --quiet --no-annotate --custom-compile-command 'make lock' \
	  --output-file requirements/dev.txt

clean: ## remove .venv and everything that was built
	rm -rf $(VENV) site build dist .cache .coverage .coverage.* htmlcov
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# A link whose Python is gone counts as missing, so a Python upgrade makes a new environment.
$(BIN)/python:
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
	  echo "enfold needs Python 3.11 or newer, and '$(PYTHON)' is not on the PATH." >&2; \
	  echo "Install it, or name one: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "enfold needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1)." >&2; \
	  echo "Name another: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' can't make virtual environments: its venv or ensurepip module is missing." >&2; \
	  echo "On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.run: $(BIN)/python requirements/run.txt pyproject.toml
	$(PIP) install --require-hashes --requirement requirements/run.txt
	$(PIP) install --no-deps --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt
	$(PIP) install --require-hashes --requirement requirements/dev.txt
	@touch $@
