# One entry for everything. `make` alone prints this help.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := development

# Some tests need PgBouncer, libfaketime or curl, which no Python package carries. Root fetches them; without, those
# tests are skipped. RUNLEVEL keeps Debian from starting PgBouncer as a service.
HAS_TOOLS := test -n "$$(PATH=$$PATH:/usr/sbin command -v pgbouncer)" && test -n "$$(command -v faketime)" \
	&& test -n "$$(command -v curl)"
INSTALL_TOOLS := timeout 120 sh -c "apt-get update -qq \
	&& RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends pgbouncer faketime curl"

.PHONY: help up test test-all check sim judge sim-exam bench campaign fuzz siege api-kills power-cuts docs docs-picture dist workflows lock clean tools runtime development

help: ## Show this help.
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

up: runtime ## Set up and run Gnomon on its embedded default, with sample jobs to watch. Ctrl-C drains and ends.
	@mkdir -p .gnomon
	@GNOMON_DATA_FOLDER=.gnomon $(BIN)/gnomon up --demo

# Tests write a lot, and none of it outlives them: in memory, where there is room for it.
SCRATCH := $(shell test -w /dev/shm && test "$$(df --output=avail -k /dev/shm | tail -1)" -gt 4000000 && echo /dev/shm)

# Each process has a share of the tests and PostgreSQL servers of its own. One more than there are cores, since many
# tests wait: for a lease to run out, for a process to start. CORES=0 runs all of them in one process.
ON_CORES := --numprocesses $(if $(CORES),$(CORES),$(shell echo $$(($$(nproc) + 1)))) --maxprocesses 4 --dist worksteal

PYTEST = TMPDIR=$(or $(SCRATCH),$(TMPDIR),/tmp) $(BIN)/python -m pytest $(ON_CORES)

test: check tools ## Set up, check and test, on SQLite and on a real PostgreSQL [CORES=0].
	$(PYTEST) -m "not thorough"

test-all: check tools ## As test, with the thorough part (docs/internals/tests.md), in about twice the time [CORES=0].
	$(PYTEST)

tools:
	@$(HAS_TOOLS) || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && $(INSTALL_TOOLS); } >/dev/null 2>&1 \
		|| echo "PgBouncer, faketime or curl is missing here; the tests that need it will be skipped." >&2

check: $(READY) ## Format, lint, types and layers: what needs no running.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# SIM and JUDGE take any other option: make sim SIM=--help, make judge JUDGE=--help.
sim: $(READY) ## Simulate under faults, with fresh seeds: make sim [SEEDS=100] [HOURS=0.5] [PROFILE=swarm] [SEED=1]. One world again: make sim REPLAY=seed|file [UNTIL=seconds] [TRACE=1].
	@$(BIN)/python -m proof.simulator --seeds $(or $(SEEDS),100) --hours $(or $(HOURS),0.5) --profile $(or $(PROFILE),swarm) \
		$(if $(SEED),--seed $(SEED)) $(if $(REPLAY),--replay $(REPLAY)) $(if $(UNTIL),--until $(UNTIL)) $(if $(TRACE),--trace) $(SIM)

judge: $(READY) ## Judge a history of events, files or folders: make judge HISTORY=folder [SVG=folder] [COVERAGE=0] [WITHOUT="DST gap"] [OUTPUT=json].
	@$(BIN)/python -m proof.checker $(HISTORY) $(if $(SVG),--svg $(SVG)) $(if $(COVERAGE),--coverage $(COVERAGE)) \
		$(if $(WITHOUT),--without "$(WITHOUT)") $(if $(OUTPUT),--output $(OUTPUT)) $(JUDGE)

sim-exam: $(READY) ## Plant bugs into copies of the product; each must be caught: make sim-exam [SEEDS=200] [SEED=1] [JOBS=2] [ONLY=word].
	@$(BIN)/python -m proof.exam --seeds $(or $(SEEDS),200) --seed $(or $(SEED),1) $(if $(JOBS),--jobs $(JOBS)) \
		$(if $(ONLY),--only $(ONLY))

bench: $(READY) ## Run a benchmark: make bench BENCH=api|cron|dag|store|drain|remote-drain|latency|fire|idle|checker|newcomer [JSON=1] [AGAINST=commit TURNS=3].
	@$(BIN)/python -m benchmarks $(BENCH) $(if $(JSON),--json) $(if $(AGAINST),--against $(AGAINST)) $(if $(TURNS),--turns $(TURNS))

MINUTES ?= 5
campaign: $(READY) tools ## Break a real cluster on purpose and judge it: make campaign MINUTES=5 [SEED=7] [REPORT=folder].
	@TMPDIR=$(or $(SCRATCH),$(TMPDIR),/tmp) $(BIN)/python -m proof.campaign --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) \
		$(if $(REPORT),--report $(REPORT)) $(CAMPAIGN)

fuzz: $(READY) ## Fuzz the whole API from its own description: make fuzz MINUTES=5 [SEED=7].
	@TMPDIR=$(or $(SCRATCH),$(TMPDIR),/tmp) $(BIN)/python -m tests.fuzz --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

siege: $(READY) ## Besiege a node with silent, slow and idle connections and streams: make siege MINUTES=10 [SEED=7].
	@TMPDIR=$(or $(SCRATCH),$(TMPDIR),/tmp) $(BIN)/python -m tests.siege --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

ROUNDS ?= 100
api-kills: $(READY) ## Kill API nodes or PostgreSQL under POSTs, ROUNDS=100 times, half of them on each store [SEED=7].
	@TMPDIR=$(or $(SCRATCH),$(TMPDIR),/tmp) $(BIN)/python -m tests.kills --rounds $(ROUNDS) $(if $(SEED),--seed $(SEED))

CUTS ?= 200
power-cuts: $(READY) ## Cut the power under an SQLite file, CUTS=200 times.
	@TMPDIR=$(or $(SCRATCH),$(TMPDIR),/tmp) $(BIN)/python -m proof.campaign.power --cuts $(CUTS) $(if $(SEED),--seed $(SEED))

docs: $(READY) ## Check the documentation: links, headings, code blocks.
	$(BIN)/python -m pytest tests/house -q -k docs

docs-picture: $(READY) ## Draw the picture of the README anew: the live view of the demo, after half a minute.
	@$(BIN)/python docs/picture.py

COMPILE := uv pip compile --universal --python-version 3.11 --generate-hashes --no-header -q

LINTERS := .venv-workflows
ACTIONLINT := $(LINTERS)/bin/actionlint
workflows: $(READY) ## Check the workflows of GitHub with zizmor, and with actionlint where that can be fetched.
	@$(PYTHON) requirements/install.py workflows --into $(LINTERS)
	$(LINTERS)/bin/zizmor --offline --persona pedantic .github
	@test -x $(ACTIONLINT) || { echo "Fetching actionlint. Its package is at the index, the program itself at GitHub." && \
		$(BIN)/python -m pip --python $(LINTERS)/bin/python install --quiet --require-hashes \
			--requirement requirements/actionlint.txt > $(LINTERS)/actionlint.log 2>&1; } || true
	@if test -x $(ACTIONLINT); then $(ACTIONLINT) -verbose; \
		else echo "actionlint cannot be fetched from here; see $(LINTERS)/actionlint.log. CI has it." >&2; test -z "$$CI"; fi

# The same commit gives the same bytes, wherever and whenever it is built.
dist: $(READY) ## Build sdist and wheel into dist/, byte for byte the same for the same commit.
	rm -rf dist
	SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} $(BIN)/python -m hatchling build -d dist -t sdist -t wheel
	@cd dist && sha256sum *

lock: ## Pin the requirement files anew, with hashes and without a registry host (needs uv).
	$(COMPILE) pyproject.toml -o requirements/runtime.txt
	$(COMPILE) pyproject.toml --group dev -c requirements/runtime.txt -o requirements/dev.txt
	$(COMPILE) --group build -c requirements/dev.txt -o requirements/build.txt
	$(COMPILE) --group workflows -o requirements/workflows.txt
	$(COMPILE) --group actionlint -o requirements/actionlint.txt

clean: ## Remove what the other verbs made.
	rm -rf $(VENV) $(LINTERS) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# What the verbs above run in. A PYTHON that was chosen replaces an environment of another one.
runtime development:
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON). Gnomon needs Python 3.11 or newer; set PYTHON=... to choose one." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Gnomon needs Python 3.11 or newer; set PYTHON=... to choose one.")'
	@$(PYTHON) requirements/install.py $@ --into $(VENV) $(if $(filter file,$(origin PYTHON)),,--only-this-python)
