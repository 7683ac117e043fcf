#!/usr/bin/env python3
"""Builds the bitstream of the ECPIX-5 with open tools: yosys, nextpnr, Project Trellis.

    rtl/syn/setup.sh && target/syn-venv/bin/python rtl/boards/ecpix5/build.py [--set NUM_FLOWS=16 ...] [--seeds 1 2] [--out DIR]

Writes weft.bit, report.txt (what is printed: parts used, each clock as asked for and as met, its longest path) and the logs of all steps.
Ends with status 1 if a clock is not met. A `nextpnr-ecp5` and an `ecppack` on the PATH are used (`apt-get install nextpnr-ecp5 fpga-trellis` on
Debian 13 or newer), else those of PyPI, for WebAssembly, which take several times as long.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

RTL = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(RTL / "syn"))

import route  # noqa: E402
import synth  # noqa: E402

TOP = "weft_ecpix5"
BOARD = RTL / "boards/ecpix5"
PART = ["--um5g-85k", "--package", "CABGA554", "--speed", "8"]
SHOWN = ["TRELLIS_COMB", "TRELLIS_RAMW", "TRELLIS_FF", "DP16KD", "IOLOGIC", "TRELLIS_IO", "EHXPLLL"]


def synthesize(parameters: list[str], folder: str) -> None:
    """Runs in a process of its own: a pass that fails ends the process."""
    from pyosys import libyosys

    os.chdir(RTL)
    design = libyosys.Design()
    files = synth.sources("boards/ecpix5/stubs.f", "boards/ecpix5/weft_ecpix5.f")
    settings = [f"-G {pair}" for pair in parameters] + ["-DSYNTHESIS"]
    for command in (
        # The stubs are modules without contents.
        f"read_slang {synth.INCLUDE} --empty-blackboxes --top {TOP} {' '.join(settings)} {' '.join(files)}",
        # Without the proof that abc's mapping is right.
        "scratchpad -set abc9.verify 0",
        synth.SYNTHESIS["ecp5"].format(top=TOP),
        f"write_json {folder}/netlist.json",
    ):
        libyosys.run_pass(command, design)


def tool(name: str) -> list[str]:
    """A program of the system, else the one for WebAssembly in this Python's environment."""
    found = shutil.which(name) or shutil.which(str(pathlib.Path(sys.executable).parent / f"yowasp-{name}"))
    if not found:
        sys.exit(f"{name} is not installed: apt-get install nextpnr-ecp5 fpga-trellis (Debian 13 or newer), or rtl/syn/setup.sh")
    return [found]


def run(command: list[str], log: pathlib.Path) -> float:
    """Runs a command with its output in `log`; seconds that it took."""
    began = time.monotonic()
    with log.open("w") as output:
        if subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, cwd=log.parent, check=False).returncode:
            sys.exit(f"{command[0]} failed, see {log}")
    return time.monotonic() - began


def describe(path: dict) -> str:
    """Start, end and delay of one path of nextpnr's report."""
    steps = path["path"]
    wires = sum(step["delay"] for step in steps if step["type"] == "routing")
    cells = sum(1 for step in steps if step["type"] == "logic")
    total = sum(step["delay"] for step in steps)
    short = lambda name: re.split(r"_TRELLIS|_DP16KD|_LUT4|\$", name)[0]
    return f"{total:.1f} ns, {wires:.1f} of it wires, {cells} cells: {short(steps[0]['from']['cell'])} -> {short(steps[-1]['to']['cell'])}"


def report(row: dict, seconds: str) -> tuple[list[str], bool]:
    """Lines for people, and whether all clocks are met."""
    lines, met = [f"{'part':<14}{'used':>8}{'of':>8}{'%':>6}"], True
    for kind in SHOWN:
        used, there = row["utilization"][kind]["used"], row["utilization"][kind]["available"]
        lines.append(f"{kind:<14}{used:>8}{there:>8}{100 * used / there:>6.0f}")
    for clock, entry in row["fmax"].items():
        met &= entry["achieved"] >= entry["constraint"]
        lines.append(f"{clock.removeprefix('$glbnet$').split('$')[0]}: {entry['achieved']:.1f} MHz, asked for {entry['constraint']:.1f}")
        lines += ["    " + describe(path) for path in row["critical_paths"] if path["from"] == path["to"] == f"posedge {clock}"]
    return [*lines, seconds], met


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the bitstream of the ECPIX-5.")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help=f"parameters of {TOP}")
    parser.add_argument("--seeds", type=int, nargs="*", default=[2, 1, 3], help="of nextpnr, one after the other up to the first that meets all clocks")
    parser.add_argument("--router", choices=["router1", "router2"], default="router1", help="of nextpnr")
    parser.add_argument("--out", type=pathlib.Path, default=RTL.parent / "target/ecpix5")
    parser.add_argument("--netlist", action="store_true", help="with the netlist of the run before")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        synthesize(*json.loads(options.child))
        return 0
    folder = options.out.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    mapping = 0.0
    if not options.netlist:
        child = json.dumps([options.set, str(folder)])
        mapping = run([sys.executable, str(pathlib.Path(__file__).resolve()), "--child", child], folder / "yosys.log")
    met = False
    for seed in options.seeds:
        routing = run([*tool("nextpnr-ecp5"), *PART, "--json", "netlist.json", "--lpf", str(BOARD / f"{TOP}.lpf"), "--textcfg", "weft.config",
                       "--report", "report.json", "--router", options.router, *route.PLACER, "--threads", str(os.cpu_count()),
                       "--seed", str(seed), "--timing-allow-fail"],
                      folder / f"nextpnr-{seed}.log")
        row = json.loads((folder / "report.json").read_text())
        lines, met = report(row, f"seed {seed}; {mapping:.0f} s yosys, {routing:.0f} s nextpnr")
        (folder / "report.txt").write_text("\n".join(lines) + "\n")
        print("\n".join(lines), flush=True)
        if met:
            break
    if not met:
        print("a clock is not met: no bitstream", file=sys.stderr)
        return 1
    run([*tool("ecppack"), "--compress", "weft.config", "weft.bit"], folder / "ecppack.log")
    print(f"{folder / 'weft.bit'}: {(folder / 'weft.bit').stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
