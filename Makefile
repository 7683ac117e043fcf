# The two commands of the README, and the longer checks that CI adds. Everything they build goes to target/.

.PHONY: help demo test test-vfio test-peer lanes lint synth prove firmware setup clean

# The Python environment of the RTL's scripts.
SYN_PYTHON := target/syn-venv/bin/python

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST)

demo: setup ## build, then connect two simulated cards twelve ways and move verified data
	cargo run -p weft-sim --bin weft -- demo

test: setup ## every test: units, full stack, conformance, bad input
	cargo test --workspace

test-vfio: lanes ## the driver under a Linux guest's VFIO, on cards served by vfio-user
	cargo run -q -p weft-lanes --bin vfio_lane

test-peer: lanes ## Linux soft-iWARP (siw) in a guest against a simulated card
	cargo run -q -p weft-lanes --bin peer_lane

lanes: setup
	@./setup.sh guest
	cargo build -p weft-sim -p weft-lanes

lint: setup $(SYN_PYTHON) ## rustfmt, clippy, verilator -Wall, slang
	cargo fmt --all --check
	cargo clippy -q --workspace --all-targets -- -D warnings
	$(SYN_PYTHON) rtl/syn/lint.py

synth: $(SYN_PYTHON) ## yosys for UltraScale+ and ECP5, cell counts printed
	$(SYN_PYTHON) rtl/syn/synth.py

prove: $(SYN_PYTHON) ## proofs of RTL blocks, and that each proof can fail
	$(SYN_PYTHON) rtl/formal/prove.py

firmware: ## the engine for riscv32imc, without an operating system
	firmware/build-riscv.sh

setup:
	@./setup.sh

$(SYN_PYTHON):
	@./setup.sh python
	rtl/syn/setup.sh

clean: ## remove everything that was built
	rm -rf target
