# The two commands of the README, and the longer checks that CI adds. Everything they build goes to target/.

.PHONY: help demo test explore artifact rungs test-vfio test-peer lanes c-programs fast cost lint format integrate synth area timing route bitstream u50 prove mutants coverage doc book tutorials package aarch64 device-only firmware processor setup clean

# The Python environment of the RTL's scripts.
SYN_PYTHON := target/syn-venv/bin/python

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST)

demo: ## build, then connect two simulated cards twelve ways and move verified data
	@./setup.sh demo
	cargo weft demo

test: setup ## every test: units, full stack, conformance, bad input
	WEFT_TEST_LIMIT=$${WEFT_TEST_LIMIT:-600} cargo test --workspace --features weft-command/sim

explore: ## the hand-over of a flow between card and engine in all orders of events (EXPLORE=--larger: hours)
	cargo run -q -p weft-explore -- $(EXPLORE)

ARTIFACTS := -q -p weft-command --features weft-command/sim -p weft-sim -p weft-tests -p weft-artifact --bins --examples
artifact: setup ## the book's simulated results to target/artifact, each with a verdict (ARTIFACT=sample, --shard 3/8, --verdict, --again): docs/partitions.md
	cargo build $(ARTIFACTS)
	target/debug/weft-artifact $(ARTIFACT)

rungs: setup ## the full-stack suites at rungs that they do not have by themselves (RUNGS="host host,placement", RUNGS=firmware, SAMPLE=N): .ci/rungs
	.ci/rungs

test-vfio: lanes ## the driver under a Linux guest's VFIO, on cards served by vfio-user
	cargo run -q --bin vfio_lane --features weft-command/sim

test-peer: lanes ## Linux soft-iWARP (siw) in a guest against a simulated card
	cargo run -q --bin peer_lane --features weft-command/sim

lanes: setup
	@./setup.sh guest
	cargo build --workspace --features weft-command/sim --bin weft --bin vfio_lane --bin peer_lane --bin weft-guest-agent --bin weft-say-no

# Their libraries with them; nothing is installed.
C_PROGRAMS := ibverbs-utils rdmacm-utils perftest fio libibverbs1 librdmacm1 ibverbs-providers libibumad3 libnl-3-200 libnl-route-3-200 libpci3 \
	libfabric1 libgfxdr0 libglusterfs0 libgfrpc0 libgfapi0 libnbd0 libdaxctl1 libndctl6 libpmem1 libpmemblk1 libboost-thread1.74.0 libfmt9 librados2 librbd1 \
	libaio1 libnuma1 libcurl3-gnutls libibverbs-dev librdmacm-dev libfabric-bin libpsm-infinipath1 libpsm2-2 python3-pyverbs
c-programs: setup ## Debian's programs for libibverbs and librdmacm, unmodified, on two simulated cards (docs/c-programs.md)
	hostdrv/c/unpack.sh $(C_PROGRAMS)
	hostdrv/c/bindings.sh --check
	cc -Wall -Wextra -Werror -Itarget/c-programs/usr/include hostdrv/c/tests/extended.c -o target/c-programs/usr/bin/extended \
		-Ltarget/c-programs/usr/lib/x86_64-linux-gnu -lrdmacm -libverbs -Wl,--allow-shlib-undefined
	cp hostdrv/c/tests/*.sh target/c-programs/usr/bin
	ln -sf libpsm_infinipath.so.1.16 target/c-programs/usr/lib/libpsm1/libpsm_infinipath.so.1
	cargo build -q -p weft-rdma -p weft-command --features weft-command/sim
	cargo test -q -p weft-rdma --test programs --test layouts -- --include-ignored

cost: export WEFT_NO_RTL := 1
cost: setup ## instructions of a post and its poll, of the engine for each segment, and bytes for each connection: tables (COST=--gate: above a bar fails)
	@./setup.sh cost
	cargo bench -q -p weft-hostdrv --bench post_poll -- $(COST)
	cargo bench -q -p weft-rdma --bench post_poll -- $(COST)
	cargo bench -q -p weft-hostdrv --bench registering -- $(COST)
	cargo bench -q -p weft-engine --bench cost -- $(COST)
	cargo bench -q -p weft-sim --bench host_steps -- $(COST)

FAST := $(CURDIR)/target/fast
CARDS := rtl512 rtl256 rtl128
# Of the program that is kept: the ones before it only count.
FAST_BUILD := CARGO_PROFILE_DEV_OPT_LEVEL=3 CARGO_PROFILE_DEV_LTO=thin CARGO_PROFILE_DEV_CODEGEN_UNITS=1 CARGO_PROFILE_DEV_DEBUG_ASSERTIONS=false \
	CARGO_PROFILE_DEV_OVERFLOW_CHECKS=false RUSTFLAGS=-Clink-arg=-Wl,--emit-relocs CARGO_TARGET_DIR=$(FAST)
BOLT := /usr/lib/llvm-19/bin
bolt = $(BOLT)/$(1) > $(FAST)/bolt.log 2>&1 || { cat $(FAST)/bolt.log; false; }
fast: export CXX := clang++-19
fast: export RTL_SIM_TRACE := 0
fast: export RTL_SIM_ASSERT := 0
# Vectors as long as a beat, where the processor has them: clang would keep to half.
fast: export RTL_SIM_CFLAGS := -march=native -mprefer-vector-width=512
fast: export WEFT_CARD_OBSERVE := 0
fast: setup ## target/fast/weft, whose simulation is faster: made for its own profile and this processor, without waves, assertions, trace and capture
	@./setup.sh fast
	RTL_SIM_PROFILE=count CARGO_TARGET_DIR=$(FAST)/count cargo build -q -p weft-command --features weft-command/sim
	rm -f $(FAST)/*.profraw $(FAST)/*.fdata
	for card in $(CARDS); do LLVM_PROFILE_FILE=$(FAST)/$$card.profraw $(FAST)/count/debug/weft perf --card $$card > /dev/null || exit 1; done
	llvm-profdata-19 merge -o $(FAST)/weft.profdata $(FAST)/*.profraw
	RTL_SIM_PROFILE=$(FAST)/weft.profdata $(FAST_BUILD) cargo build -q -p weft-command --features weft-command/sim
	$(call bolt,llvm-bolt $(FAST)/debug/weft -instrument -instrumentation-file=$(FAST)/counts -o $(FAST)/counting)
	for card in $(CARDS); do $(FAST)/counting perf --card $$card > /dev/null && mv $(FAST)/counts $(FAST)/$$card.fdata || exit 1; done
	$(call bolt,merge-fdata -o $(FAST)/weft.bolt $(FAST)/*.fdata)
	$(call bolt,llvm-bolt $(FAST)/debug/weft -data=$(FAST)/weft.bolt -reorder-blocks=ext-tsp -reorder-functions=cdsort -split-functions -split-all-cold -icf=1 -o $(FAST)/weft)

lint: setup $(SYN_PYTHON) ## rustfmt, clippy, the form of the RTL, verilator -Wall, slang
	cargo fmt --all --check
	cargo clippy -q --workspace --all-targets --features weft-command/sim -- -D warnings
	cargo clippy -q -p weft-command --all-targets -- -D warnings
	$(SYN_PYTHON) rtl/syn/format.py --check
	$(SYN_PYTHON) rtl/syn/lint.py
	$(SYN_PYTHON) rtl/syn/integration.py
	$(SYN_PYTHON) rtl/boards/alveo_u50/rehearsal/rehearse.py

format: $(SYN_PYTHON) ## Rust and SystemVerilog in their one form
	cargo fmt --all
	$(SYN_PYTHON) rtl/syn/format.py

# Its own environment, as the book's.
INTEGRATE := target/integrate-venv
integrate: ## the card by FuseSoC (weft.core) and in LiteX, elaborated
	@./setup.sh python
	@[ -x $(INTEGRATE)/bin/python ] || python3 -m venv $(INTEGRATE)
	@$(INTEGRATE)/bin/pip install -q --disable-pip-version-check -r rtl/boards/litex/requirements.txt
	mkdir -p target/integrate
	for target in lint lint_template; do (cd target/integrate && $(CURDIR)/$(INTEGRATE)/bin/fusesoc --cores-root $(CURDIR)/rtl run --target $$target weft) || exit 1; done
	$(INTEGRATE)/bin/python rtl/boards/litex/weft_litex.py

synth: $(SYN_PYTHON) ## yosys for UltraScale+ and ECP5, cell counts printed
	$(SYN_PYTHON) rtl/syn/synth.py

area: $(SYN_PYTHON) ## the card block by block for UltraScale+, growth beyond what is recorded fails (AREA="--config u50" for another card)
	$(SYN_PYTHON) rtl/syn/area.py --gate $(or $(AREA),--config small)

timing: $(SYN_PYTHON) ## LUT levels of the card's blocks at 512 and 128 bits, a broken rule or a worse block fails (TIMING=--quick for less, "--mapping own" for the other script of the mapper)
	$(SYN_PYTHON) rtl/syn/timing.py --gate $(TIMING)

route: $(SYN_PYTHON) ## the transmit path placed and routed for ECP5, its clock printed (TOP=weft_rx for another block)
	$(SYN_PYTHON) rtl/syn/route.py --top $(or $(TOP),weft_tx)

bitstream: $(SYN_PYTHON) ## the ECPIX-5 by open tools, to target/ecpix5/weft.bit, with its report (BITSTREAM="--seeds 4 5")
	$(SYN_PYTHON) rtl/boards/ecpix5/build.py $(BITSTREAM)

u50: ## the Alveo U50 by Vivado, to target/u50 (STEP=project, synth, impl or bit; U50="NUM_FLOWS=256"): docs/boards.md
	mkdir -p target/u50
	vivado -mode batch -nojournal -log target/u50/vivado.log -source rtl/boards/alveo_u50/build.tcl -tclargs target/u50 STEP=$(or $(STEP),bit) $(U50)

prove: $(SYN_PYTHON) ## proofs of RTL blocks, and that each proof can fail (PROVE="--faults 1" for less)
	$(SYN_PYTHON) rtl/formal/prove.py $(PROVE)

mutants: setup ## faults planted in a copy of the sources: each has to be caught by a test (MUTANTS="--sample 12" for fewer)
	cargo run -q -p weft-mutants -- $(MUTANTS)

coverage: export RTL_SIM_COVERAGE := 1
coverage: export RTL_SIM_TRACE := 0
coverage: export RTL_SIM_COVERAGE_DIR := $(CURDIR)/target/coverage/counts
coverage: export CARGO_TARGET_DIR := $(CURDIR)/target/coverage
coverage: setup ## lines of the RTL that the tests reach, and the points of the card that they meet
	rm -rf $(RTL_SIM_COVERAGE_DIR)
	mkdir -p $(RTL_SIM_COVERAGE_DIR)
	cargo test -q -p weft-sim -p weft-module-tests
	cargo run -q -p rtl-sim --bin rtl-coverage -- $(RTL_SIM_COVERAGE_DIR) weft_card weft_tx=u_core.u_tx rx_walk=u_core.u_rx.u_walk dma_read=u_core.u_host.u_dma_read dma_write=u_core.u_host.u_dma_write

doc: setup ## the crates' documentation, without a warning
	RUSTDOCFLAGS="-D warnings" cargo doc -q --workspace --no-deps --features weft-command/sim

# Its own environment: the scripts of the RTL want other versions.
BOOK := target/book-venv
book: ## the book as a site with search, target/book/start-here.html: a link that leads nowhere, a stale table or more words than before fail
	@./setup.sh python
	@[ -x $(BOOK)/bin/python ] || python3 -m venv $(BOOK)
	@$(BOOK)/bin/pip install -q --disable-pip-version-check -r docs/site/requirements.txt
	docs/site/generate.py
	docs/site/words.py --gate
	$(BOOK)/bin/sphinx-build -q -W --keep-going -b html -c docs/site docs target/book

tutorials: setup ## the commands that the book shows, each page from an empty folder (WEFT_WRITE_PAGE=1 renews what they print)
	cargo test -q -p weft-command --features sim --test command tutorials -- --include-ignored

package: ## the crates as they would be published, each built from its package
	.ci/package

aarch64: ## the command, driver, engine and simulator checked for 64-bit ARM
	.ci/aarch64

device-only: ## the command for a card where there is no Verilator and no Python
	.ci/device-only

firmware: ## the engine for riscv32imc, without an operating system; its size and stack printed
	firmware/build-riscv.sh

FIRMWARE := riscv32imc-unknown-none-elf/release/weft-firmware-card
# One choice of packages here and in .ci/rungs, so that the card with its processor is built once.
WITH_PROCESSOR := -q -p weft-processor-tests -p weft-tests -p weft-command --features weft-command/sim --test processor --test command
# The tutorials' figures are of cards without one.
processor: setup $(SYN_PYTHON) ## the control processor in RTL, with its firmware: its core is installed, its tests are run
	@./setup.sh python
	firmware/build-riscv.sh card
	export WEFT_IBEX="$$(rtl/control/setup.sh)" WEFT_FIRMWARE=$(CURDIR)/target/riscv/card/$(FIRMWARE) \
		WEFT_FIRMWARE_ENGINE=$(CURDIR)/target/riscv/card-engine/$(FIRMWARE) && \
	$(SYN_PYTHON) rtl/syn/lint.py --processor && \
	cargo test $(WITH_PROCESSOR) -- --skip tutorials && cargo clippy $(WITH_PROCESSOR) $(foreach example,$(basename $(notdir $(wildcard tests/processor/examples/*.rs))),--example $(example)) -- -D warnings

setup:
	@./setup.sh

$(SYN_PYTHON):
	@./setup.sh python
	rtl/syn/setup.sh

clean: ## remove everything that was built
	rm -rf target
