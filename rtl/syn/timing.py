#!/usr/bin/env python3
"""The longest paths of the card's blocks, in LUT levels for UltraScale+.

    rtl/syn/setup.sh && target/syn-venv/bin/python rtl/syn/timing.py [--top NAME ...] [--config u50 board128] [--paths 20]

Each block, with what it has of a configuration's parameters (../configs.toml), is mapped by yosys, flattened, and every path from a register, memory or pin to the next is measured (levels.py).
A configuration that is not measured block by block is so as a whole, where --top does not say what of it.
With the control processor's core in $WEFT_IBEX (rtl/control/setup.sh), it may be one of those that have one.
A LUT, and each 8 bits of a carry chain, is one level; MUXF7 and MUXF8 stand in the LUT's slice and are none. The rules:

    levels   a path from register to register, at most 8
    memory   from a block RAM's output, at most 3
    loop     from a bit of a register back to the same register, in a cycle of its bits, at most 6
    pin      from or to a port of the card, at most 2, and none from a port to a memory's enable; blocks inside may have more

Columns: the worst of each kind, memories whose enable a port reaches, registers and memories at the end of more than 8 levels,
and an estimate of the worst path in ns. Another script of the mapper finds another netlist: with --mapping own it is yosys' own one, which takes
longer; its rows are "NAME, own", recorded and gated by themselves. So a block holds its rules by both. timing.json is the last recorded table; --record writes it. --gate ends with status 1
if the card breaks a rule, a block does beyond what is recorded of it, or one has become worse in levels, memory, loop or over 8.
--paths adds the worst of each kind by name.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import levels
import synth
from configs import CONFIGS, WITH_PROCESSOR, Config, measured

RECORDED = pathlib.Path(__file__).with_name("timing.json")

BLOCKS = [
    "rx_parse", "rx_lookup", "rx_store", "rx_flow_state", "rx_dispatch", "rx_payload", "rx_output", "walk_framer", "walk_pack", "rq_element", "rx_walk",
    "weft_tx", "card_regs", "counters", "dma_read", "dma_write", "report_writer", "report_ahead", "reset_drain", "msix_table", "mac_loopback", "observe",
]
# Of which all these are blocks.
WHOLE = ["weft_card", WITH_PROCESSOR]
# Of a block with two clocks, what belongs to the card's. The rules are not for the processor, which has its own.
CLOCK = {WITH_PROCESSOR: "clk_i"}
# Modules of board wrappers: files that are not the card's.
FILES = {"msix_table": ["host/msix_table.sv"]}
# Blocks that are mapped in seconds and are in no other one's netlist: with --quick.
QUICK = ["rx_lookup", "rx_store", "rx_dispatch", "rx_payload", "rx_output", "walk_framer", "walk_pack", "rq_element", "card_regs",
         "dma_read", "dma_write", "report_writer", "report_ahead", "reset_drain", "msix_table", "mac_loopback"]

QUICKLY = "u50"

# Columns that may not become worse, each with its rule.
RULES = {"levels": levels.LEVELS, "memory": levels.MEMORY, "loop": levels.LOOP, "over": 0}


def breaks(top: str, row: dict, before: dict | None) -> list[str]:
    """Which rules a row breaks, and in what it is worse than the recorded one. A block that was recorded beyond a rule may stay there: the card may not."""
    card = top in WHOLE
    rules = {**RULES, "pin": levels.PIN, "enables": 0} if card else RULES
    kept = before if before and not card else {}
    most = {column: max(limit, kept.get(column, limit)) for column, limit in rules.items()}
    found = [f"{column} {row[column]} (at most {limit})" for column, limit in most.items() if row[column] > limit]
    if before:
        found += [f"{column} {row[column]} (recorded {before[column]})" for column, limit in rules.items() if before[column] < row[column] <= limit]
    return found


def usual(config: Config) -> list[str]:
    """What is measured of a configuration where nothing is asked for."""
    return BLOCKS if config.name in measured("levels") else [config.top]


def key(top: str, config: Config) -> str:
    """The name of a row: of a block that knows no width alone, of one of the recorded configurations with its width, of another with its name."""
    parameters = config.of(top)
    if config.name in measured("levels"):
        return f"{top} {config.width}" if "DATA_W" in parameters else top
    return f"{top} {config.name}" if parameters else top


def mapping(top: str, own: bool = False) -> list[str]:
    """The commands that map what was read; `own`: by yosys' own script for ABC."""
    whole = synth.SYNTHESIS["xcup"].format(top=top)
    return [
        *(f"scratchpad -set abc9.{name}" for name in (["verify 0"] if own else synth.QUICKER)),
        f"{whole} -run begin:map_cells",
        "rename -wire t:$_*DFF*",  # levels.py knows registers by these names
        f"{whole} -run map_cells:",
    ]


def map_block(top: str, parameters: dict, own: bool, out: str) -> None:
    """Runs in a process of its own: a pass that fails ends the process."""
    from pyosys import libyosys

    os.chdir(synth.RTL)
    design = libyosys.Design()
    for command in (
        synth.read(top, parameters, os.path.dirname(out), FILES.get(top, ())),
        *mapping(top, own),
        f"select {top}",
        f"write_json -selected {out}",
    ):
        libyosys.run_pass(command, design)


def measure(top: str, parameters: dict, own: bool, log: pathlib.Path, paths: int) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        netlist = f"{folder}/{top}.json"
        child = [sys.executable, __file__, "--child", json.dumps([top, parameters, own, netlist])]
        with log.open("w") as output:
            done = subprocess.run(child, stdout=output, stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            raise RuntimeError(f"{top}: yosys failed, see {log}")
        return levels.report(netlist, paths, CLOCK.get(top))


def main() -> int:
    parser = argparse.ArgumentParser(description="The longest paths of the card's blocks, in LUT levels.")
    parser.add_argument("--top", nargs="*", help="these, of the list or any other module (the whole card only so)")
    parser.add_argument("--config", nargs="*", choices=list(CONFIGS), metavar="NAME", help=f"of {', '.join(CONFIGS)}; else {', '.join(measured('levels'))}")
    parser.add_argument("--quick", action="store_true", help=f"the blocks that take seconds, of {QUICKLY}")
    parser.add_argument("--mapping", choices=["quicker", "own"], default="quicker", help="the mapper's script")
    parser.add_argument("--paths", type=int, default=0, help="print so many of the worst families of paths of each kind")
    parser.add_argument("--record", action="store_true", help="write what was measured to timing.json")
    parser.add_argument("--gate", action="store_true", help="end with status 1 if a block breaks a rule or is worse than recorded")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--logs", type=pathlib.Path, default=synth.RTL.parent / "target/syn", help="folder for yosys' logs")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        map_block(*json.loads(options.child))
        return 0
    options.logs.mkdir(parents=True, exist_ok=True)
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    names = options.config or ([QUICKLY] if options.quick else measured("levels"))
    # What configurations have in common is measured once.
    work = {}
    for config in (CONFIGS[name] for name in names):
        for top in options.top or (QUICK if options.quick else usual(config)):
            work.setdefault(key(top, config), (top, config))
    wrong = False
    own = options.mapping == "own"
    suffix = ", own" if own else ""
    print(f"{'block':<14}{'bits':>5}{'levels':>8}{'memory':>8}{'loop':>6}{'pin':>5}{'enables':>9}{'over 8':>8}{'of':>8}{'ns':>6}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        results = {name: pool.submit(measure, top, config.of(top), own, options.logs / f"levels-{name.replace(' ', '-')}{suffix[2:]}.log", options.paths)
                   for name, (top, config) in work.items()}
        for name, result in results.items():
            row = result.result()
            top, _, of = name.partition(" ")
            name += suffix
            found = breaks(top, row, recorded.get(name))
            wrong |= bool(found)
            print(f"{top:<14}{of:>5}{row['levels']:>8}{row['memory']:>8}{row['loop']:>6}{row['pin']:>5}{row['enables']:>9}{row['over']:>8}"
                  f"{row['endpoints']:>8}{row['ns']:>6.1f}  {', '.join(found)}", flush=True)
            for line in row.pop("paths"):
                print("    " + line)
            recorded[name] = row
    if options.record:
        RECORDED.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
    return 1 if options.gate and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
