# Bedside: every table and figure of four studies, from notebooks. Works with GNU Make 3.81 and later.
# `make` prints help; `make all` and `make test` set everything up by themselves.

PROFILE ?= sample
MODE ?= replay
MODELS ?=
JUDGE ?=
LIMIT ?=
SEED ?=
PROMPTS ?=
BUDGET_USD ?=
BUDGET_TOTAL ?=
RUN ?=
MIRROR ?=
JOBS ?=
QUESTIONS ?=
RUBRIC ?=
ANSWERS ?=
COMPARE ?=
REVISION ?=
SUBMIT ?=
FROM ?=
# Some systems have an environment variable of this name, for the machine's name.
NAME :=
PASSED := PROFILE MODE MODELS JUDGE LIMIT SEED PROMPTS BUDGET_USD
STUDY := QUESTIONS MODELS JUDGE RUBRIC ANSWERS NAME COMPARE LIMIT SEED BUDGET_USD REVISION
KNOWN := $(PASSED) BUDGET_TOTAL RUN SLOW SUBMIT FROM MIRROR PAPER FOLDER JOBS QUESTIONS RUBRIC ANSWERS NAME COMPARE REVISION PYTHON CONDA_PREFIX
# A value quoted for the shell, whatever it holds.
quoted = '$(subst ','\'',$(1))'
UNKNOWN := $(filter-out $(KNOWN),$(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $(v))),$(v))))
# Given values are plain text: make would otherwise expand them for each recipe, and so run a $(shell ...) in them.
$(foreach v,$(KNOWN) $(UNKNOWN),$(if $(filter command,$(origin $(v))),$(eval override $(v) := $$(value $(v)))))

named = $(shell sed -n 's/^\[\([a-z0-9_]*\)\].*/\1/p' data/$(1).toml)
$(if $(filter-out $(call named,profiles),$(value PROFILE)),$(error PROFILE is one of: $(call named,profiles)))

# The first Python found of the versions that the lock covers; `make PYTHON=...` names another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$p && exit; done; echo python3)

# An active conda environment (except its base) is used as it is, otherwise .venv.
CONDA := $(if $(filter-out base,$(CONDA_DEFAULT_ENV)),$(CONDA_PREFIX),$(if $(CONDA_DEFAULT_ENV),,$(CONDA_PREFIX)))
BIN := $(if $(CONDA),$(CONDA),.venv)/bin
PY := $(BIN)/python
READY := $(if $(CONDA),.cache/ready-conda$(subst /,-,$(CONDA)),.venv/.ready)
UV := uv==0.13.9

# A run with settings other than the profile's has its own outputs, in figures/runs, and its own stamps.
ASKED = $(value MODELS)|$(value JUDGE)|$(value LIMIT)|$(value SEED)|$(value PROMPTS)|$(value ANSWERS)|$(value RUN)
OWN := $(if $(subst |,,$(ASKED)),-$(shell printf %s $(call quoted,$(ASKED)) | cksum | tr ' ' -))
STAMPS := .cache/stamps/$(PROFILE)$(OWN)
SETTINGS := $(STAMPS)/settings.json
PAPERS := $(call named,papers)
NOTEBOOKS := $(sort $(patsubst notebooks/%.ipynb,%,$(wildcard $(PAPERS:%=notebooks/%/[0-9][0-9]_*.ipynb))))
DONE := $(NOTEBOOKS:%=$(STAMPS)/%.done)
ROOMS := read keep asking judging build bulk stats write write/plots
# Every notebook depends on the foundation and on its own study; none on explorer, annotation or seminar.
FOUNDATION := $(wildcard lib/bedside/*.py $(ROOMS:%=lib/bedside/%/*.py) data/*.toml data/slips.csv)
study = $(shell find lib/bedside/papers/$(1) -name '*.py' -o -name '*.toml')
PEOPLE := $(shell find lib/bedside/publish/judged_items lib/bedside/explorer lib/bedside/annotation -type f ! -name '*.pyc')
DATA := $(if $(filter public,$(PROFILE)),$(STAMPS)/data.done)

.PHONY: help all test lint verify explorer site seminar class data try plan batch collect record study new letter outputs lab serve doctor bench setup lock clean FORCE $(PAPERS)
.DEFAULT_GOAL := help

help: ## show this text
	@echo "Bedside. Usage: make TARGET [PROFILE=sample|public] [MODE=replay|record|fresh] [MODELS=\"a b\"]"
	@echo "         [JUDGE=name] [LIMIT=n] [SEED=n] [PROMPTS=DIR] [ANSWERS=FILE] [BUDGET_USD=x] [BUDGET_TOTAL=x] [RUN=name] [MIRROR=DIR] [SUBMIT=1] [FROM=DIR] [JOBS=n] [PAPER=name] [FOLDER=DIR] [PYTHON=python3.12]"
	@echo "         make study QUESTIONS=FILE [MODELS=\"a b\"] [JUDGE=name] [RUBRIC=FILE] [ANSWERS=FILE] [NAME=name] [REVISION=x] [COMPARE=old,new]"
	@echo
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'
	@for p in $(PAPERS); do printf '  %-12s %s\n' $$p "the notebooks of this study"; done

all: $(STAMPS)/index.done $(STAMPS)/explorer.done ## set everything up, run what changed, and write figures/PROFILE/index.html
	@echo "$$(cat $(SETTINGS).folder)/index.html is up to date"

# The profile of targets that are about the released data, unless you name another.
PUBLIC := $(if $(filter file,$(origin PROFILE)),public,$(PROFILE))
pytest = $(PY) -m pytest -n $(call quoted,$(or $(value JOBS),auto))

# Many tests read what the sample's notebooks kept.
test: $(STAMPS)/index.done ## set everything up and run the tests on all cores (SLOW=1: also those that take minutes)
	@$(pytest) --dist loadfile
	@$(if $(SLOW),$(pytest) --dist worksteal -m slow tests/test_matrix.py tests/numbers)

lint: $(READY) ## check style and layers with ruff (lint and format) and import-linter
	@$(BIN)/ruff check lib tests notebooks templates start.py
	@$(BIN)/ruff format --check lib tests notebooks templates start.py
	@$(BIN)/lint-imports

verify: $(SETTINGS) $(DATA) ## rebuild a profile and compare it with the committed outputs
	@$(PY) -m bedside verify --profile $(PROFILE)

explorer: $(STAMPS)/explorer.done ## write every judged item into one page, figures/PROFILE/explorer.html (part of `all`)
	@echo "$$(cat $(SETTINGS).folder)/explorer.html is up to date"

site: ## write the pages of both profiles to site/, for any static host
	@$(MAKE) all PROFILE=sample
	@$(PY) -m bedside site

# The sheets of the sample read what its notebooks kept.
seminar: $(if $(filter sample,$(PROFILE)),$(STAMPS)/explorer.done) $(READY) ## write the seminar's sheets for students and instructors, and a zip to hand out, to seminar/ (PROFILE=public: on released data)
	@$(PY) -m bedside seminar --profile $(PROFILE)

class: $(READY) ## write a page and a CSV of a class's results: make class FOLDER=DIR
	@$(PY) -m bedside class $(call quoted,$(value FOLDER))

data: $(READY) ## fetch and check the papers' released data (for PROFILE=public unless you name another)
	@$(PY) -m bedside data --profile $(PUBLIC) $(if $(value MIRROR),--mirror $(call quoted,$(value MIRROR)))

try: $(READY) ## send a few calls to each of MODELS: what it answers and costs, and what its entry lacks
	@$(PY) -m bedside try $(call quoted,$(value MODELS))

plan: $(SETTINGS) $(DATA) ## print calls, tokens and cost of all replies that are not recorded, without a call
	@$(PY) -m bedside plan $(if $(value PAPER),$(call quoted,$(value PAPER))) --file $(SETTINGS)

# With QUESTIONS it takes the variables of `study`, otherwise the settings of the notebooks.
batch: $(if $(value QUESTIONS),$(READY),$(SETTINGS) $(DATA)) ## write request files of one wave; SUBMIT=1 sends and collects all waves (docs/scale.md)
	@$(PY) -m bedside batch $(if $(value SUBMIT),--submit) $(if $(value PAPER),--paper $(call quoted,$(value PAPER))) \
		$(if $(value QUESTIONS),$(foreach v,$(STUDY),$(if $(value $(v)),$(call quoted,$(v)=$(value $(v))))),--file $(SETTINGS))

collect: $(READY) ## record the results of request files: make collect FROM=results.jsonl, or a folder
	@$(PY) -m bedside collect $(call quoted,$(value FROM))

record: ## like `all`, but call models for replies that are not recorded (MODE=record)
	@$(MAKE) all MODE=record

# Variables that it doesn't take are passed on so that it names them; without MODE it records missing replies.
study: $(READY) ## put your own questions to models: make study QUESTIONS=mine.csv MODELS="a b" JUDGE=c, or COMPARE=old,new (docs/own_study.md)
	@$(PY) -m bedside study $(foreach v,$(STUDY),$(if $(value $(v)),$(call quoted,$(v)=$(value $(v))))) \
		$(call quoted,MODE=$(if $(filter file,$(origin MODE)),record,$(value MODE))) \
		$(foreach v,$(filter-out $(STUDY) MODE JOBS PYTHON,$(KNOWN) $(UNKNOWN)),$(if $(filter override,$(origin $(v))),$(call quoted,$(v)=)))

new: $(READY) ## begin a study of your own: make new PAPER=name
	@$(PY) -m bedside new $(call quoted,$(value PAPER))

letter: $(READY) ## write a report on each study to its authors (for PROFILE=public unless you name another)
	@$(PY) -m bedside letter --profile $(PUBLIC)

outputs: $(READY) ## rewrite the README's findings and table of outputs
	@$(PY) -m bedside outputs

lab: $(READY) ## open JupyterLab in this folder (RUN=name: with the settings of that run)
	@BEDSIDE_RUN=$(call quoted,$(value RUN)) $(PY) -m jupyterlab

serve: $(READY) ## serve the embedded model (OpenAI-compatible, on this machine only)
	@$(PY) -m bedside serve

doctor: $(READY) ## list what this checkout has and lacks
	@$(PY) -m bedside doctor

bench: $(READY) ## measure calls, replay, statistics and `make all` on this machine
	@$(PY) tests/bench.py

setup: $(READY) ## only set everything up

lock: $(READY) ## renew requirements.lock from pyproject.toml (needs uv)
	@.venv/bin/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-emit-index-url --no-header \
		--group dev pyproject.toml -o requirements.lock

clean: ## forget which notebooks have run (recordings, data and figures stay)
	rm -rf .cache/stamps .cache/executed .cache/verify

# A changed setting makes every notebook out of date; an unknown one is an error here.
$(SETTINGS): FORCE | $(READY)
	@$(PY) -m bedside check --write $@ $(call quoted,PROFILE=$(if $(filter-out file,$(origin PROFILE)),$(value PROFILE))) \
		$(foreach v,$(filter-out PROFILE,$(PASSED)) ANSWERS BUDGET_TOTAL RUN,$(call quoted,$(v)=$(value $(v)))) \
		$(foreach v,$(UNKNOWN) $(foreach s,QUESTIONS RUBRIC NAME COMPARE REVISION,$(if $(filter override,$(origin $(s))),$(s))),$(call quoted,$(v)=))
	@rm -f $(STAMPS)/*.todo

# Data that were put there since count, too.
$(STAMPS)/data.done: data/sources.toml $(SETTINGS) $(shell find data/external/github data/external/huggingface -type f 2>/dev/null)
	@$(PY) -m bedside data --profile $(PROFILE) $(if $(value MIRROR),--mirror $(call quoted,$(value MIRROR)))
	@touch $@

# A notebook's inputs: itself, foundation and study, the study's data, prompts, printed numbers, recordings, your files, settings.
# Notebooks that are out of date are listed first and then run by one process, on all cores (JOBS=n: n at once). A stamp
# is set only when a notebook has finished, so a failed one never counts as up to date.
define notebook
$(STAMPS)/$(2)/$(1).done: notebooks/$(2)/$(1).ipynb $(FOUNDATION) $(SOURCE_$(2)) $(wildcard data/sample/$(2)/* data/prompts/$(2)/* \
		data/published/$(2).csv data/claims/$(2).csv data/readings/$(2).csv data/recordings/$(2)/*/* data/external/$(2)/*) $(SETTINGS) $(DATA) $(READY)
	@rm -f $$@ && echo $(2)/$(1) >> $(STAMPS)/$(2).todo
endef
$(foreach p,$(PAPERS),$(eval SOURCE_$(p) := $(call study,$(p))))
$(foreach n,$(NOTEBOOKS),$(eval $(call notebook,$(notdir $(n)),$(patsubst %/,%,$(dir $(n))))))

run = $(PY) -m bedside run --todo $(1) --file $(SETTINGS) --stamps $(STAMPS) $(if $(value JOBS),--jobs $(call quoted,$(value JOBS)))

$(STAMPS)/index.done: $(DONE) $(wildcard lib/bedside/publish/pages/* data/findings/* data/replies/*)
	@$(call run,$(PAPERS:%=$(STAMPS)/%.todo))
	@$(PY) -m bedside index --profile $(PROFILE) --file $(SETTINGS) --since $(SETTINGS).started
	@touch $@

$(STAMPS)/explorer.done: $(STAMPS)/index.done $(PEOPLE) $(wildcard data/external/annotations/*/*)
	@$(PY) -m bedside explorer --file $(SETTINGS)
	@touch $@

define paper
$(1): $(filter $(STAMPS)/$(1)/%,$(DONE))
	@$$(call run,$(STAMPS)/$(1).todo)
	@$(PY) -m bedside index --profile $(PROFILE) --file $(SETTINGS) --since $(SETTINGS).started
endef
$(foreach p,$(PAPERS),$(eval $(call paper,$(p))))

.venv/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "Bedside needs Python 3.11 or newer as $(PYTHON); name another one: make PYTHON=python3.12 ..."; exit 1; }
	@test -x .venv/bin/pip || { rm -rf .venv; $(PYTHON) -m venv .venv; } || \
		{ echo "$(PYTHON) can't make a virtual environment (on Debian and Ubuntu: apt install python3-venv)"; exit 1; }
	@echo "setting up .venv from requirements.lock"
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check $(UV) 2>/dev/null || true
	@if .venv/bin/python -m uv --version >/dev/null 2>&1; \
		then .venv/bin/python -m uv pip install --quiet --compile-bytecode --python .venv/bin/python --require-hashes -r requirements.lock; \
		else .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock; fi
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@.venv/bin/python -m compileall -q lib
	@touch $@

.cache/ready-conda%: environment.yml pyproject.toml
	@$(PY) -c 'import papermill, openai, aiohttp, anywidget, openpyxl, pandas, matplotlib, sklearn, rapidfuzz, statsmodels, gepa, xllamacpp, pytest, ruff, importlinter, xdist' || \
		{ echo "the active conda environment lacks packages: conda env update -f environment.yml (or deactivate it)"; exit 1; }
	@$(PY) -m pip install --quiet --no-deps --no-build-isolation -e .
	@mkdir -p .cache && touch '$@'
