#!/usr/bin/env python3
"""The size of the card, block by block, for each configuration (../configs.toml) that is measured so.

    rtl/syn/setup.sh && target/syn-venv/bin/python rtl/syn/area.py [--target xcup ecp5] [--config u50 small] [--flows 64 1024 4096] [--blocks rx_walk ...]

Each block is synthesized by itself (synth.py). --flows: with tables of these sizes instead, NUM_STAGS four times NUM_FLOWS. The last row of a
size is the sum: what stands between the blocks, some registers, is not in it. Columns as in synth.py.

area.json holds what was recorded, and is the limit: --gate ends with status 1 if a block has over 5 % more of anything than
recorded, and --record writes it. A latch is an error.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import sys

import synth
from configs import CONFIGS, Config, measured, settings

RECORDED = pathlib.Path(__file__).with_name("area.json")
GROWTH = 1.05
# Less than this is nothing: the mapper's own changes.
SLACK = {"lut": 50, "ff": 20, "lutram": 8, "bram": 0, "dsp": 0}

# Together they are weft_card; each gets what it has of a configuration's parameters. `observe` is with the counters.
BLOCKS = [
    "rx_parse", "rx_store", "rx_payload", "rx_replay", "rx_lookup", "rx_flow_state", "rx_dispatch", "rx_walk", "rx_output", "weft_tx",
    "card_regs", "dma_read", "dma_write", "report_writer", "report_ahead", "reset_drain", "observe", "mac_loopback",
]
# With the control processor's core in $WEFT_IBEX: what the card has more with it, but for multiplexers and registers around it.
CONTROL = "control_clock"
# What it has there: a clock of its own.
FIXED = {CONTROL: {"CLOCK_DIV": 4}}


def sized(config: Config, flows: int | None) -> Config:
    """The configuration with tables for so many flows; none: its own."""
    tables = {"NUM_FLOWS": flows, "NUM_STAGS": 4 * flows} if flows else {}
    return dataclasses.replace(config, parameters={**config.parameters, **tables})


def parameters(block: str, config: Config) -> dict:
    return {**config.of(block), **FIXED.get(block, {})}


def name(target: str, block: str, config: Config) -> str:
    return " ".join([target, block, *settings(parameters(block, config))])


def grown(row: dict, limit: dict) -> list[str]:
    """What `row` has too much of."""
    return [f"{column} {row[column]:g} (limit {limit[column]:g})" for column in synth.COLUMNS
            if row[column] > GROWTH * limit[column] + SLACK[column]]


def line(config: Config, block: str, row: dict) -> str:
    return f"{config.width:>5}{config.parameters['NUM_FLOWS']:>6}  {block:<14}" + "".join(f"{row[column]:>9g}" for column in synth.COLUMNS)


def main() -> int:
    blocks = BLOCKS + ([CONTROL] if os.environ.get("WEFT_IBEX") else [])
    names = measured("area")
    parser = argparse.ArgumentParser(description="The size of the card, block by block.")
    parser.add_argument("--target", nargs="*", choices=list(synth.SYNTHESIS), default=["xcup"])
    parser.add_argument("--config", nargs="*", choices=names, default=names, metavar="NAME", help=f"these, of {', '.join(names)}")
    parser.add_argument("--flows", nargs="*", type=int, default=[None], help="with tables for so many, instead of the configuration's")
    parser.add_argument("--blocks", nargs="*", choices=blocks, default=blocks, metavar="BLOCK", help="only these")
    parser.add_argument("--record", action="store_true", help="write what was measured to area.json")
    parser.add_argument("--gate", action="store_true", help="end with status 1 if a block grew, or has a latch")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--logs", type=pathlib.Path, default=synth.RTL.parent / "target/syn", help="folder for yosys' logs")
    options = parser.parse_args()
    options.logs.mkdir(parents=True, exist_ok=True)
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    sizes = [(target, sized(CONFIGS[config], flows)) for target in options.target for config in options.config for flows in options.flows]
    wrong = False
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        # A block is synthesized once for all sizes that it does not tell apart.
        results = {}
        for target, config in sizes:
            for block in options.blocks:
                key = name(target, block, config)
                if key not in results:
                    log = options.logs / (key.replace(" ", "-") + ".log")
                    results[key] = pool.submit(synth.measure, target, block, parameters(block, config), log)
        for target, config in sizes:
            print(f"{target}, {config.name}\n bits flows  {'block':<14}" + "".join(f"{column:>9}" for column in synth.COLUMNS), flush=True)
            total = dict.fromkeys(synth.COLUMNS, 0.0)
            for block in options.blocks:
                key = name(target, block, config)
                result = results[key].result()
                row = {column: result[column] for column in synth.COLUMNS}
                for column in synth.COLUMNS:
                    total[column] += row[column]
                more = grown(row, recorded[key]) if key in recorded else []
                if result["latch"]:
                    more.append(f"{result['latch']:g} latches")
                wrong |= bool(more)
                print(line(config, block, row) + ("  TOO MUCH: " + ", ".join(more) if more else ""), flush=True)
                if options.record:
                    recorded[key] = row
            print(line(config, "sum", total), flush=True)
    if options.record:
        RECORDED.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
    return 1 if options.gate and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
