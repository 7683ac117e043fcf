#!/usr/bin/env python3
"""The size of the card, block by block, for each data width and number of flows.

    rtl/syn/setup.sh && target/syn-venv/bin/python rtl/syn/area.py [--target xcup ecp5] [--width 128 256 512] [--flows 64 1024 4096] [--blocks rx_walk ...]

Each block is synthesized by itself (synth.py); NUM_STAGS is four times NUM_FLOWS. The last row of a size is the sum: what
stands between the blocks, some registers, is not in it. Columns as in synth.py.

area.json holds what was recorded, and is the limit: --gate ends with status 1 if a block has over 5 % more of anything than
recorded, and --record writes it. A latch is an error.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import sys

import synth

RECORDED = pathlib.Path(__file__).with_name("area.json")
WIDTHS = [128, 256, 512]
FLOWS = [64, 1024, 4096]
GROWTH = 1.05
# Less than this is nothing: the mapper's own changes.
SLACK = {"lut": 50, "ff": 20, "lutram": 8, "bram": 0, "dsp": 0}

# Block -> which of the card's parameters it has. Together they are weft_card.
BLOCKS = {
    "rx_parse": ["DATA_W"],
    "rx_store": ["DATA_W"],
    "rx_payload": ["DATA_W"],
    "rx_replay": ["DATA_W"],
    "rx_lookup": ["NUM_FLOWS"],
    "rx_flow_state": ["NUM_FLOWS"],
    "rx_dispatch": [],
    "rx_walk": ["DATA_W", "NUM_FLOWS", "NUM_STAGS"],
    "rx_output": ["DATA_W"],
    "weft_tx": ["DATA_W", "NUM_FLOWS", "NUM_STAGS"],
    "card_regs": ["DATA_W", "NUM_FLOWS", "NUM_STAGS"],
    "dma_read": ["DATA_W"],
    "dma_write": ["DATA_W"],
    "report_writer": ["DATA_W"],
    "report_ahead": ["DATA_W"],
    "reset_drain": ["DATA_W"],
    "observe": ["DATA_W"],      # with the counters
    "mac_loopback": ["DATA_W"],
}
# With the control processor's core in $WEFT_IBEX: what the card has more with it, but for multiplexers and registers around it.
if os.environ.get("WEFT_IBEX"):
    BLOCKS["control_clock"] = ["DATA_W"]
# What it has there: a clock of its own.
FIXED = {"control_clock": {"CLOCK_DIV": 4}}


def parameters(block: str, width: int, flows: int) -> dict:
    size = {"DATA_W": width, "NUM_FLOWS": flows, "NUM_STAGS": 4 * flows}
    return {**{key: size[key] for key in BLOCKS[block]}, **FIXED.get(block, {})}


def name(target: str, block: str, settings: dict) -> str:
    return " ".join([target, block, *(f"{key}={value}" for key, value in settings.items())])


def grown(row: dict, limit: dict) -> list[str]:
    """What `row` has too much of."""
    return [f"{column} {row[column]:g} (limit {limit[column]:g})" for column in synth.COLUMNS
            if row[column] > GROWTH * limit[column] + SLACK[column]]


def line(width: int, flows: int, block: str, row: dict) -> str:
    return f"{width:>5}{flows:>6}  {block:<14}" + "".join(f"{row[column]:>9g}" for column in synth.COLUMNS)


def main() -> int:
    parser = argparse.ArgumentParser(description="The size of the card, block by block.")
    parser.add_argument("--target", nargs="*", choices=list(synth.SYNTHESIS), default=["xcup"])
    parser.add_argument("--width", nargs="*", type=int, default=WIDTHS)
    parser.add_argument("--flows", nargs="*", type=int, default=FLOWS)
    parser.add_argument("--blocks", nargs="*", choices=list(BLOCKS), default=list(BLOCKS), metavar="BLOCK", help="only these")
    parser.add_argument("--record", action="store_true", help="write what was measured to area.json")
    parser.add_argument("--gate", action="store_true", help="end with status 1 if a block grew, or has a latch")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--logs", type=pathlib.Path, default=synth.RTL.parent / "target/syn", help="folder for yosys' logs")
    options = parser.parse_args()
    options.logs.mkdir(parents=True, exist_ok=True)
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    sizes = [(target, width, flows) for target in options.target for width in options.width for flows in options.flows]
    wrong = False
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        # A block is synthesized once for all sizes that it does not tell apart.
        results = {}
        for target, width, flows in sizes:
            for block in options.blocks:
                settings = parameters(block, width, flows)
                key = name(target, block, settings)
                if key not in results:
                    results[key] = pool.submit(synth.measure, target, block, settings, options.logs / (key.replace(" ", "-") + ".log"))
        for target, width, flows in sizes:
            print(f"{target}\n bits flows  {'block':<14}" + "".join(f"{column:>9}" for column in synth.COLUMNS), flush=True)
            total = dict.fromkeys(synth.COLUMNS, 0.0)
            for block in options.blocks:
                key = name(target, block, parameters(block, width, flows))
                result = results[key].result()
                row = {column: result[column] for column in synth.COLUMNS}
                for column in synth.COLUMNS:
                    total[column] += row[column]
                more = grown(row, recorded[key]) if key in recorded else []
                if result["latch"]:
                    more.append(f"{result['latch']:g} latches")
                wrong |= bool(more)
                print(line(width, flows, block, row) + ("  TOO MUCH: " + ", ".join(more) if more else ""), flush=True)
                if options.record:
                    recorded[key] = row
            print(line(width, flows, "sum", total), flush=True)
    if options.record:
        RECORDED.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
    return 1 if options.gate and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
