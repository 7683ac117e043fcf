#!/usr/bin/env python3
"""Runs build.tcl without Vivado, by tclsh and vivado.tcl, and looks at what it asked for; then in worlds in which it has to stop.

    rtl/boards/alveo_u50/rehearsal/rehearse.py [--verbose]

Nothing is known by this of what Vivado does with it. What is known: the script runs to its end, sets what PG302 and public designs set for
such a bridge, finds a core that is not what was asked for, and writes no bitstream that does not pass the gates. Each expectation is then
taken out of the script, or of a stub, and has to be missed. Ends with status 1 and a line for each that is not so.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BOARD = HERE.parent
RTL = BOARD.parents[1]
BAR4 = "BAR_5:4"

# What the wrapper and the host count on, and why.
QDMA = {
    "pf0_bar0_type_qdma": ("AXI_Bridge_Master", "registers come to m_axib"),
    "pf0_bar2_type_qdma": ("AXI_Bridge_Master", "doorbells and the push window come to m_axib"),
    "pf0_bar4_type_qdma": ("DMA", "the core's own registers, with the MSI-X table"),
    "PF0_MSIX_CAP_TABLE_BIR_qdma": (BAR4, "the MSI-X capability points to the DMA BAR; its default is BAR0, which is the card's"),
    "PF0_MSIX_CAP_PBA_BIR_qdma": (BAR4, "as the table's"),
    "pf0_pciebar2axibar_2": ("0x0000000000010000", "bit 16 of m_axib's address is BAR2"),
    "axist_bypass_en": ("true", "m_axib exists only with it"),
    "axilite_master_en": ("false", "on by default, and its inputs would be open"),
    "en_bridge_slv": ("true", "s_axib: the card is a master"),
    "axibar_notranslate": ("true", "IOVAs go out as they are"),
    "axibar_0": ("0x0000000000000000", "the slave bridge takes all addresses: from"),
    "axibar_highaddr_0": ("0xFFFFFFFFFFFFFFFF", "the slave bridge takes all addresses: to"),
    "vdm_en": ("true", "comes with the slave bridge: st_rx_msg_rdy is tied to 1"),
    "csr_axilite_slave": ("false", "its inputs would be open"),
    "flr_enable": ("true", "usr_flr_*"),
    "adv_int_usr": ("false", "inputs for more than eight vectors, which nobody would drive"),
    "dma_reset_source_sel": ("PCIe_User_Reset", "axi_aresetn goes with the link"),
    "pcie_blk_locn": ("PCIE4C_X1Y0", "the block beside the slot's transceivers"),
    "parity_settings": ("None", "parity brings m_axib_ruser and m_axi_ruser"),
    "pf0_device_id": ("5746", "the driver looks for it; the core derives another one from the link"),
}
CMAC = {
    "USER_INTERFACE": ("AXIS", "AXI4-Stream"),
    "ENABLE_AXI_INTERFACE": ("0", "control by pins"),
    "TX_FLOW_CONTROL": ("0", "its inputs would be open"),
    "RX_FLOW_CONTROL": ("0", "its inputs would be open"),
    "INCLUDE_RS_FEC": ("1", "ctl_*_rsfec_*"),
    "TX_FCS_INS_ENABLE": ("1", "the card's frames have no FCS"),
    "RX_DELETE_FCS": ("1", "the card wants none"),
    "CMAC_CORE_SELECT": ("CMACE4_X0Y4", "the site beside the QSFP's transceivers"),
}
EXPECTED = {"qdma_0": QDMA, "cmac_usplus_0": CMAC}

CLEAN = "checking no_clock (0)\nchecking unconstrained_internal_endpoints (0)"
EXCEPTIONS = "set_bus_skew -from a -to b 3.0\nset_max_delay -datapath_only -from a -to b 3.0\nset_false_path -to c"
TEXT = {"check_timing": CLEAN, "write_xdc": EXCEPTIONS}
WORLD = {
    "version": "2024.2",
    "text": TEXT,
    "cells": {"LUT": "80000", "FD": "70000", "RAMB36": "140"},
}
# name: (changes of the world, arguments, word of the message)
STOPS = {
    "another version": ({"version": "2021.2"}, [], "VIVADO=any"),
    "no such step": ({}, ["STEP=route"], "STEP=route"),
    "property unknown to the core": ({"properties": {"qdma": {"PF0_MSIX_CAP_PBA_BIR_qdma": ""}}}, [], "no property PF0_MSIX_CAP_PBA_BIR_qdma"),
    "value unknown to the core": ({"properties": {"qdma": {"pcie_blk_locn": "X0Y1 {X0Y1 X0Y2}"}}}, [], "pcie_blk_locn"),
    "default moved": ({"properties": {"qdma": {"PF0_MSIX_CAP_TABLE_OFFSET_qdma": "40000 {}"}}}, [], "TABLE_OFFSET_qdma is 40000"),
    "one more input": ({"ports": {"qdma": {"new_input": "i1"}}}, [], "input new_input would be open"),
    "no such port": ({"ports": {"qdma": {"qsts_out_rdy": ""}}}, [], "no port qsts_out_rdy"),
    "wider port": ({"ports": {"cmac_usplus": {"rx_axis_tkeep": "o32"}}}, [], "rx_axis_tkeep is"),
    "synthesis fails": ({"runs": {"synth_1": {"PROGRESS": "40%", "STATUS": "synth_design ERROR"}}}, [], "synth_design ERROR"),
    "setup missed": ({"runs": {"impl_1": {"STATS.WNS": "-0.083"}}}, [], "setup is missed by 0.083"),
    "hold missed": ({"runs": {"impl_1": {"STATS.WHS": "-0.002"}}}, [], "hold is missed"),
    "pulse width missed": ({"runs": {"impl_1": {"STATS.TPWS": "-0.1"}}}, [], "pulse width"),
    "no slack told": ({"runs": {"impl_1": {"STATS.WNS": ""}}}, [], "tells no WNS"),
    "nets not routed": ({"runs": {"impl_1": {"STATS.FAILED_NETS": "3"}}}, [], "3 nets"),
    "crossing": ({"violations": {"cdc": "Info Critical"}}, [], "a crossing outside"),
    "methodology": ({"violations": {"methodology": "{Critical Warning}"}}, [], "methodology"),
    "design rule": ({"violations": {"drc": "Error"}}, [], "design rules"),
    "clock missing": ({"text": {**TEXT, "check_timing": CLEAN.replace("no_clock (0)", "no_clock (12)")}}, [], "no_clock: 12"),
    "report unreadable": ({"text": {**TEXT, "check_timing": "nothing"}}, [], "says nothing of no_clock"),
    "no exceptions": ({"text": {**TEXT, "write_xdc": EXCEPTIONS.replace("set_bus_skew", "")}}, [], "nothing for its bus skew"),
    "delays of another kind": ({"text": {**TEXT, "write_xdc": EXCEPTIONS.replace("-datapath_only", "")}}, [], "nothing for its largest delay"),
    "die full": ({"cells": {"LUT": "320000", "FD": "70000", "RAMB36": "140"}}, [], "LUT: 74 %"),
    "nothing counted": ({"cells": {}}, [], "no LUT found"),
}
# Where it has to go on.
GOES_ON = {
    "warnings only": ({"violations": {"cdc": "Info Warning", "methodology": "Warning Advisory", "drc": "Warning"}}, []),
    "one more output": ({"ports": {"qdma": {"new_output": "o1"}}}, []),
    "no usr_flr_clr, as the guide has it from 5.0 on": ({"ports": {"qdma": {"usr_flr_clr": ""}}}, []),
    "vector of 12 bits, as the guide has it from 5.0 on": ({"ports": {"qdma": {"usr_irq_in_vec": "i12"}}}, []),
    "another version, knowingly": ({"version": "2025.1"}, ["VIVADO=any"]),
    "the second strategy passes": ({"strategies": {"Bad": {"STATS.WNS": "-0.1"}}}, ["STRATEGIES=Bad,Good"]),
    "the faster strategy misses hold": ({"strategies": {"Fast": {"STATS.WNS": "0.3", "STATS.WHS": "-0.1"}}}, ["STRATEGIES=Fast,Good"]),
}


def tcl(value) -> str:
    """A world as Tcl's dict."""
    if isinstance(value, dict):
        return " ".join(f"{word(name)} {word(tcl(part))}" for name, part in value.items())
    return value


def word(text: str) -> str:
    return "{" + text + "}"


class Run:
    """One run of a build.tcl: its record, its message."""

    def __init__(self, board: pathlib.Path, world: dict, arguments: list[str], out: pathlib.Path):
        record = out.with_suffix(".record")
        done = subprocess.run(["tclsh", str(HERE / "vivado.tcl"), str(record), tcl({**WORLD, **world}), str(board / "build.tcl"), str(out), *arguments],
                              capture_output=True, text=True, check=False, timeout=60)
        self.status, self.message, self.output = done.returncode, done.stderr.strip(), done.stdout
        self.lines = record.read_text().splitlines()

    def asked(self, command: str) -> list[str]:
        return [line for line in self.lines if line.split(" ")[0] == command]

    def at(self, command: str) -> int:
        """Where a command stands first; behind everything if nowhere."""
        return next((number for number, line in enumerate(self.lines) if line.startswith(command)), len(self.lines))

    def property(self, core: str, name: str) -> str | None:
        """The last value that a property was set to."""
        found = None
        for line in self.asked("set_property"):
            if line.endswith(f" {core}"):
                for value in re.findall(rf"CONFIG\.{name} (?:\{{([^}}]*)\}}|(\S+?))(?=[ }}]|$)", line):
                    found = value[0] or value[1]
        return found


def complaints(run: Run) -> list[str]:
    """What is missing in a run that has to go to its end."""
    if run.status:
        return [f"ends with: {run.message}"]
    wrong = []
    for core, table in EXPECTED.items():
        for name, (value, why) in table.items():
            has = run.property(core, name)
            if has != value:
                wrong.append(f"{core} {name} is set to {has}, not {value}: {why}")
    added = " ".join(run.asked("add_files"))
    lists = ["weft_card.f", "boards/boards.f", "boards/alveo_u50/weft_u50.f"]
    files = [line for name in lists for line in (RTL / name).read_text().split("\n") if line.endswith(".sv")]
    wrong += [f"{file} is not added" for file in [*files, "weft_u50.xdc", "floor.xdc", "cdc.tcl"] if file not in added]
    includes = [line.split()[2] for line in run.asked("set_property") if line.startswith("set_property include_dirs ")]
    if [pathlib.Path(folder).resolve() for folder in includes] != [RTL / "prim"]:
        wrong.append("nothing is included from where the assertions' macros are")
    if "set_property used_in_synthesis false {cdc.tcl floor.xdc}" not in run.lines:
        wrong.append("cdc.tcl is read in synthesis, where its instances are not")
    if run.asked("synth_design"):
        wrong.append("a design in memory: its constraints are read when nobody knows")
    bit = run.at("write_bitstream")
    if bit == len(run.lines):
        wrong.append("no bitstream")
    reports = ["report_cdc", "report_methodology", "report_drc", "report_timing_summary", "report_bus_skew", "report_utilization", "check_timing"]
    wrong += [f"{report} is not asked for before the bitstream" for report in reports if run.at(report) > bit]
    launched = {name for line in run.asked("launch_runs") for name in re.findall(r"\w+_\d\b|\w+_synth_1", line)}
    waited = {line.split()[-1] for line in run.asked("wait_on_run")}
    if launched != waited or not {"synth_1", "impl_1", "qdma_0_synth_1", "cmac_usplus_0_synth_1"} <= launched:
        wrong.append(f"runs launched {sorted(launched)}, waited for {sorted(waited)}")
    return wrong


def is_there(module: str, path: list[str]) -> bool:
    """Whether a module has an instance at this place, an instance in an instance."""
    file = next(iter(RTL.rglob(f"{module}.sv")), None)
    if not path or not file:
        return not path
    found = re.search(rf"^\s*(\w+)\s+(?:#\s*\((?:[^()]|\([^()]*\))*\)\s*)?{path[0]}\s*\(", file.read_text(), re.M)
    return bool(found) and is_there(found[1], path[1:])


def floor() -> list[str]:
    """Instances that the floor plan names and the top has not: Vivado only warns, and places them anywhere."""
    named = re.findall(r"get_cells \{?([\w /]+)", (BOARD / "floor.xdc").read_text())
    return [f"floor.xdc: weft_u50 has no {cell}" for cells in named for cell in cells.split() if not is_there("weft_u50", cell.split("/"))]


def pins() -> list[str]:
    """Bits of the top's ports without a pin, pins without a port, and pins twice."""
    top = (BOARD / "weft_u50.sv").read_text()
    ports = re.findall(r"^  (?:input|output)\s+logic\s*(?:\[(\d+):0\])?\s*(\w+)", top[: top.index("\n);")], re.M)
    bits = {f"{name}[{bit}]" if left else name for left, name in ports for bit in range(int(left or 0) + 1)}
    given = re.findall(r"PACKAGE_PIN (\w+).*\[get_ports \{?([\w\[\]]+?)\}?\]$", (BOARD / "weft_u50.xdc").read_text(), re.M)
    wrong = [f"weft_u50.xdc: {bit} has no pin" for bit in sorted(bits - {port for _, port in given})]
    wrong += [f"weft_u50.xdc: {port} is no port" for _, port in given if port not in bits]
    places = [pin for pin, _ in given]
    return wrong + [f"weft_u50.xdc: {pin} is given twice" for pin in sorted(set(places)) if places.count(pin) > 1]


def copied(folder: pathlib.Path, file: str, find: str, plant: str) -> pathlib.Path:
    """The board's folder with one text of one file changed, among links to the rest of the RTL; removed first if it is there."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "boards").mkdir(parents=True)
    for entry in RTL.iterdir():
        if entry.name != "boards":
            (folder / entry.name).symlink_to(entry)
    for entry in BOARD.parent.iterdir():
        if entry != BOARD:
            (folder / "boards" / entry.name).symlink_to(entry)
    board = folder / "boards" / BOARD.name
    shutil.copytree(BOARD, board)
    text = (board / file).read_text()
    if text.count(find) != 1:
        sys.exit(f"{file}: {find!r} is there {text.count(find)} times")
    (board / file).write_text(text.replace(find, plant))
    return board


def planted() -> list[tuple[str, str, str, str]]:
    """Each expectation taken out: (what, file, text, text of the fault)."""
    cores = (BOARD / "cores.tcl").read_text()
    faults = []
    for core, table in EXPECTED.items():
        for name in table:
            line = re.search(rf"^ +{name} \{{.*\}}\n", cores, re.M)
            if not line:
                sys.exit(f"cores.tcl does not set {name}")
            faults.append((f"{core} without {name}", "cores.tcl", line[0], ""))
    stub = (BOARD / "stubs/qdma_0.sv").read_text()
    for name in ("st_rx_msg_rdy", "tm_dsc_sts_rdy", "s_axib_wuser"):
        line = re.search(rf"^ +input +logic.*\b{name},?\n", stub, re.M)
        if not line:
            sys.exit(f"the stub has no input {name}")
        faults.append((f"a stub without {name}", "stubs/qdma_0.sv", line[0], ""))
    faults.append(("a stub with parity", "stubs/qdma_0.sv", "  input  logic [511:0] m_axib_rdata,\n",
                   "  input  logic [511:0] m_axib_rdata,\n  input  logic [ 63:0] m_axib_ruser,\n"))
    faults.append(("the ports are not compared", "build.tcl", "    check_ports $ip $here/stubs/$ip.sv [lindex $template 0]\n", ""))
    faults.append(("nothing is read back", "cores.tcl", "    if {![same_value $value $has]} {", "    if {0} {"))
    for name in ("WNS setup", "WHS hold", "TPWS {pulse width}"):
        faults.append((f"no gate for {name}", "gates.tcl", name, ""))
    for what in ("crossings", "methodology", "rules"):
        faults.append((f"no gate for {what}", "gates.tcl", f'[count_severe "{what}"', f'0 && [count_severe "{what}"'))
    faults.append(("gates are passed by whoever misses them", "build.tcl", "if {[llength $wrong] == 0} {", "if {1} {"))
    faults.append(("runs are not waited for", "build.tcl", "  foreach run $waiting { wait_on_run [get_runs $run] }\n", ""))
    faults.append(("no folder of headers", "build.tcl", "  set_property include_dirs $rtl/prim [current_fileset]\n", ""))
    faults.append(("crossings in synthesis", "build.tcl", "  set_property used_in_synthesis false [get_files {cdc.tcl floor.xdc}]\n", ""))
    return faults


def all_complaints(board: pathlib.Path, folder: pathlib.Path, first: bool = False) -> list[str]:
    """Of one copy of the scripts, in every world; `first`: one is enough."""
    wrong = complaints(Run(board, {}, [], folder / "plain"))
    for name, (world, arguments) in GOES_ON.items():
        if wrong and first:
            return wrong
        run = Run(board, world, arguments, folder / re.sub(r"\W", "_", name))
        if run.status or run.at("write_bitstream") == len(run.lines):
            wrong.append(f"{name}: stops with {run.message}")
    for name, (world, arguments, message) in STOPS.items():
        if wrong and first:
            return wrong
        run = Run(board, world, arguments, folder / re.sub(r"\W", "_", name))
        if not run.status or message not in run.message:
            wrong.append(f"{name}: does not stop with '{message}', but {run.status} and {run.message!r}")
        if run.at("write_bitstream") < len(run.lines):
            wrong.append(f"{name}: a bitstream is written")
    return wrong


def steps(folder: pathlib.Path) -> list[str]:
    """A build in steps: each goes on where the last one ended."""
    wrong = []
    out = folder / "steps"
    project = Run(BOARD, {}, ["STEP=project"], out)
    if project.status or not project.asked("create_project") or project.asked("launch_runs"):
        wrong.append(f"STEP=project: {project.message or 'is no project alone'}")
    synth = Run(BOARD, {}, ["STEP=synth"], out)
    if synth.status or synth.asked("create_project") or not synth.asked("open_project") or any("impl_1" in line for line in synth.lines):
        wrong.append(f"STEP=synth: {synth.message or 'begins anew, or goes too far'}")
    impl = Run(BOARD, {}, ["STEP=impl"], out)
    if impl.status or impl.asked("write_bitstream") or not impl.asked("report_cdc"):
        wrong.append(f"STEP=impl: {impl.message or 'has no gates, or goes too far'}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="Rehearse build.tcl without Vivado.")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if not shutil.which("tclsh"):
        print("tclsh is not installed: apt-get install tcl")
        return 1
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        wrong = floor() + pins() + all_complaints(BOARD, folder) + steps(folder)
        faults = planted() if not wrong else []
        for number, (what, file, find, plant) in enumerate(faults):
            board = copied(folder / f"fault{number}", file, find, plant)
            noticed = all_complaints(board, folder / f"fault{number}", first=True)
            if options.verbose:
                print(f"{what}: {noticed[0] if noticed else 'NOT NOTICED'}")
            if not noticed:
                wrong.append(f"{what}: is not noticed")
            shutil.rmtree(folder / f"fault{number}")
    print("\n".join(wrong) or f"alveo_u50 build.tcl, without Vivado: as expected in {1 + len(GOES_ON) + len(STOPS)} worlds, {len(faults)} faults noticed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
