# Everything runs in .venv, which the first target sets up. PYTHON=... chooses another interpreter (3.11 or newer).
PYTHON ?= $(shell for p in python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
READY := .venv/ready
WORKERS ?= 2

.PHONY: demo test lint types check bench docs site clean

demo: $(READY)
	$(BIN)/gpunet optimize cases/guide-256.yaml -o out/guide-256

test: $(READY)
	$(BIN)/pytest -n $(WORKERS)

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

# mypy follows files, not the redirection of an editable install: it is given a plain copy of the package.
types: $(READY)
	rm -rf build/types
	$(BIN)/pip install --quiet --no-deps --target build/types .
	cd build/types && ../../$(BIN)/mypy --config-file ../../pyproject.toml -p gpunet

check: lint types test

bench: $(READY)
	$(BIN)/python benchmarks/run.py

# Rewrites the pages that are generated from the code, and runs the example notebook.
docs: $(READY)
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/run_notebook.py

# The documentation as a site, in build/site. Every link within it must lead somewhere.
site: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

clean:
	rm -rf .venv build dist out *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "gpunet needs Python 3.11 or newer; name it with make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@
