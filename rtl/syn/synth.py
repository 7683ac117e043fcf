#!/usr/bin/env python3
"""Synthesizes modules of the card with yosys and prints their size.

    rtl/syn/setup.sh && target/syn-venv/bin/python rtl/syn/synth.py [--target xcup ecp5] [--top NAME ...] [--config NAME] [--json FILE]

Each module is synthesized by itself, flattened, as the configuration (../configs.toml) given in MODULES has it, or --config. Columns: LUTs (6-input for
UltraScale+, 4-input for ECP5; carry, wide multiplexers and LUT RAM apart), flip-flops, LUTs used as memory,
block RAM (36 Kb units for UltraScale+, 18 Kb for ECP5), DSP blocks. Ends with status 1 if yosys refuses a
module, or if a latch is inferred.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from configs import CONFIGS, RTL, WITH_PROCESSOR, settings

# (module, configuration): the wide card's host side, and both paths at the size of a small board. The whole is
# about the sum of its parts and takes as long as all of them together: only on request.
MODULES = [
    *((top, "u50") for top in ("crc32c", "card_regs", "counters", "dma_read", "dma_write", "report_writer", "mac_loopback", "trace_ring", "capture",
                               "mac_rx_fifo", "mac_tx_fifo")),
    ("capture", "small"),
    ("weft_rx", "small"),
    ("weft_tx", "small"),
    ("weft_card", "small"),
    (WITH_PROCESSOR, "control"),
]
ON_REQUEST = ["weft_card", WITH_PROCESSOR]

SYNTHESIS = {
    "xcup": "synth_xilinx -family xcup -flatten -noiopad -noclkbuf -top {top}",
    "ecp5": "synth_ecp5 -top {top}",
}

# yosys' usual mapping, without its last two steps: a second optimization of some percent, and the proof that its
# own mapping is right. Together they take most of the time.
QUICKER = ["script +&scorr;&sweep;&dc2;&dch,-f,-r;&ps;&if,{C},{W},{D},{R},-v", "verify 0"]

# Cell type prefix -> (column, weight).
CELLS = {
    "xcup": [
        ("LUT1", "wire", 1), ("LUT", "lut", 1), ("FD", "ff", 1),
        ("RAM32M16", "lutram", 8), ("RAM64M8", "lutram", 8), ("RAM32M", "lutram", 4), ("RAM64M", "lutram", 4),
        ("RAM64X1D", "lutram", 2), ("RAM128X1D", "lutram", 4), ("RAM32X1D", "lutram", 2), ("RAM256X1D", "lutram", 8),
        ("RAM64X8SW", "lutram", 8), ("RAM512X1S", "lutram", 8), ("RAM256X1S", "lutram", 4),
        ("SRL", "lutram", 1), ("RAMB36", "bram", 1), ("RAMB18", "bram", 0.5), ("URAM", "uram", 1), ("DSP", "dsp", 1),
        ("LD", "latch", 1),
    ],
    "ecp5": [
        ("LUT4", "lut", 1), ("CCU2C", "lut", 2), ("TRELLIS_FF", "ff", 1), ("TRELLIS_DPR16X4", "lutram", 4),
        ("DP16KD", "bram", 1), ("PDPW16KD", "bram", 1), ("MULT", "dsp", 1), ("ALU54", "dsp", 1), ("$_DLATCH", "latch", 1),
    ],
}
AXI = "host/axi4_if.sv"
# Where modules include the assertions' macros from.
INCLUDE = f"-I{RTL / 'prim'}"
COLUMNS = ["lut", "ff", "lutram", "bram", "dsp"]


def listed(name: str) -> list[str]:
    """The files of a list."""
    lines = [line.strip() for line in (RTL / name).read_text().splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def sources(*more: str) -> list[str]:
    """The files of weft_card.f, packages first, the vendor-free ones for boards, and those of further lists."""
    return [file for name in ("weft_card.f", "boards/boards.f", *more) for file in listed(name)]


def core_sources(ibex: str) -> list[str]:
    """The control processor's core, whose sources are in `ibex`: where it includes from, and its files."""
    includes = [f"-I{ibex}/vendor/lowrisc_ip/{name}" for name in ("ip/prim/rtl", "dv/sv/dv_utils")]
    return includes + [f"{ibex}/{name}" for name in listed("control/ibex.f")]


def processor_sources() -> list[str]:
    """What the card has with a control processor: the core's files in $WEFT_IBEX (rtl/control/setup.sh), and its own. None without that."""
    ibex = os.environ.get("WEFT_IBEX")
    if not ibex:
        return []
    own = [name for part in ("control/control.f", "control/control_card.f") for name in listed(part) if name not in listed("boards/boards.f")]
    return core_sources(ibex) + own


def read(top: str, parameters: dict, folder: str, more: tuple = ()) -> str:
    """The command that reads a top, in the folder rtl. Ports of it that are interfaces have the width by default: a copy of theirs is in `folder`."""
    files = [*sources(), *processor_sources(), *more]
    if "DATA_W" in parameters:
        changed = pathlib.Path(folder) / "axi4_if.sv"
        changed.write_text(re.sub(r"DATA_W = \d+", f"DATA_W = {parameters['DATA_W']}", (RTL / AXI).read_text(), count=1))
        files[files.index(AXI)] = str(changed)
    given = " ".join(f"-G {pair}" for pair in settings(parameters))
    return f"read_slang {INCLUDE} --allow-toplevel-iface-ports --top {top} {given} " + " ".join(files)


def synthesize(target: str, top: str, parameters: dict) -> None:
    """Runs in a process of its own: a pass that fails ends the process. Writes `stat.json` in the current folder."""
    from pyosys import libyosys

    out = pathlib.Path.cwd()
    os.chdir(RTL)
    design = libyosys.Design()
    for command in (
        read(top, parameters, out),
        *(f"scratchpad -set abc9.{name}" for name in QUICKER),
        SYNTHESIS[target].format(top=top),
        f"tee -q -o {out}/stat.json stat -json -top {top}",
    ):
        libyosys.run_pass(command, design)


def cells(target: str, report: dict) -> dict:
    """Adds up the cells of yosys' `stat`, by column."""
    row = dict.fromkeys(COLUMNS + ["uram", "wire", "latch"], 0.0)
    for cell, count in report["design"]["num_cells_by_type"].items():
        for prefix, column, weight in CELLS[target]:
            if cell.startswith(prefix):
                row[column] += weight * (count if isinstance(count, int) else count["count"])
                break
    return row


def measure(target: str, top: str, parameters: dict, log: pathlib.Path) -> dict:
    """Synthesizes in a child process and adds up its cells."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        child = [sys.executable, __file__, "--child", json.dumps([target, top, parameters])]
        with log.open("w") as output:
            done = subprocess.run(child, stdout=output, stderr=subprocess.STDOUT, cwd=folder, check=False)
        seconds = time.monotonic() - began
        if done.returncode:
            raise RuntimeError(f"{top} for {target}: yosys failed, see {log}")
        report = json.loads((pathlib.Path(folder) / "stat.json").read_text())
    return {"target": target, "top": top, "parameters": parameters, "seconds": round(seconds, 1), **cells(target, report)}


def main() -> int:
    parser = argparse.ArgumentParser(description="Synthesize modules of the card and print their size.")
    parser.add_argument("--target", nargs="*", choices=list(SYNTHESIS), default=list(SYNTHESIS))
    parser.add_argument("--top", nargs="*", help=f"these modules of the list ({', '.join(ON_REQUEST)} only so)")
    parser.add_argument("--config", choices=list(CONFIGS), metavar="NAME", help=f"instead of the list's: {', '.join(CONFIGS)}")
    parser.add_argument("--json", type=pathlib.Path, help="also write the table here")
    parser.add_argument("--logs", type=pathlib.Path, default=RTL.parent / "target/syn", help="folder for yosys' logs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="syntheses at the same time")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        synthesize(*json.loads(options.child))
        return 0
    options.logs.mkdir(parents=True, exist_ok=True)
    work = [
        (target, top, CONFIGS[options.config or usual].of(top))
        for top, usual in MODULES
        if (top in options.top if options.top else top not in ON_REQUEST)
        for target in options.target
    ]
    rows, failed = [], False
    print(f"{'module':<16}{'for':<6}" + "".join(f"{name:>9}" for name in COLUMNS) + f"{'s':>7}  parameters", flush=True)
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        measured = [pool.submit(measure, *item, options.logs / f"{item[1]}-{item[0]}.log") for item in work]
        for result in measured:
            try:
                row = result.result()
            except RuntimeError as error:
                print(error, flush=True)
                failed = True
                continue
            rows.append(row)
            latches = f"  {row['latch']:g} LATCHES" if row["latch"] else ""
            failed |= bool(row["latch"])
            print(f"{row['top']:<16}{row['target']:<6}" + "".join(f"{row[name]:>9g}" for name in COLUMNS)
                  + f"{row['seconds']:>7}  {' '.join(settings(row['parameters']))}{latches}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
