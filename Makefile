# Bedside: every table and figure of four studies, from notebooks. Works with GNU Make 3.81 and later.
# `make` prints help; `make all` and `make test` set everything up by themselves.

PROFILE ?= sample
# Some systems have an environment variable of this name, for the machine's name.
NAME :=
# Given values are plain text: make would otherwise expand them for each recipe, and so run a $(shell ...) in them.
GIVEN := $(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $(v))),$(v)))
$(foreach v,$(GIVEN),$(eval override $(v) := $$(value $(v))))
# A value quoted for the shell, whatever it holds; an option of a step, if its variable has a value.
quoted = '$(subst ','\'',$(1))'
option = $(if $(value $(2)),--$(1) $(call quoted,$(value $(2))))
# NAME=value of what is given of the variables that a command takes, by the table that also tells unknown ones.
TABLE := lib/bedside/build/commands.py
taken = $(shell sed -n 's/^\([A-Z_]*\) *|[^|]* $(1) .*/\1/p' $(TABLE))
given = $(foreach v,$(1),$(if $(filter-out file undefined,$(origin $(v))),$(v)))
pass = $(foreach v,$(call given,$(call taken,$(1))),$(call quoted,$(v)=$(value $(v))))

named = $(shell sed -n 's/^\[\([a-z0-9_]*\)\].*/\1/p' data/$(1).toml)
$(if $(filter-out $(call named,profiles),$(value PROFILE)),$(error PROFILE is one of: $(call named,profiles)))
$(if $(strip $(foreach c,{ },$(findstring $(c),$(CURDIR)))),$(error \
	the path of this folder has a { or } in it, where Python can't install packages: rename it or move the folder))

# The first Python found of the versions that the lock covers; `make PYTHON=...` names another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$p && exit; \
	done; echo python3)
new = $(1) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	{ echo "Bedside needs Python 3.11 or newer as $(1); name another one: make PYTHON=python3.12 ..."; exit 1; }

# An active conda environment (except its base) is used as it is, otherwise .venv.
CONDA := $(if $(filter-out base,$(CONDA_DEFAULT_ENV)),$(CONDA_PREFIX),$(if $(CONDA_DEFAULT_ENV),,$(CONDA_PREFIX)))
BIN := $(if $(CONDA),$(CONDA),.venv)/bin
PY := $(BIN)/python
READY := $(if $(CONDA),.cache/ready-conda$(subst /,-,$(CONDA)),.venv/.ready)

# Before anything is set up, any Python will do for what needs no package.
ANY = $(or $(wildcard $(PY)),$(PYTHON))
# An unknown variable stops everything. Without questions, `batch` is of the notebooks.
GOALS := $(if $(value QUESTIONS),$(MAKECMDGOALS),$(MAKECMDGOALS:batch=all))
FAULT := $(if $(GIVEN),$(shell PYTHONPATH=lib $(ANY) -m bedside variables 2>/dev/null \
	--goals=$(call quoted,$(GOALS)) --names=$(call quoted,$(sort $(GIVEN)))))
$(if $(FAULT),$(error $(FAULT)))

# A run with settings other than the profile's has its own outputs, in figures/runs, and its own stamps.
ASKED = $(value MODELS)|$(value JUDGE)|$(value LIMIT)|$(value SEED)|$(value PROMPTS)|$(value ANSWERS)|$(value RUN)
OWN := $(if $(subst |,,$(ASKED)),-$(shell printf %s $(call quoted,$(ASKED)) | cksum | tr ' ' -))
STAMPS := .cache/stamps/$(PROFILE)$(OWN)
SETTINGS := $(STAMPS)/settings.json
PAPERS := $(call named,papers)
NOTEBOOKS := $(sort $(patsubst notebooks/%.ipynb,%,$(wildcard $(PAPERS:%=notebooks/%/[0-9][0-9]_*.ipynb))))
DONE := $(NOTEBOOKS:%=$(STAMPS)/%.done)
ROOMS := read asking judging build bulk stats write write/plots
# Every notebook depends on the foundation and on its own study; none on explorer, annotation or seminar.
FOUNDATION := $(wildcard lib/bedside/*.py $(ROOMS:%=lib/bedside/%/*.py) data/*.toml data/slips.csv)
study = $(shell find lib/bedside/papers/$(1) -name '*.py' -o -name '*.toml')
PEOPLE := $(shell find $(addprefix lib/bedside/,publish/judged_items explorer annotation) -type f ! -name '*.pyc')
DATA := $(if $(filter public,$(PROFILE)),$(STAMPS)/data.done)

.PHONY: help all test mutants lint verify explorer site seminar class data try plan batch collect record \
	study compare check annotate new letter latex outputs lab serve doctor bench setup lock clean FORCE \
	$(PAPERS)
.DEFAULT_GOAL := help

help: ## show this text
	@$(call new,$(ANY))
	@PYTHONPATH=lib $(ANY) -m bedside help

all: $(STAMPS)/index.done $(STAMPS)/explorer.done ## set up, run what changed, write figures/PROFILE/index.html
	@echo "$$(cat $(SETTINGS).folder)/index.html is up to date"

# The profile of targets that are about the released data, unless you name another.
PUBLIC := $(if $(filter file,$(origin PROFILE)),public,$(PROFILE))
pytest = $(PY) -m pytest -n $(call quoted,$(or $(value JOBS),auto))

# Many tests read what the sample's notebooks kept.
test: $(STAMPS)/index.done ## set everything up and run the tests on all cores (SLOW=1: also those that take minutes)
	@$(pytest) --dist worksteal
	@$(if $(SLOW),$(pytest) --dist worksteal -m slow)

mutants: $(STAMPS)/index.done ## put small faults into the library and list which the tests notice (hours)
	@$(PY) tests/mutants.py --jobs $(call quoted,$(or $(value JOBS),2))

lint: $(READY) ## check style, layers and budgets of lines (ruff, import-linter, docs/design.md)
	@$(BIN)/ruff check lib tests notebooks templates start.py
	@$(BIN)/ruff format --check lib tests notebooks templates start.py
	@$(BIN)/lint-imports
	@$(PY) tests/budgets.py

verify: $(SETTINGS) $(DATA) ## rebuild a profile and compare it with the committed outputs
	@$(PY) -m bedside verify --profile $(PROFILE)

explorer: $(STAMPS)/explorer.done ## write every judged item into figures/PROFILE/explorer.html (part of `all`)
	@echo "$$(cat $(SETTINGS).folder)/explorer.html is up to date"

site: ## write the pages of both profiles to site/, for any static host
	@$(MAKE) all PROFILE=sample
	@$(PY) -m bedside site

# The sheets of the sample read what its notebooks kept.
seminar: $(if $(filter sample,$(PROFILE)),$(STAMPS)/index.done)
seminar: $(READY) $(DATA) ## write sheets and a zip to hand out to seminar/
	@$(PY) -m bedside seminar --profile $(PROFILE)

class: $(READY) ## write a page and a CSV of a class's results: make class FOLDER=DIR
	@$(PY) -m bedside class -- $(call quoted,$(value FOLDER))

annotate: $(READY) ## write a page for each rater: TASK=name RATERS="Anna Berg, Jo"; take in what comes back: FROM=DIR
	@$(PY) -m bedside annotate $(call pass,annotate)

data: $(READY) ## fetch and check the papers' released data (for PROFILE=public unless you name another)
	@$(PY) -m bedside data --profile $(PUBLIC) $(call option,mirror,MIRROR)

try: $(READY) ## send a few calls to each of MODELS: what it answers and costs, and what its entry lacks
	@$(PY) -m bedside try -- $(call quoted,$(value MODELS))

plan: $(SETTINGS) $(DATA) ## print calls, tokens and cost of all replies that are not recorded, without a call
	@$(PY) -m bedside plan --file $(SETTINGS) $(if $(value PAPER),-- $(call quoted,$(value PAPER)))

# With QUESTIONS it takes the variables of `study`, otherwise the settings of the notebooks.
batch: $(if $(value QUESTIONS),$(READY),$(SETTINGS) $(DATA))
batch: ## write request files of one wave; SUBMIT=1 sends and collects all waves (docs/scale.md)
	@$(PY) -m bedside batch $(if $(value SUBMIT),--submit) $(call option,paper,PAPER) \
		$(if $(value QUESTIONS),$(call pass,study),--file $(SETTINGS))

collect: $(READY) ## record the results of request files: make collect FROM=results.jsonl, or a folder
	@$(PY) -m bedside collect -- $(call quoted,$(value FROM))

record: ## like `all`, but call models for replies that are not recorded (MODE=record)
	@$(MAKE) all MODE=record

# Without MODE it records missing replies.
study: $(READY) ## put your own questions to models: QUESTIONS=mine.csv MODELS="a b" JUDGE=c (docs/own_study.md)
	@$(PY) -m bedside study MODE=record $(call pass,study)

compare: $(READY) ## show the models of several runs beside each other: make compare RUNS="a b"
	@$(PY) -m bedside compare -- $(call quoted,$(value RUNS))

check: $(READY) ## check the printed numbers of any paper: NUMBERS=mine.csv; NUMBERS=new: a template (docs/check.md)
	@$(PY) -m bedside numbers -- $(call quoted,$(value NUMBERS))

new: $(READY) ## begin a study of your own: make new PAPER=name
	@$(PY) -m bedside new -- $(call quoted,$(value PAPER))

letter: $(READY) ## write a report on each study to its authors (for PROFILE=public unless you name another)
	@$(PY) -m bedside letter --profile $(PUBLIC)

latex: $(READY) ## write each table of a profile as LaTeX beside its .csv
	@$(PY) -m bedside latex --profile $(PROFILE)

outputs: $(READY) ## rewrite the README's findings and table of outputs, and docs/api.md
	@$(PY) -m bedside outputs

lab: $(READY) ## open JupyterLab in this folder (RUN=name: with the settings of that run)
	@BEDSIDE_RUN=$(call quoted,$(value RUN)) $(PY) -m jupyterlab

serve: $(READY) ## serve the embedded model (OpenAI-compatible, on this machine only)
	@$(PY) -m bedside serve

doctor: $(READY) ## list what this checkout has and lacks, damaged recordings too; mend a damaged ledger
	@$(PY) -m bedside doctor

bench: $(READY) ## measure calls, replay, statistics and `make all` on this machine
	@$(PY) tests/bench.py

setup: $(READY) ## only set everything up

LOCK := .venv/bin/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-emit-index-url \
	--no-header

lock: $(READY) ## renew requirements.lock, seminar.lock with its versions, and uv's own, from pyproject.toml (needs uv)
	@$(LOCK) --group dev pyproject.toml -o requirements.lock
	@$(LOCK) --group seminar --constraints requirements.lock --no-annotate -o seminar.lock
	@.venv/bin/uv --version | sed 's/uv \([0-9.]*\).*/uv==\1/' | $(LOCK) --no-annotate - -o requirements.uv.lock

clean: ## forget which notebooks have run (recordings, data and figures stay)
	rm -rf .cache/stamps .cache/executed .cache/verify

# A changed setting makes every notebook out of date.
$(SETTINGS): FORCE | $(READY)
	@$(PY) -m bedside check --write $@ MODE=replay $(call pass,notebooks)
	@rm -f $(STAMPS)/*.todo

# Data that were put there since count, too.
RELEASED := $(shell find data/external/github data/external/huggingface -type f 2>/dev/null)
$(STAMPS)/data.done: data/sources.toml $(SETTINGS) $(RELEASED)
	@$(PY) -m bedside data --profile $(PROFILE) $(call option,mirror,MIRROR)
	@touch $@

# A notebook's inputs: itself, foundation and study, the study's data, prompts, printed numbers, recordings, your files,
# settings. Notebooks that are out of date are listed first and then run by one process, on all cores (JOBS=n: n at
# once). A stamp is set only when a notebook has finished, so a failed one never counts as up to date.
# People name some of these files, as they like: a name with a blank would be two for make.
newer = $(if $(shell find $(1) -type f -newer $(2) 2>/dev/null | head -n 1),FORCE)
define notebook
$(STAMPS)/$(2)/$(1).done: notebooks/$(2)/$(1).ipynb $(FOUNDATION) $(SOURCE_$(2)) $(SETTINGS) $(DATA) $(READY)
$(STAMPS)/$(2)/$(1).done: $(wildcard data/sample/$(2)/* data/prompts/$(2)/* data/computed/$(2)/* \
		data/specifications/$(2).toml data/published/$(2).csv data/claims/$(2).toml)
$(STAMPS)/$(2)/$(1).done: $(call newer,data/external/$(2) data/recordings/$(2),$(STAMPS)/$(2)/$(1).done)
	@rm -f $$@ && echo $(2)/$(1) >> $(STAMPS)/$(2).todo
endef
$(foreach p,$(PAPERS),$(eval SOURCE_$(p) := $(call study,$(p))))
$(foreach n,$(NOTEBOOKS),$(eval $(call notebook,$(notdir $(n)),$(patsubst %/,%,$(dir $(n))))))

run = $(PY) -m bedside run --todo $(1) --file $(SETTINGS) --stamps $(STAMPS) $(call option,jobs,JOBS)

$(STAMPS)/index.done: $(DONE) notebooks/across_studies.ipynb $(wildcard data/findings/* \
		$(addprefix lib/bedside/publish/,*.py pages/*))
	@$(call run,$(PAPERS:%=$(STAMPS)/%.todo))
	@$(PY) -m bedside index --profile $(PROFILE) --file $(SETTINGS) --since $(SETTINGS).started
	@touch $@

$(STAMPS)/explorer.done: $(STAMPS)/index.done $(PEOPLE)
$(STAMPS)/explorer.done: $(call newer,data/external/annotations,$(STAMPS)/explorer.done)
	@$(PY) -m bedside explorer --file $(SETTINGS)
	@touch $@

define paper
$(1): $(filter $(STAMPS)/$(1)/%,$(DONE))
	@$$(call run,$(STAMPS)/$(1).todo)
	@$(PY) -m bedside index --profile $(PROFILE) --file $(SETTINGS) --since $(SETTINGS).started
	@$(PY) -m bedside explorer --file $(SETTINGS)
endef
$(foreach p,$(PAPERS),$(eval $(call paper,$(p))))

LOCKED := --require-hashes -r requirements.lock
.venv/.ready: requirements.lock pyproject.toml
	@$(call new,$(PYTHON))
	@test -x .venv/bin/pip || { rm -rf .venv; $(PYTHON) -m venv .venv; } || \
	{ echo "$(PYTHON) can't make a virtual environment (on Debian and Ubuntu: apt install python3-venv)"; exit 1; }
	@echo "setting up .venv from requirements.lock"
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.uv.lock \
		2>/dev/null || true
	@if .venv/bin/python -m uv --version >/dev/null 2>&1; \
	then .venv/bin/python -m uv pip install --quiet --compile-bytecode --python .venv/bin/python $(LOCKED); \
	else .venv/bin/python -m pip install --quiet --disable-pip-version-check $(LOCKED); fi
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@.venv/bin/python -m compileall -q lib
	@touch $@

.cache/ready-conda%: environment.yml pyproject.toml
	@$(PY) -c 'import papermill, openai, aiohttp, ipywidgets, openpyxl, pandas, matplotlib, sklearn, rapidfuzz, \
		statsmodels, gepa, xllamacpp, pytest, ruff, importlinter, xdist' || { echo \
	"the active conda environment lacks packages: conda env update -f environment.yml (or deactivate it)"; exit 1; }
	@$(PY) -m pip install --quiet --no-deps --no-build-isolation -e .
	@mkdir -p .cache && touch '$@'
