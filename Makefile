# The one entry point for those who work on lextrace; `make help` lists what it does.
PYTHON ?= python3

.DEFAULT_GOAL := help
.PHONY: help build test demo bench lint fuzz docs clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.* ## /  make \1\t/p' Makefile | expand -t 16

build: ## lextrace in .venv/bin, with its extension for every Python found from 3.11 up
	@tools/packages.sh build
	@$(PYTHON) tools/build.py

test: ## all tests: C, Python on each interpreter, sanitizers, the fuzzers' corpora
	@tools/packages.sh test
	@$(PYTHON) tools/test.py

demo: build ## trace a real program from PyPI, print the hotspots, write a file for Perfetto
	@tools/demo.sh

bench: build ## measure lextrace against the untraced program, the floors and other tools
	@.venv/bin/python bench/run.py

lint: ## includes, sizes, scripts and Python style
	@$(PYTHON) tools/lint.py

fuzz: ## run each fuzzer for FUZZ_SECONDS (60)
	@tools/packages.sh fuzz
	@$(PYTHON) tools/fuzz.py

docs: build ## write docs/cli.md and docs/format.md from the tables
	@$(PYTHON) tools/cli_page.py .venv/bin/lextrace docs/cli.md
	@$(PYTHON) tools/format_doc.py

clean: ## remove all that was built
	rm -rf build .venv .venvs demo
