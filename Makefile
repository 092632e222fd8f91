# The entry doors. `make demo` and `make test` are the two that a newcomer needs; each makes what it needs.
# Everything is built inside .venv/ and build/; nothing that git tracks changes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILD := build
BENCHMARKS := scheduler open_loop coroutine histogram context lookup event_queue agent_sim
BENCHMARKS := $(foreach name,$(BENCHMARKS),$(basename $(notdir $(wildcard benchmarks/$(name).py))))
C_SOURCES := $(wildcard runtime_c/src/*.[ch] runtime_c/src/sim/*.[ch] runtime_c/include/*.h runtime_c/CMakeLists.txt runtime_c/*.py)
# What the tests need from the system beside python3, gcc and make: command or file -> Debian package.
SYSTEM_PACKAGES := chromium:chromium hyperfine:hyperfine jq:jq /usr/include/tbb/task_arena.h:libtbb-dev \
	pdftotext:poppler-utils valgrind:valgrind

# Builds and runs the C tests of one kind (none, address, thread) in a build folder of its own.
define c_tests
@PATH="$(CURDIR)/$(BIN):$$PATH"; export PATH; \
cmake -S runtime_c -B $(BUILD)/c-$(1) -DTALLYMARK_SANITIZE=$(1) -DTALLYMARK_WERROR=ON >/dev/null \
	&& cmake --build $(BUILD)/c-$(1) --parallel 2 >/dev/null \
	&& ctest --test-dir $(BUILD)/c-$(1) --output-on-failure --no-tests=error
endef

# The C runtime's Python tests with the extension module of a sanitizer build: real runs, refusals, signals, fork.
# $(1) the build, $(2) the sanitizer's library, which must be there before Python is.
EXTENSION_TESTS := tests/sanitizers $(filter-out %/test_build.py %/test_options.py,$(wildcard tests/runtime/test_*.py))
define extension_tests
@PATH="$(CURDIR)/$(BIN):$$PATH"; export PATH; \
cmake -S runtime_c -B $(BUILD)/c-$(1) -DTALLYMARK_SANITIZE=$(1) -DTALLYMARK_WERROR=ON \
		-DTALLYMARK_EXTENSION=ON -DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" >/dev/null \
	&& cmake --build $(BUILD)/c-$(1) --target _runtime --parallel 2 >/dev/null \
	&& python=$$($(BIN)/python runtime_c/sanitized_python.py $(BUILD)/c-$(1)) \
	&& TALLYMARK_SANITIZE=$(1) LD_PRELOAD="$$(gcc -print-file-name=$(2))" PYTHONMALLOC=malloc \
		ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:strict_string_checks=1 \
		UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1:allocator_may_return_null=1 \
		"$$python" -m pytest -p no:cacheprovider -m "not plain_build" $(EXTENSION_TESTS)
endef

.PHONY: help install demo test check lint layers c-test sanitize sanitize-extension python-test system-packages cases benchmark \
	$(BENCHMARKS:%=benchmark-%) screenshots ab-libraries clean

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## make install              .venv with tallymark, its runtime and its site builder
install: $(VENV)/.installed

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "make: python3 >= 3.11 is needed; set PYTHON=/path/to/python3.11" >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml $(C_SOURCES)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all]'
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all,test]'
	@touch $@

## make demo                 run a small suite here, check, tabulate, build the site, recount it
demo: install
	@$(BIN)/tallymark demo

## make test                 everything: lint, types, layers, C, sanitizers, Python, browser, packaging
test: system-packages $(VENV)/.installed-test lint c-test sanitize python-test

## make check                the same as make test: one truth for what green means
check: test

## make lint                 ruff format and lint, mypy --strict, the layers of the package
lint: $(VENV)/.installed-test
	@$(BIN)/ruff format --check --quiet . && $(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

## make c-test               the C tests
c-test: $(VENV)/.installed-test
	$(call c_tests,none)

## make sanitize             C tests and the extension under AddressSanitizer+UBSan and ThreadSanitizer, with canaries
sanitize: $(VENV)/.installed-test
	$(call c_tests,address)
	$(call c_tests,thread)
	$(call extension_tests,address,libasan.so)
	$(call extension_tests,thread,libtsan.so)

## make sanitize-extension   of that, the extension alone
sanitize-extension: $(VENV)/.installed-test
	$(call extension_tests,address,libasan.so)
	$(call extension_tests,thread,libtsan.so)

## make python-test          the Python, browser and packaging tests
python-test: system-packages $(VENV)/.installed-test
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pytest

## make cases CASES=DIR      the external case files in DIR (badjson/, statistics.json)
cases: $(VENV)/.installed-test
	@test -d "$(CASES)" || { echo "make cases: CASES=$(CASES) is not a directory" >&2; exit 2; }
	@TALLYMARK_CASES="$(abspath $(CASES))" $(BIN)/pytest tests/cases

## make ab-libraries         a second build of the runtime, with LTO, for examples/ab.toml
ab-libraries: $(VENV)/.installed-test
	@PATH="$(CURDIR)/$(BIN):$$PATH"; export PATH; \
	cmake -S runtime_c -B $(BUILD)/ab/lto -DSKBUILD=ON -DTALLYMARK_LTO=ON \
		-DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" >/dev/null \
		&& cmake --build $(BUILD)/ab/lto --parallel 2 >/dev/null

## make benchmark-NAME       one benchmark: scheduler, open_loop, coroutine, histogram, context, lookup, event_queue, agent_sim
$(BENCHMARKS:%=benchmark-%): benchmark-%: system-packages install
	@$(BIN)/python benchmarks/$*.py --out $(BUILD)/benchmarks/$*.json

.PHONY: benchmark-agent-sim
benchmark-agent-sim: benchmark-agent_sim
benchmark benchmark-agent_sim: $(VENV)/.installed-test # simpy is of the extra "test"

## make benchmark            all benchmarks, one after the other (14 minutes at most)
benchmark: system-packages install
	@for name in $(BENCHMARKS); do \
		$(BIN)/python benchmarks/$$name.py --out $(BUILD)/benchmarks/$$name.json || exit $$?; \
	done

## make screenshots          the pictures of the README, from the built site
screenshots: install
	@$(BIN)/tallymark site screenshot --page reports/runtime-scale.html --width 1280 --height 1500 --out site/readme.png

# As root on Debian the missing packages are installed; otherwise they are named and make stops.
system-packages:
	@missing=""; \
	for pair in $(SYSTEM_PACKAGES); do \
		need=$${pair%%:*}; package=$${pair##*:}; \
		case $$need in /*) test -e $$need;; *) command -v $$need >/dev/null;; esac \
			|| missing="$$missing $$package"; \
	done; \
	test -z "$$missing" && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing$$missing" >&2; \
		{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y $$missing; } >/dev/null; \
	else \
		echo "make: the tests need$$missing (Debian packages). Run: sudo apt-get install$$missing" >&2; exit 2; \
	fi

## make clean                remove build/ (not .venv/)
clean:
	rm -rf $(BUILD)
