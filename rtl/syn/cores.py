#!/usr/bin/env python3
"""The cores that the control processor might have: their size, their longest path and the clock that they meet.

    rtl/syn/setup.sh && target/syn-venv/bin/python rtl/syn/cores.py [--top ibex ...] [--no-route]

Each comes from PyPI, into target/cores-venv. Mapped for UltraScale+ by itself, as timing.py maps blocks: LUTs, flip-flops, DSP blocks, LUT
levels from register to register and an estimate of that path in ns; then placed and routed for ECP5 (route.py), with a register behind each
port. Caches, where a core has some, are in it.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import levels
import route
import synth
import timing

VENV = synth.RTL.parent / "target/cores-venv"
# Name -> package on PyPI, sources (of the package; of this tree), top, parameters, clock, reset, whether that is low.
CORES = {
    "ibex": ("pythondata-cpu-ibex", synth.core_sources("pythondata_cpu_ibex/system_verilog"), ["control/prim_buf.sv", "control/control_core.sv"],
             "control_core", {}, ("clk_i", "rst_ni", True)),
    "vexriscv-imac": ("pythondata-cpu-vexriscv", ["pythondata_cpu_vexriscv/verilog/VexRiscv_IMAC.v"], [], "VexRiscv", {}, ("clk", "reset", False)),
    "vexriscv-imac-debug": ("pythondata-cpu-vexriscv", ["pythondata_cpu_vexriscv/verilog/VexRiscv_IMACDebug.v"], [], "VexRiscv", {}, ("clk", "reset", False)),
    "vexriscv-lite": ("pythondata-cpu-vexriscv", ["pythondata_cpu_vexriscv/verilog/VexRiscv_Lite.v"], [], "VexRiscv", {}, ("clk", "reset", False)),
    "picorv32": ("pythondata-cpu-picorv32", ["pythondata_cpu_picorv32/verilog/picorv32.v"], [], "picorv32",
                 {"ENABLE_FAST_MUL": 1, "ENABLE_DIV": 1, "COMPRESSED_ISA": 1, "ENABLE_IRQ": 1, "BARREL_SHIFTER": 1}, ("clk", "resetn", True)),
}


def packages() -> pathlib.Path:
    """Installs them; where they are."""
    python = VENV / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    wanted = sorted({core[0] for core in CORES.values()})
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted], check=True)
    return next(VENV.glob("lib/python3*/site-packages"))


def map_core(name: str, site: str, folder: str) -> None:
    """Runs in a process of its own: a pass that fails ends the process."""
    from pyosys import libyosys

    _, theirs, ours, top, parameters, (clock, reset, low) = CORES[name]
    files = theirs + [str(synth.RTL / file) for file in ours]
    os.chdir(site)
    settings = " ".join(f"-G {key}={value}" for key, value in parameters.items())
    read = " ".join([f"read_slang --top {top} {settings}", *files])
    design = libyosys.Design()
    for command in (
        read,
        *timing.mapping(top),
        f"tee -q -o {folder}/stat.json stat -json -top {top}",
        f"write_json -selected {folder}/levels.json",
    ):
        libyosys.run_pass(command, design)
    design = libyosys.Design()
    libyosys.run_pass(read, design)
    route.map_harness(design, top, folder, (clock, reset, low))


def main() -> int:
    parser = argparse.ArgumentParser(description="Size, longest path and clock of cores for the control processor.")
    parser.add_argument("--top", nargs="*", choices=list(CORES), default=list(CORES), metavar="CORE", help="only these")
    parser.add_argument("--no-route", action="store_true", help="without ECP5")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        map_core(*json.loads(options.child))
        return 0
    site = packages()
    print(f"{'core':<22}{'lut':>7}{'ff':>7}{'lutram':>8}{'bram':>6}{'dsp':>5}{'levels':>8}{'ns':>7}", flush=True)
    for name in options.top:
        folder = (synth.RTL.parent / f"target/syn/core-{name}").resolve()
        folder.mkdir(parents=True, exist_ok=True)
        child = [sys.executable, str(pathlib.Path(__file__).resolve()), "--child", json.dumps([name, str(site), str(folder)])]
        route.run(child, folder / "yosys.log")
        row = synth.cells("xcup", json.loads((folder / "stat.json").read_text()))
        path = levels.report(str(folder / "levels.json"), 1)
        print(f"{name:<22}{row['lut']:>7g}{row['ff']:>7g}{row['lutram']:>8g}{row['bram']:>6g}{row['dsp']:>5g}{path['levels']:>8}{path['ns']:>7.1f}", flush=True)
        if not options.no_route:
            part = ["--um5g-85k", *route.PACKAGE]
            route.place(folder, part, 100, 1)
            route.tell(f"    ECP5 {name}", route.route(folder, part, 1, "router1"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
