# Two commands matter: `make run` and `make test`. Each sets up what it needs; a second call sets up nothing.
# `make` alone prints this list.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.SUFFIXES:
.NOTPARALLEL:

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet
RUNTIME := $(VENV)/.runtime-ready
TOOLS := $(VENV)/.tools-ready
PEERS := $(VENV)/.peers-ready
# With hashes, for every Python we run on, and without the address of the package index they came from.
LOCK := ../$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url
NPM := contracts/node_modules/.ready
BROWSER := backend/tests/browser/node_modules/.ready
NPM_INSTALL := PATH="$$PATH:$(CURDIR)/$(BIN)" npm install --silent --no-package-lock --ignore-scripts --no-audit --no-fund

##@ Use

run: $(RUNTIME) $(NPM) ## Run Glisk: what is not set in .env is embedded
	@$(BIN)/glisk up

migrate: $(RUNTIME) ## Bring the database's schema up to date
	@$(BIN)/glisk migrate

downgrade: $(RUNTIME) ## Take the schema one revision back (TO=001 or TO=base for further)
	@$(BIN)/glisk migrate down --yes $(if $(TO),--to $(TO))

clean: $(RUNTIME) ## Wipe the data directory (FORCE=1 when real services were paid for what is in it)
	@$(BIN)/glisk clean --yes $(if $(FORCE),--force)

##@ Develop

test: $(TOOLS) $(NPM) $(BROWSER) ## Run every test (T=tests/unit for some of them)
	@cd backend && ../$(BIN)/python -m pytest $(T)

check: $(TOOLS) ## Lint, types, imports
	@cd backend && ../$(BIN)/ruff check . && ../$(BIN)/ruff format --check .
	@cd backend && ../$(BIN)/mypy
	@cd backend && ../$(BIN)/lint-imports

format: $(TOOLS) ## Put the code into shape
	@cd backend && ../$(BIN)/ruff check --fix-only . && ../$(BIN)/ruff format .

prove: $(TOOLS) $(NPM) $(BROWSER) ## Run the fault and property tests with large counts and new cases (long)
	@cd backend && PROVE=1 ../$(BIN)/python -m pytest -m "faults or hypothesis" $(T)

bench: $(PEERS) ## Measure beside the peers (ONLY=engine for one part); results in backend/benchmarks/results
	@cd backend && ../$(BIN)/python -m benchmarks $(ONLY)

contracts: $(TOOLS) $(NPM) ## Rebuild the contract and compare with the committed artifact (WRITE=1 writes it)
	@cd contracts && PATH="$(CURDIR)/$(BIN):$$PATH" node build.mjs $(if $(WRITE),,--check)

docs: $(RUNTIME) ## Write the pages that are made from the code
	@$(BIN)/glisk config docs .

screens: $(TOOLS) $(BROWSER) ## Take the pictures of docs/screens from a Glisk that runs (URL=http://127.0.0.1:8000)
	@cd backend && ../$(BIN)/python -m tests.browser.screenshots $(URL)

lock: $(TOOLS) ## Lock the newest dependencies that pyproject.toml allows
	@cd backend && $(LOCK) pyproject.toml --group build --output-file requirements.txt
	@cd backend && $(LOCK) --group dev --constraints requirements.txt --output-file requirements-dev.txt
	@cd backend && $(LOCK) --group bench --constraints requirements.txt --output-file requirements-bench.txt
	@cd backend && $(LOCK) --group node --output-file requirements-node.txt

help:
	@awk 'BEGIN { FS = ":.*## " } /^##@/ { printf "\n%s\n", substr($$0, 5) } /^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run migrate downgrade clean test check format prove bench contracts docs screens lock help

# Set-up. A stamp is newer than what it was made from, so nothing is installed twice. The environment knows where it
# lies: after a move it is made anew.

ifneq ($(shell cat $(VENV)/.made 2>/dev/null),$(CURDIR))
  $(shell rm -f $(VENV)/.made $(RUNTIME) $(TOOLS) $(PEERS))
endif

$(VENV)/.made:
	@set -e; for python in python3.13 python3.12 python3.11 python3 python; do \
	  if $$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then \
	    echo "Making $(VENV) with $$($$python --version)"; \
	    $$python -m venv --clear $(VENV) || { echo "No virtual environment could be made: on Debian and Ubuntu, apt install python3-venv" >&2; exit 1; }; \
	    echo "$(CURDIR)" > $@; exit 0; \
	  fi; \
	done; echo "Glisk needs Python 3.11, 3.12 or 3.13: install one and try again" >&2; exit 1

$(RUNTIME): $(VENV)/.made backend/requirements.txt backend/pyproject.toml
	@echo "Installing what Glisk runs on (once, about half a minute)"
	@$(PIP) install --require-hashes --only-binary :all: -r backend/requirements.txt
	@$(PIP) install --no-deps --no-build-isolation --editable backend
	@touch $@

$(TOOLS): $(RUNTIME) backend/requirements-dev.txt
	@echo "Installing what its developers use (once)"
	@$(PIP) install --require-hashes --only-binary :all: -r backend/requirements-dev.txt
	@touch $@

$(PEERS): $(TOOLS) backend/requirements-bench.txt
	@echo "Installing the peers to measure beside (once)"
	@$(PIP) install --no-deps --require-hashes --only-binary :all: -r backend/requirements-bench.txt # all are named; pip would look for an extra anew
	@touch $@

$(NPM): $(VENV)/.made contracts/package.json
	@command -v npm >/dev/null || { echo "No npm here: installing one into $(VENV)"; $(PIP) install --require-hashes -r backend/requirements-node.txt; }
	@echo "Installing the dev chain, the contract compiler and what the tests compare with (once)"
	@cd contracts && $(NPM_INSTALL)
	@touch $@

$(BROWSER): $(NPM) backend/tests/browser/package.json backend/tests/browser/unpack.mjs
	@echo "Installing the browser that looks at the pages (once)"
	@cd backend/tests/browser && $(NPM_INSTALL) && PATH="$$PATH:$(CURDIR)/$(BIN)" node unpack.mjs
	@touch $@
