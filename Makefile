# Two commands do everything: `make up` and `make test`. Python 3.11+ and make are all they need.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: bench validate new generate help up down clean test check unit cluster-test env status logs cluster-status lock format

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

up: $(READY) ## tools, local cluster, pulumi up, a real two-node training run
	@$(PY) -m tools up

down: $(READY) ## stop the cluster, keep its data
	@$(PY) -m tools cluster stop

clean: $(READY) ## remove cluster and state of this checkout (the machine's tool cache stays)
	@$(PY) -m tools clean

env: $(READY) ## settings for a shell: eval "$$(make -s env)"
	@$(PY) -m tools env

status: $(READY) ## tenants and jobs: state, nodes, restarts, age
	@eval "$$($(PY) -m tools env)" && $(PY) -m training status

logs: $(READY) ## follow a run's rank 0: make logs RUN=tenant/job
	@eval "$$($(PY) -m tools env)" && $(PY) -m training logs $(RUN) --follow

cluster-status: $(READY) ## the cluster's processes, memory and restarts
	@$(PY) -m tools cluster status

validate: $(READY) ## check stack files, no cluster needed: make validate [STACK=name] [FORMAT=json]
	@$(PY) -m stacks validate $(STACK) --format $(or $(FORMAT),text)

new: $(READY) ## begin a stack: make new STACK=name KIND=local|eks|kubeconfig|stack [PLATFORM=stack]
	$(if $(and $(STACK),$(KIND)),,$(error which stack? next: make new STACK=name KIND=local|eks|kubeconfig|stack))
	@$(PY) -m stacks new '$(STACK)' '$(KIND)' --platform '$(PLATFORM)'

generate: $(READY) ## write the JSON Schema and docs/configuration.md from the models
	@$(PY) -m stacks generate

test: $(READY) ## everything: style, types, fast tests, engine and cluster tests
	@for stage in check unit cluster-test; do \
		echo "== $$stage"; started=$$(date +%s); \
		$(MAKE) --no-print-directory $$stage || exit 1; \
		echo "== $$stage passed in $$(( $$(date +%s) - started )) s"; \
	done

check: $(READY) ## ruff (format, lint), pyright strict, import directions
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m pyright --warnings
	$(VENV)/bin/lint-imports --no-cache

unit: $(READY) ## tests that need neither tools nor cluster
	$(PY) -m pytest -q tests/unit tests/graph

cluster-test: $(READY) ## tests with the real engine and a cluster of their own
	@$(PY) -m tools toolchain > /dev/null
	$(PY) -m pytest -q -x --durations=15 tests/engine tests/cluster

bench: $(READY) ## time, growth and memory of checking large stack files
	@$(PY) -m tests.bench.validate_stack

format: $(READY) ## format and mend what can be mended
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

lock: $(READY) ## write requirements.lock from requirements.in
	$(PY) -m pip install --quiet uv
	$(VENV)/bin/uv pip compile --python-version 3.11 --universal --generate-hashes --no-header \
		--no-emit-index-url --quiet --output-file requirements.lock requirements.in

$(READY): requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "error: $(PYTHON) is older than 3.11; next: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@echo "Python packages into $(VENV) (once per checkout, about a minute)" >&2
	@$(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@
