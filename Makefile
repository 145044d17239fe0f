# Two commands: `make run` (the program with its virtual cluster) and `make test` (lint, types, tests).
SHELL := /bin/bash
.DELETE_ON_ERROR:
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT := out
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: run test test-rdma lint types imports pytest bench bench-deps soak prebuilt shots clean system-run system-test

run: system-run $(VENV)/.run
	@scripts/run.sh $(BIN) $(OUT)

test: system-test $(VENV)/.test lint types imports pytest

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types:
	$(BIN)/mypy core/stellwerk resources/stellwerk_resources gui/stellwerk_gui
	$(BIN)/mypy --python-version 3.10 agent/stellwerk_agent core/stellwerk/model core/stellwerk/wire.py

imports:
	$(BIN)/lint-imports

# Two files at a time, the long ones first (tests/conftest.py): none shares anything with another. Ranks that meet in shared
# memory, and a walk that hits a moment of an apply, want the processors for themselves.
TWO := -n 2 --dist loadfile --no-loadscope-reorder
ALONE := tests/engine/collectives tests/engine/measure tests/e2e/test_fault_walk.py
pytest:
	$(BIN)/python -m pytest -q $(TWO) tests/unit
	$(BIN)/python -m pytest -q $(TWO) tests/gui tests/e2e $(ALONE:%=--ignore=%)
	$(BIN)/python -m pytest -q $(TWO) tests/engine tests/lab tests/native $(ALONE:%=--ignore=%)
	$(BIN)/python -m pytest $(ALONE)

# The verbs transport over soft-RoCE in an emulated machine (QEMU). Five to twelve minutes; never part of `make test`.
test-rdma: $(VENV)/.test
	$(BIN)/python tests/lab/rdma/run.py

# The rivals of the benchmarks: never needed to run or to test the program.
bench-deps: $(VENV)/.test
	scripts/bench-deps.sh $(BIN)

# The README's pictures, from simulated machines.
shots: $(VENV)/.run
	$(BIN)/stellwerk shots docs/pictures --readme

# Long fault runs and measurements: never part of `make test`.
soak: $(VENV)/.test
	$(BIN)/python -m pytest -m soak
	for t in pair ring switch; do $(BIN)/stellwerk faults --topology $$t || exit; done
	$(BIN)/python tests/bench/kill_soak.py --rounds 100
	$(BIN)/python tests/bench/gateway_soak.py

bench: $(VENV)/.test
	$(BIN)/python tests/bench/rpc_roundtrip.py
	$(BIN)/python tests/bench/agent_idle.py
	$(BIN)/python tests/bench/virtual_start.py
	$(BIN)/python tests/bench/eight_nodes.py
	$(BIN)/python tests/bench/telemetry_load.py
	$(BIN)/python tests/bench/decide.py
	$(BIN)/python tests/bench/collectives.py --tune
	$(BIN)/python tests/bench/torch_backend.py
	$(BIN)/python tests/bench/window.py
	$(BIN)/python tests/bench/gateway.py

# Libraries for both processor families, to be carried in wheels and in what is sent to nodes.
prebuilt: $(VENV)/.test
	$(BIN)/python -m stellwerk.remote.runtime prebuild

system-run:
	@scripts/system-packages.sh run

system-test:
	@scripts/system-packages.sh test

$(BIN)/python:
	@scripts/check-python.sh $(PYTHON)
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip "setuptools>=77" wheel

$(VENV)/.run: pyproject.toml $(wildcard setup.py) $(wildcard core/stellwerk/*/native/*.[ch]) $(wildcard core/stellwerk/*/*/native/*.[ch]) | $(BIN)/python
	$(PIP) --editable '.[gui,serving]'
	@touch $@

$(VENV)/.test: $(VENV)/.run pyproject.toml
	$(PIP) --editable '.[gui,serving,switchyard,test]'
	$(PIP) 'torch==2.13.0'
	@touch $@

clean:
	rm -rf $(VENV) $(OUT) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find core agent gui resources -name '*.so' -delete
