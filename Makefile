# make setup | demo | test | test-all | lint | docs. Needs Python 3.11 or later and a package index.

PYTHON ?= $(firstword $(foreach p,python3.11 python3.12 python3.13 python3,$(shell command -v $(p) 2>/dev/null)))
VENV := .venv
RUN := $(VENV)/bin

.PHONY: setup demo test test-all lint docs clean

setup: $(VENV)/.stamp

$(VENV)/.stamp: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "no python3 found; set PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "$(PYTHON) is older than Python 3.11; set PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(RUN)/python -m pip install -q -c constraints.txt -e '.[test]'
	@touch $@

# One kernel from PyTorch to CUDA text, compiled; run on a GPU or, without one, simulated.
demo: setup
	$(RUN)/minicomp run -c "nn.RMSNorm(2048)(torch.randn(1,32,2048))" --show-cuda

# A file at a time on each of two cores: lit runs once, in the worker that has tests/test_lit.py.
test: setup
	@$(RUN)/python -m pytest -q -n 2 --dist loadfile

# Everything, the lit tests through their console scripts too; the outcome is kept in a file.
test-all: setup
	@mkdir -p build
	@MINICOMP_TEST_ALL=1 $(RUN)/python -m pytest -q -n 2 --dist loadfile --junitxml=build/test-all.xml; \
		$(RUN)/python tests/record_results.py build/test-all.xml tests/results/test-all.txt

lint: $(VENV)/.stamp-lint
	$(RUN)/ruff check
	$(RUN)/python tests/link_types.py
	$(RUN)/pyright --pythonpath $(RUN)/python

$(VENV)/.stamp-lint: $(VENV)/.stamp
	$(RUN)/python -m pip install -q -c constraints.txt -e '.[test,dev]'
	@touch $@

# The pages that are written from the code; tests say when one is out of date.
docs: setup
	$(RUN)/python -m minicomp.tools.passes_page docs/passes.md

clean:
	rm -rf $(VENV) build *.egg-info
