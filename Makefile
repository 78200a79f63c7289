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
# some systems have a variable of this name, for the machine's
NAME :=
PASSED := PROFILE MODE MODELS JUDGE LIMIT SEED PROMPTS BUDGET_USD
STUDY := QUESTIONS MODELS JUDGE RUBRIC ANSWERS NAME COMPARE LIMIT SEED BUDGET_USD REVISION
KNOWN := $(PASSED) BUDGET_TOTAL RUN SLOW SUBMIT FROM MIRROR PAPER FOLDER JOBS QUESTIONS RUBRIC ANSWERS NAME COMPARE REVISION PYTHON CONDA_PREFIX
# A value for the shell, whatever it holds.
quoted = '$(subst ','\'',$(1))'
UNKNOWN := $(filter-out $(KNOWN),$(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $(v))),$(v))))
# What is given is text: make would expand it, and so run its $(shell ...), for the environment of each recipe.
$(foreach v,$(KNOWN) $(UNKNOWN),$(if $(filter command,$(origin $(v))),$(eval override $(v) := $$(value $(v)))))

named = $(shell sed -n 's/^\[\([a-z0-9_]*\)\].*/\1/p' data/$(1).toml)
$(if $(filter-out $(call named,profiles),$(value PROFILE)),$(error PROFILE is one of: $(call named,profiles)))

# The first Python of the versions that the lock is made for; `make PYTHON=...` names another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$p && exit; done; echo python3)

# An active conda environment (but not its base) is used as it is, otherwise .venv.
CONDA := $(if $(filter-out base,$(CONDA_DEFAULT_ENV)),$(CONDA_PREFIX),$(if $(CONDA_DEFAULT_ENV),,$(CONDA_PREFIX)))
BIN := $(if $(CONDA),$(CONDA),.venv)/bin
PY := $(BIN)/python
READY := $(if $(CONDA),.cache/ready-conda$(subst /,-,$(CONDA)),.venv/.ready)
UV := uv==0.13.9

# Other settings than the profile's are a run of its own: its outputs are in figures/runs, its stamps apart.
ASKED = $(value MODELS)|$(value JUDGE)|$(value LIMIT)|$(value SEED)|$(value PROMPTS)|$(value ANSWERS)|$(value RUN)
OWN := $(if $(subst |,,$(ASKED)),-$(shell printf %s $(call quoted,$(ASKED)) | cksum | tr ' ' -))
STAMPS := .cache/stamps/$(PROFILE)$(OWN)
SETTINGS := $(STAMPS)/settings.json
PAPERS := $(call named,papers)
NOTEBOOKS := $(sort $(patsubst notebooks/%.ipynb,%,$(wildcard $(PAPERS:%=notebooks/%/[0-9][0-9]_*.ipynb))))
DONE := $(NOTEBOOKS:%=$(STAMPS)/%.done)
# All notebooks rest on the foundation, and each on its own study; none on explorer, annotation and seminar.
FOUNDATION := $(wildcard lib/bedside/*.py lib/bedside/stats/*.py lib/bedside/plots/*.py data/*.toml)
study = $(shell find lib/bedside/papers/$(1) -name '*.py' -o -name '*.toml')
PEOPLE := $(shell find lib/bedside/rows lib/bedside/explorer lib/bedside/annotation -type f ! -name '*.pyc')
DATA := $(if $(filter public,$(PROFILE)),$(STAMPS)/data.done)

.PHONY: help all test lint verify explorer site seminar class data try plan batch collect record study new letter outputs lab serve doctor bench setup lock clean FORCE $(PAPERS)
.DEFAULT_GOAL := help

help: ## this text
	@echo "Bedside. Usage: make TARGET [PROFILE=sample|public] [MODE=replay|record|fresh] [MODELS=\"a b\"]"
	@echo "         [JUDGE=name] [LIMIT=n] [SEED=n] [PROMPTS=DIR] [ANSWERS=FILE] [BUDGET_USD=x] [BUDGET_TOTAL=x] [RUN=name] [MIRROR=DIR] [SUBMIT=1] [FROM=DIR] [JOBS=n] [PAPER=name] [FOLDER=DIR] [PYTHON=python3.12]"
	@echo "         make study QUESTIONS=FILE [MODELS=\"a b\"] [JUDGE=name] [RUBRIC=FILE] [ANSWERS=FILE] [NAME=name] [REVISION=x] [COMPARE=old,new]"
	@echo
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'
	@for p in $(PAPERS); do printf '  %-12s %s\n' $$p "the notebooks of this paper"; done

all: $(STAMPS)/index.done $(STAMPS)/explorer.done ## set up what is missing, run what changed, write figures/PROFILE/index.html
	@echo "$$(cat $(SETTINGS).folder)/index.html is up to date"

# Of what is about the papers' data unless you say otherwise.
PUBLIC := $(if $(filter file,$(origin PROFILE)),public,$(PROFILE))
pytest = $(PY) -m pytest -n $(call quoted,$(or $(value JOBS),auto))

test: $(READY) ## set up what is missing, run the tests on all cores (SLOW=1: those that take minutes, too)
	@$(pytest) --dist loadfile
	@$(if $(SLOW),$(pytest) --dist worksteal -m slow tests/test_matrix.py)

lint: $(READY) ## style and layers: ruff (lint and format) and import-linter
	@$(BIN)/ruff check lib tests notebooks templates start.py
	@$(BIN)/ruff format --check lib tests notebooks templates start.py start.py
	@$(BIN)/lint-imports

verify: $(SETTINGS) $(DATA) ## rebuild everything and compare with what is committed
	@$(PY) -m bedside verify --profile $(PROFILE)

explorer: $(STAMPS)/explorer.done ## every judged item on one page, figures/PROFILE/explorer.html (part of `all`)
	@echo "$$(cat $(SETTINGS).folder)/explorer.html is up to date"

site: ## the pages of both profiles in site/, for any static host
	@$(MAKE) all PROFILE=sample
	@$(PY) -m bedside site

seminar: $(READY) ## four sheets for students and instructors, and a zip to hand out, in seminar/ (PROFILE=public: on released data)
	@$(PY) -m bedside seminar --profile $(PROFILE)

class: $(READY) ## a page and a CSV of what a class handed in: make class FOLDER=DIR
	@$(PY) -m bedside class $(call quoted,$(value FOLDER))

data: $(READY) ## fetch and check the papers' released data (PROFILE=public unless you say otherwise)
	@$(PY) -m bedside data --profile $(PUBLIC) $(if $(value MIRROR),--mirror $(call quoted,$(value MIRROR)))

try: $(READY) ## a few calls to each of MODELS: what it takes, answers and costs, and what its entry lacks
	@$(PY) -m bedside try $(call quoted,$(value MODELS))

plan: $(SETTINGS) $(DATA) ## calls, tokens and cost of what is not recorded, before anything is spent
	@$(PY) -m bedside plan --file $(SETTINGS)

# Of your own questions their variables, else the settings of the notebooks.
batch: $(if $(value QUESTIONS),$(READY),$(SETTINGS) $(DATA)) ## request files of what can be asked now; SUBMIT=1 sends and collects (docs/scale.md)
	@$(PY) -m bedside batch $(if $(value SUBMIT),--submit) $(if $(value PAPER),--paper $(call quoted,$(value PAPER))) \
		$(if $(value QUESTIONS),$(foreach v,$(STUDY),$(if $(value $(v)),$(call quoted,$(v)=$(value $(v))))),--file $(SETTINGS))

collect: $(READY) ## take in what an engine wrote for request files: make collect FROM=results.jsonl, or a folder
	@$(PY) -m bedside collect $(call quoted,$(value FROM))

record: ## call for what is not recorded, then as `all` (the same as MODE=record)
	@$(MAKE) all MODE=record

# Of what is given those that it doesn't take are named by it; without MODE it calls for what isn't recorded.
study: $(READY) ## your own questions: make study QUESTIONS=mine.csv MODELS="a b" JUDGE=c (docs/own_study.md), or COMPARE=old,new
	@$(PY) -m bedside study $(foreach v,$(STUDY),$(if $(value $(v)),$(call quoted,$(v)=$(value $(v))))) \
		$(call quoted,MODE=$(if $(filter file,$(origin MODE)),record,$(value MODE))) \
		$(foreach v,$(filter-out $(STUDY) MODE JOBS PYTHON,$(KNOWN) $(UNKNOWN)),$(if $(filter override,$(origin $(v))),$(call quoted,$(v)=)))

new: $(READY) ## begin a study of your own: make new PAPER=name
	@$(PY) -m bedside new $(call quoted,$(value PAPER))

letter: $(READY) ## a report on each study for its authors, from its claims (PROFILE=public unless you say otherwise)
	@$(PY) -m bedside letter --profile $(PUBLIC)

outputs: $(READY) ## write the README's table of outputs anew, from the manifests
	@$(PY) -m bedside outputs

lab: $(READY) ## JupyterLab in this folder; RUN=name: its notebooks have the settings of that run
	@BEDSIDE_RUN=$(call quoted,$(value RUN)) $(PY) -m jupyterlab

serve: $(READY) ## serve the embedded model (OpenAI-compatible, on this machine only)
	@$(PY) -m bedside serve

doctor: $(READY) ## what this checkout has and lacks
	@$(PY) -m bedside doctor

bench: $(READY) ## measure calls, replay, statistics and `make all` on this machine
	@$(PY) tests/bench.py

setup: $(READY) ## only set up

lock: $(READY) ## renew requirements.lock from pyproject.toml (needs uv)
	@.venv/bin/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-emit-index-url --no-header \
		--group dev pyproject.toml -o requirements.lock

clean: ## forget what has run (recordings, data and figures stay)
	rm -rf .cache/stamps .cache/executed .cache/verify

# A setting that changed makes every notebook out of date; an unknown one stops here.
$(SETTINGS): FORCE | $(READY)
	@$(PY) -m bedside check --write $@ $(foreach v,$(PASSED) ANSWERS BUDGET_TOTAL RUN,$(call quoted,$(v)=$(value $(v)))) \
		$(foreach v,$(UNKNOWN) $(foreach s,QUESTIONS RUBRIC NAME COMPARE REVISION,$(if $(filter override,$(origin $(s))),$(s))),$(call quoted,$(v)=))
	@rm -f $(STAMPS)/*.todo

$(STAMPS)/data.done: data/sources.toml $(SETTINGS)
	@$(PY) -m bedside data --profile $(PROFILE) $(if $(value MIRROR),--mirror $(call quoted,$(value MIRROR)))
	@touch $@

# A notebook's inputs: itself, foundation and study, the study's data, prompts, printed numbers, recordings, your files, settings.
# What is out of date is listed first and then run by one process, on all cores (JOBS=n: n at once). The stamp is set
# only when a notebook ran through, so a failed one is never taken for up to date.
define notebook
$(STAMPS)/$(2)/$(1).done: notebooks/$(2)/$(1).ipynb $(FOUNDATION) $(SOURCE_$(2)) $(wildcard data/sample/$(2)/* data/prompts/$(2)/* \
		data/published/$(2).csv data/claims/$(2).csv data/readings/$(2).csv data/recordings/$(2)/*/* data/external/$(2)/*) $(SETTINGS) $(DATA) $(READY)
	@rm -f $$@ && echo $(2)/$(1) >> $(STAMPS)/$(2).todo
endef
$(foreach p,$(PAPERS),$(eval SOURCE_$(p) := $(call study,$(p))))
$(foreach n,$(NOTEBOOKS),$(eval $(call notebook,$(notdir $(n)),$(patsubst %/,%,$(dir $(n))))))

run = $(PY) -m bedside run --todo $(1) --file $(SETTINGS) --stamps $(STAMPS) $(if $(value JOBS),--jobs $(call quoted,$(value JOBS)))

$(STAMPS)/index.done: $(DONE) $(wildcard lib/bedside/page/* data/replies/*)
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
		{ echo "Bedside needs Python 3.11 or newer as $(PYTHON); name one: make PYTHON=python3.12 ..."; exit 1; }
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
