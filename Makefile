# Everything is run from the checkout: `make demo` shows it, `make smoke` proves it, `make test` tests it.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
DEMO_STAMP := $(VENV)/.installed-demo
TEST_STAMP := $(VENV)/.installed-test
PO := $(wildcard locale/*/LC_MESSAGES/*.po)
MO := $(PO:.po=.mo)
# The extra `bench` without the product's own packages: the peers live apart.
BENCH_ALONE = import tomllib; f = open('pyproject.toml', 'rb'); \
	print(*tomllib.load(f)['project']['optional-dependencies']['bench'], sep='\n')
UV_COMPILE = $(PY) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-annotate --no-header $(LOCK_FLAGS)

.NOTPARALLEL:
.PHONY: help venv setup setup-demo packages demo smoke test mutations lint format lock messages clean

help:
	@echo "make demo    start everything on this machine with a story, print the address and the sign-ins"
	@echo "make smoke   one ticket from a POST to COMPLETED through real processes, without a person"
	@echo "make report-story   a report whose worker dies when its file is there: one document, one message each"
	@echo "make test    install what the tests need, start real servers, run everything (ARGS=... goes to pytest)"
	@echo "make test-all  the same on Python 3.11 and 3.13 (PYTHON311=, PYTHON313= say where they are; ARGS=...)"
	@echo "make faults  crash every process at every point, check that nothing is lost or doubled (ARGS=--only C23)"
	@echo "make mutations  take each protection out in turn: a test must notice (ARGS=... names some; --check)"
	@echo "make leaks   everybody at every address and command: nobody sees what is not theirs"
	@echo "make screenshots  every page in both languages and themes into screenshots/, axe on each (OUT=..., ARGS=--only home)"
	@echo "make sbom    a bill of materials of what is locked; make audit: its known vulnerabilities, where that is known"
	@echo "make soak    MINUTES=30: steady tickets and steady faults, then a dated report (SEED=... plans the same again)"
	@echo "make cases N=20000   fill the running demo with cases in every state (ARGS=--seed 2 makes others)"
	@echo "make evaluate  labelled tickets to the rules and to the simulated model: accuracy, and what comes through"
	@echo "make kills   kill -9 of a worker, 30 times: how soon its cases move again"
	@echo "make bench   cases a second beside DBOS, Procrastinate, bare Dramatiq and pgbench (ARGS='--only ours --rounds 1')"
	@echo "make two-machines  two machines on one PostgreSQL and one Valkey, one cut off and killed under load"
	@echo "make upgrade-test  cases of an earlier state in every open state, migrated and driven on by this one"
	@echo "make restore-drill  a backup restored elsewhere sends nothing until a person resumes, then nothing twice"
	@echo "make processes  what the Procfile names, on the servers that DATABASE_URL and REDIS_URL name"
	@echo "make bench-growth   a case and every page among a million cases against ten thousand (ARGS=--only-fill)"
	@echo "make lint    ruff, import-linter, mypy"
	@echo "make lock    resolve the dependencies again (LOCK_FLAGS=--upgrade takes the newest)"
	@echo "make messages  collect the texts to translate, then compile them"
	@echo "make clean   remove the data and the environment of this checkout"

venv: $(TEST_STAMP)

QUIETLY := --quiet --disable-pip-version-check --require-hashes

# uv takes a third of pip's time; where it finds no way to the packages, pip goes its own.
define INSTALL
	@test -x $(VENV)/bin/pip || $(PYTHON) -m venv $(VENV) || { echo "On Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@echo "installing the locked dependencies (a minute or less)"
	$(PY) -m pip install $(QUIETLY) -r lock/installer.txt
	$(PY) -m uv pip install --quiet --system-certs --compile-bytecode --require-hashes -r $< || $(PY) -m pip install $(QUIETLY) -r $<
endef

# A stamp is touched last: an interrupted installation is begun again, a finished one only when its lock changes.
$(DEMO_STAMP): lock/demo.txt
	$(INSTALL)
	touch $@

# What the tests need holds what the demo needs, in the same versions.
$(TEST_STAMP): lock/test.txt
	$(INSTALL)
	touch $(DEMO_STAMP) $@

setup: $(TEST_STAMP) $(MO)

setup-demo: $(DEMO_STAMP) $(MO)

%.mo: %.po | $(DEMO_STAMP)
	$(PY) -m babel.messages.frontend compile --statistics --input-file $< --output-file $@

packages:
	sh stand/install_packages.sh

demo: setup-demo
	$(PY) -m stand.demo $(ARGS)

smoke: setup-demo
	$(PY) -m stand.smoke $(ARGS)

.PHONY: report-story
report-story: setup-demo
	$(PY) -m stand.report_story $(ARGS)

test: setup packages
	$(PY) -m stand.testrun $(ARGS)

# The oldest Python that is supported and the newest that is tested, each in an environment of its own from the same lock.
.PHONY: test-all
PYTHON311 ?= python3.11
PYTHON313 ?= python3.13

test-all:
	@$(PYTHON311) -c "" 2>/dev/null || { echo "No $(PYTHON311) here; name one: make test-all PYTHON311=/path/to/python3.11"; exit 1; }
	@$(PYTHON313) -c "" 2>/dev/null || { echo "No $(PYTHON313) here; name one: make test-all PYTHON313=/path/to/python3.13"; exit 1; }
	$(MAKE) test PYTHON=$(PYTHON311) VENV=.venv-3.11
	$(MAKE) test PYTHON=$(PYTHON313) VENV=.venv-3.13

.PHONY: faults
faults: setup packages
	$(PY) -m stand.faults $(ARGS)

mutations: setup packages
	$(PY) -m stand.mutations $(ARGS)

.PHONY: cases
N ?= 20000

cases: setup-demo
	$(PY) -m stand.cases --cases $(N) $(ARGS)

.PHONY: evaluate
evaluate: setup-demo
	$(PY) -m stand.evaluate $(ARGS)

.PHONY: sbom audit
sbom: setup
	$(PY) -m stand.supply bill

audit: setup
	$(PY) -m stand.supply audit

.PHONY: leaks
leaks: setup
	$(PY) -m stand.leaks $(ARGS)

.PHONY: screenshots
screenshots: setup packages
	$(PY) -m stand.screenshots $(if $(OUT),--out $(OUT)) $(ARGS)

.PHONY: soak kills
MINUTES ?= 30

soak: setup
	$(PY) -m stand.soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(ARGS)

kills: setup
	$(PY) -m stand.kills $(ARGS)

# The peers' own environment: their versions are no business of the product's.
BENCH_VENV := .venv-bench
$(BENCH_VENV)/.installed: lock/bench.txt $(TEST_STAMP)
	test -x $(BENCH_VENV)/bin/python || $(PYTHON) -m venv $(BENCH_VENV)
	VIRTUAL_ENV=$(BENCH_VENV) $(PY) -m uv pip install --quiet --system-certs --compile-bytecode --require-hashes \
		--python $(BENCH_VENV)/bin/python -r $< || $(BENCH_VENV)/bin/python -m pip install $(QUIETLY) -r $<
	touch $@

.PHONY: bench bench-venv bench-tables bench-slice
bench-venv: $(BENCH_VENV)/.installed

bench: setup bench-venv
	$(PY) -m stand.bench --report docs/proof $(ARGS)

# What `make test` compares with: to be written down again when the way of a case is meant to cost something else.
bench-slice: setup
	CASEFLOW_BENCH_SLICE=write $(PY) -m stand.testrun --only-tests tests/bench/test_slice.py -q

bench-tables: setup
	$(PY) -m stand.bench.tables $(BENCH)

.PHONY: two-machines upgrade-test restore-drill processes
two-machines: setup
	$(PY) -m stand.machines $(ARGS)

upgrade-test: setup
	$(PY) -m stand.upgrade

restore-drill: setup
	$(PY) -m stand.restore

processes: setup-demo
	$(PY) -m stand.procfile

.PHONY: bench-growth
bench-growth: setup
	$(PY) -m stand.growth --document $(ARGS)

lint: setup
	$(PY) -m stand.testrun --only-checks

format: venv
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

lock: venv
	$(PY) -m pip install --quiet --disable-pip-version-check uv
	echo uv | $(UV_COMPILE) - --output-file lock/installer.txt
	$(UV_COMPILE) pyproject.toml --output-file lock/runtime.txt
	$(UV_COMPILE) pyproject.toml --extra demo --constraint lock/runtime.txt --output-file lock/demo.txt
	$(UV_COMPILE) pyproject.toml --extra test --constraint lock/demo.txt --output-file lock/test.txt
	$(PY) -c "$(BENCH_ALONE)" | $(UV_COMPILE) - --constraint lock/runtime.txt --output-file lock/bench.txt

# makemessages needs Debian's gettext; compiling does not. Without settings, so it needs no environment.
messages: packages venv
	$(PY) -m django makemessages --locale ru --no-location --ignore .venv --ignore .stand
	$(MAKE) setup

clean:
	if test -x $(PY); then $(PY) -m stand.clean; fi
	rm -rf $(VENV) $(BENCH_VENV) .venv-3.11 .venv-3.13 .stand .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	rm -rf staticfiles
