# The two commands of the README, and the longer checks that CI adds. Everything they build goes to target/.

.PHONY: help demo test lint synth prove firmware setup clean

SYN_PYTHON := target/syn-venv/bin/python

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST)

demo: setup ## build, then connect two simulated cards twelve ways and move verified data
	cargo run -q -p weft-sim --bin weft -- demo

test: setup ## every test: units, full stack, conformance, bad input
	cargo test --workspace

lint: setup ## rustfmt, clippy, verilator -Wall, slang
	cargo fmt --all --check
	cargo clippy -q --workspace --all-targets -- -D warnings
	rtl/syn/setup.sh
	$(SYN_PYTHON) rtl/syn/lint.py

synth: setup ## yosys for UltraScale+ and ECP5, cell counts printed
	rtl/syn/setup.sh
	$(SYN_PYTHON) rtl/syn/synth.py

prove: setup ## proofs of RTL blocks, and that each proof can fail
	rtl/syn/setup.sh
	$(SYN_PYTHON) rtl/formal/prove.py

firmware: ## the engine for riscv32imc, without an operating system
	firmware/build-riscv.sh

setup:
	@./setup.sh synth

clean: ## remove everything that was built
	rm -rf target
