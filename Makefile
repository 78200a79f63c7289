# Bedside: every table and figure of four studies, from notebooks. For GNU Make 3.81 and later.
# `make` prints help; `make all` and `make test` set everything up by themselves.
PROFILE ?= sample
# Some systems have an environment variable of this name, for the machine's name.
NAME :=
# Values reach each step by the environment, as they are: make would run a $(shell ...) in them.
LINE := $(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $(v))),$(v)))
$(foreach v,$(LINE),$(eval override $(v) := $$(value $(v)))$(eval export $(v)))
# The first Python found of the versions that the lock covers; `make PYTHON=...` names another.
PYTHON ?= $(or $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' && echo $$p && exit; \
	done 2>/dev/null),python3)
new = $(1) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	{ echo "Bedside needs Python 3.11 or newer, and $(1) isn't: make PYTHON=python3.12 ..."; exit 1; }
# An active conda environment (except its base) is used as it is, otherwise .venv.
CONDA := $(if $(filter base,$(CONDA_DEFAULT_ENV)),,$(CONDA_PREFIX))
BIN := $(or $(CONDA),.venv)/bin
PY := $(BIN)/python
READY := $(if $(CONDA),.cache/ready-conda$(subst /,-,$(CONDA)),.venv/.ready)
ANY := $(or $(wildcard $(PY)),$(PYTHON))

# A wrong variable stops everything. Settings other than the profile's are a run with own stamps.
quoted = '$(subst ','\'',$(1))'
ANSWER := $(shell PYTHONPATH=lib $(ANY) -m bedside variables $(call quoted,$(MAKECMDGOALS)) \
	$(foreach v,$(LINE),$(call quoted,$(v)=$(value $(v)))) 2>/dev/null)
$(if $(filter-out ok,$(firstword $(ANSWER))),$(error $(ANSWER)))
STAMPS := .cache/stamps/$(or $(word 2,$(ANSWER)),sample)
export BEDSIDE_MAKE := $(shell echo make $$PPID at `date +%s`)

SETTINGS := $(STAMPS)/settings.json
INDEX := $(STAMPS)/index.done
EXPLORER := $(STAMPS)/explorer.done
DATA := $(if $(filter public,$(value PROFILE)),$(STAMPS)/data.done)
PAPERS := $(shell sed -n 's/^\[\([a-z0-9_]*\)\].*/\1/p' data/papers.toml)
NOTEBOOKS := $(wildcard $(PAPERS:%=notebooks/%/[0-9][0-9]_*.ipynb))

# Steps of `python -m bedside`, where `make help` has their texts.
STEPS := verify seminar class annotate data try plan batch collect study compare check new letter \
	latex outputs lab serve doctor
.PHONY: help all explorer record site setup test bench lint lock clean $(STEPS) $(PAPERS)
.DEFAULT_GOAL := help
$(STEPS): $(READY)
	@$(PY) -m bedside $@
verify plan $(if $(value QUESTIONS),,batch): $(SETTINGS) $(DATA)
seminar: $(if $(filter sample,$(value PROFILE)),$(INDEX))

help: ## show this text
	@$(call new,$(ANY))
	@PYTHONPATH=lib $(ANY) -m bedside help
all: $(INDEX) $(EXPLORER) ## set up, run what changed, write figures/PROFILE/index.html
	@echo "$$(cat $(SETTINGS).folder)/index.html is up to date"
explorer: $(EXPLORER) ## write every judged item into figures/PROFILE/explorer.html (part of `all`)
	@echo "$$(cat $(SETTINGS).folder)/explorer.html is up to date"
record: ## like `all`, but call models for replies that are not recorded (MODE=record)
	@$(MAKE) all MODE=record
site: ## write the pages of both profiles to site/, for any static host
	@$(MAKE) all PROFILE=sample
	@$(PY) -m bedside site
setup: $(READY) ## only set everything up
# Many tests read what the sample's notebooks kept.
test: $(INDEX) ## set everything up and run the tests on all cores (SLOW=1: those of minutes, too)
	@$(PY) -m pytest --dist worksteal -n "$${JOBS:-auto}"
	@test -z "$$SLOW" || $(PY) -m pytest --dist worksteal -n "$${JOBS:-auto}" -m slow
bench: $(READY) ## measure calls, their replay and `make all` on this machine
	@$(PY) tests/bench.py
lint: $(READY) ## check style, layers and budgets of lines (ruff, import-linter, docs/design.md)
	@$(BIN)/ruff check lib tests notebooks templates start.py
	@$(BIN)/ruff format --check lib tests notebooks templates start.py
	@$(BIN)/lint-imports && $(PY) tests/told_numbers.py && $(PY) tests/budgets.py
LOCK := .venv/bin/uv pip compile -q --universal --generate-hashes --python-version 3.11 \
	--no-emit-index-url --no-header
lock: $(READY) ## renew requirements.lock, seminar.lock with its versions, and uv's own (needs uv)
	@$(LOCK) --group dev pyproject.toml -o requirements.lock
	@$(LOCK) --group seminar --constraints requirements.lock --no-annotate -o seminar.lock
	@.venv/bin/uv --version | sed 's/uv \([0-9.]*\).*/uv==\1/' | \
		$(LOCK) --no-annotate - -o requirements.uv.lock
clean: ## forget which notebooks have run (recordings, data and figures stay)
	rm -rf .cache/stamps .cache/executed .cache/verify

# A changed setting makes every notebook out of date.
$(SETTINGS): FORCE | $(READY)
	@$(PY) -m bedside settings -p write $@
	@rm -f $(STAMPS)/*.todo
$(STAMPS)/data.done: data/sources.toml $(SETTINGS) $(shell \
		find data/external/github data/external/huggingface -type f 2>/dev/null)
	@$(PY) -m bedside data && touch $@

# A notebook's inputs: itself, foundation and study, settings, the study's data, and by `newer` what
# people name as they like. What is out of date is listed, and then run by one process on all cores.
# A stamp is set when a notebook has finished, so a failed one never counts as up to date.
FOUNDATION := $(wildcard lib/bedside/*.py data/*.toml data/slips.csv $(patsubst \
	%,lib/bedside/%/*.py,read asking judging build stats write))
newer = $(if $(shell find $(1) -type f -newer $(2) 2>/dev/null | head -n 1),FORCE)
run = $(PY) -m bedside run -p stamps $(STAMPS) $$(cat $(1) 2>/dev/null)
define study
$(1)_DONE := $(patsubst notebooks/%.ipynb,$(STAMPS)/%.done,$(filter notebooks/$(1)/%,$(NOTEBOOKS)))
$$($(1)_DONE): $(STAMPS)/%.done: notebooks/%.ipynb $(FOUNDATION) $(SETTINGS) $(DATA) $(READY) \
		$(shell find lib/bedside/papers/$(1) -name '*.py' -o -name '*.toml') \
		$(wildcard $(patsubst %,data/%/$(1)/*,sample prompts computed) data/specifications/$(1).toml \
		data/published/$(1).csv data/claims/$(1).toml)
	@rm -f $$@ && echo $$* >> $(STAMPS)/$(1).todo
$$(foreach d,$$($(1)_DONE),$$(eval \
	$$(d): $$(call newer,data/external/$(1) data/recordings/$(1),$$(d))))
$(1): $$($(1)_DONE)
	@$$(call run,$(STAMPS)/$(1).todo)
	@$(PY) -m bedside index && $(PY) -m bedside explorer
endef
$(foreach p,$(PAPERS),$(eval $(call study,$(p))))
$(INDEX): $(foreach p,$(PAPERS),$($(p)_DONE)) notebooks/across_studies.ipynb \
		$(wildcard data/findings/* lib/bedside/publish/*.py lib/bedside/publish/pages/*)
	@$(call run,$(PAPERS:%=$(STAMPS)/%.todo))
	@$(PY) -m bedside index && touch $@
$(EXPLORER): $(INDEX) $(call newer,data/external/annotations,$(EXPLORER)) $(shell find \
		$(addprefix lib/bedside/,publish/judged_items.py explorer annotation) -type f ! -name '*.pyc')
	@$(PY) -m bedside explorer && touch $@

PIP := .venv/bin/python -m pip install --quiet --disable-pip-version-check
LOCKED := --require-hashes -r requirements.lock
.venv/.ready: requirements.lock pyproject.toml
	$(if $(findstring {,$(CURDIR))$(findstring },$(CURDIR)),$(error \
		the path of this folder has a { or } in it, where Python can't install packages: rename it))
	@$(call new,$(PYTHON))
	@test -x .venv/bin/pip || { rm -rf .venv; $(PYTHON) -m venv .venv; } || { echo \
	"$(PYTHON) makes no virtual environment (on Debian, Ubuntu: apt install python3-venv)"; exit 1; }
	@echo "setting up .venv from requirements.lock"
	@$(PIP) --require-hashes -r requirements.uv.lock 2>/dev/null; .venv/bin/python -m uv pip install \
		-q --compile-bytecode --python .venv/bin/python $(LOCKED) 2>/dev/null || $(PIP) $(LOCKED)
	@$(PIP) --no-deps --no-build-isolation -e . && .venv/bin/python -m compileall -q lib && touch $@
.cache/ready-conda%: environment.yml pyproject.toml
	@$(PY) -c 'import papermill, openai, aiohttp, ipywidgets, openpyxl, pandas, matplotlib, sklearn, \
		rapidfuzz, statsmodels, gepa, xllamacpp, pytest, ruff, importlinter, xdist' || { echo \
	"it lacks packages: conda env update -f environment.yml, or conda deactivate"; exit 1; }
	@$(PY) -m pip install --quiet --no-deps --no-build-isolation -e .
	@mkdir -p .cache && touch '$@'
FORCE:
