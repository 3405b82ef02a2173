# Every entry sets up .venv by itself. `make` alone lists them.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash
BIN := .venv/bin
READY := .venv/.ready
COMPILED := .venv/compiled/.made
PYTEST := $(BIN)/pytest -n auto --dist worksteal
# Half of the time a test waits, for a process, a page or the end of a time limit: two of them for each core.
WORKERS := $(shell echo $$((2 * $$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN))))
# Tests start hundreds of interpreters: each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test tests thorough check lint types fmt browser bench corpus fuzz attack docs clients compiled wheel

help: ## list these entries
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(or $(wildcard $(READY)),.venv/.demo) ## see the gate at work: an agent in a scratch folder, and you answer (ARGS='--answer script', …)
	@$(BIN)/assent demo $(ARGS)

test: lint ## everything that must hold: lint, types, all tests but those of `make clients`
	@$(MAKE) --no-print-directory -j2 types tests

tests: $(READY)
	$(PYTEST) -n $(WORKERS) --ignore=tests/clients --ignore=tests/compiled $(ARGS)

thorough: ## the same, whole: eight times as many generated examples, all combinations of clients and cases
	$(MAKE) test ARGS='--hypothesis-profile thorough $(ARGS)'

check: lint types ## in under a minute: lint, types, imports, unit tests but the slow ones, corpus
	$(PYTEST) -m "not slow" tests/unit tests/test_architecture.py tests/test_public_api.py tests/test_docs.py tests/test_corpus.py

lint: $(READY)
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

fmt: $(READY) ## format the code and sort its imports
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

browser: $(READY) ## the page in a real Chromium against a real server (SCREENSHOTS=DIR keeps pictures)
	$(BIN)/pytest tests/browser

bench: .venv/.bench $(COMPILED) ## how fast it is, beside other gates: writes docs/benchmarks.md, ten minutes (ARGS=--quick: tries it)
	PYTHONPATH=$(CURDIR)/$(dir $(COMPILED)) $(BIN)/python -m bench $(ARGS)

compiled: $(COMPILED) ## the tests of the decision path, against its compiled modules
	PYTHONPATH=$(CURDIR)/$(dir $(COMPILED)) $(PYTEST) $(addprefix tests/,compiled test_corpus.py unit/contract unit/effects unit/facts unit/policy git properties)

wheel: $(READY) ## a wheel with the decision path compiled, in dist/
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .

corpus: $(READY) ## which verdicts changed against the last commit (BASE=REV: against another)
	@$(BIN)/python -m scripts.corpus $(or $(BASE),HEAD)

fuzz: $(READY) ## hide a payload in random shell text, compare with what bash runs (N=200000 texts, SEED=…)
	$(BIN)/python -m tests.fuzz -n $(or $(N),200000) $(if $(SEED),--seed $(SEED)) $(ARGS)

attack: $(READY) ## run what the tables call read-only among hostile files and variables (needs bubblewrap; ARGS='git rg': only these)
	$(BIN)/python -m tests.attack $(ARGS)

clients: $(READY) ## the real agent programs, offline, one after the other (installs 2.1 GB once; needs npm and root)
	$(BIN)/python -m tests.clients.programs
	$(BIN)/pytest tests/clients $(ARGS)

docs: $(READY) ## write the tables that the code knows into docs/, and check the rest
	$(BIN)/python -m scripts.docs
	$(BIN)/python -m scripts.picture
	$(BIN)/pytest tests/test_docs.py

# What the demo needs is little; whoever has the rest needs nothing more.
.venv/.demo: pyproject.toml scripts/venv.sh
	@scripts/venv.sh server
	@touch $@

$(READY): pyproject.toml scripts/venv.sh hatch_build.py $(wildcard src/assent/*/*.[ch])
	@scripts/venv.sh

$(COMPILED): $(READY) scripts/compiled.py $(shell find src -name '*.py')
	$(BIN)/python -m scripts.compiled $(dir $@)
	@touch $@

# The other gates to measure against. Where they cannot be had, the bench goes without them.
.venv/.bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]' || echo "going without the other gates"
	npm install --silent --no-save --prefix .venv/peers cc-safety-net || echo "going without cc-safety-net"
	npm install --silent --no-save --prefix .venv/peers/sandbox @anthropic-ai/sandbox-runtime || echo "going without sandbox-runtime"
	@touch $@
