#!/usr/bin/env python3
"""Lints the RTL with Verilator (-Wall) and slang: the card for each data width, and each board's top against stubs of what its vendor brings.
The proofs' own files by slang alone: they are not for Verilator.

    rtl/syn/setup.sh && target/syn-venv/bin/python rtl/syn/lint.py [--top weft_card] [--width 128 512] [--board alveo_u50]

The style asks for `unique case` with a default, which slang alone finds redundant, and some casts are to the same
width for one of the data widths only.
--top weft_card_control, with the sources of the control processor's core in $WEFT_IBEX: the card with one, by Verilator alone, and nothing else.
Ends with status 1 if any tool has a complaint. $VERILATOR names another Verilator.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

import synth

RTL = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(RTL / "formal"))

from proofs import PROOFS  # noqa: E402

WIDTHS = [128, 256, 512]

# A board's top, and its lists of files behind `synth.sources`.
BOARDS = {
    "alveo_u50": (
        "weft_u50",
        ["boards/alveo_u50/stubs.f", "boards/alveo_u50/weft_u50.f"],
    ),
    "ecpix5": (
        "weft_ecpix5",
        ["boards/ecpix5/stubs.f", "boards/ecpix5/weft_ecpix5.f"],
    ),
    "template": ("weft_template", ["boards/template/weft_template.f"]),
}


def run_verilator(top: str, parameters: list[str], files: list[str]) -> str:
    """Complaints of Verilator, or an empty string."""
    verilator = os.environ.get("VERILATOR") or shutil.which("verilator")
    if not verilator:
        return "verilator is not installed: apt-get install verilator, or set $VERILATOR\n"
    command = [verilator, "--lint-only", "--assert", "-sv", "-Wall", "--top-module", top]
    command += [f"-G{parameter}" for parameter in parameters]
    done = subprocess.run(command + [str(RTL / "syn/lint.vlt")] + files, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def run_slang(top: str, parameters: list[str], files: list[str], defines: list[str]) -> str:
    """Complaints of slang, or an empty string."""
    try:
        import pyslang
    except ImportError:
        return "pyslang is not installed: run rtl/syn/setup.sh and use its Python\n"
    driver = getattr(pyslang, "driver", pyslang).Driver()
    driver.addStandardArgs()
    arguments = ["slang", "-Wextra", "-Wno-case-redundant-default", "-Wno-useless-cast", "--top", top]
    arguments += [word for parameter in parameters for word in ("-G", parameter)]
    arguments += [f"-D{name}" for name in defines] + files
    if not driver.parseCommandLine(" ".join(arguments)) or not driver.processOptions() or not driver.parseAllSources():
        return f"slang does not accept {arguments}\n"
    compilation = driver.createCompilation()
    driver.reportCompilation(compilation, True)
    report = driver.diagEngine
    return "complaints above\n" if report.numErrors or report.numWarnings else ""


WITH_PROCESSOR = "weft_card_control"
TOOLS = {
    "verilator -Wall": run_verilator,
    "slang": lambda *of: run_slang(*of, []),
    "slang, synthesis": lambda *of: run_slang(*of, ["SYNTHESIS"]),
}


def check(top: str, parameters: list[str], files: list[str], tools: dict = TOOLS) -> int:
    """Runs the tools over one top; returns how many had a complaint."""
    bad = 0
    for name, run in tools.items():
        complaints = run(top, parameters, files)
        print(f"{' '.join([top, *parameters])} {name}: {'FAILED' if complaints else 'clean'}", flush=True)
        if complaints:
            print(complaints, end="")
            bad += 1
    return bad


def processor_sources() -> list[str]:
    """The card with its control processor, whose core is in $WEFT_IBEX."""
    lists = ["weft_card.f", "control/control.f", "control/control_card.f"]
    own = [str(RTL / name) for path in lists for name in synth.listed(path)]
    return [str(RTL / "control/ibex.vlt"), *synth.core_sources(os.environ["WEFT_IBEX"]), *own]


def main() -> int:
    parser = argparse.ArgumentParser(description="Lint the RTL with Verilator and slang.")
    parser.add_argument("--top", default="weft_card")
    parser.add_argument("--width", type=int, nargs="*", default=WIDTHS)
    parser.add_argument("--board", nargs="*", choices=BOARDS, default=list(BOARDS))
    options = parser.parse_args()
    if options.top == WITH_PROCESSOR:
        tools = {"verilator -Wall": TOOLS["verilator -Wall"]}
        # With the card's clock, and with one of its own.
        sizes = [[f"DATA_W={width}", f"PROC_CLOCK_DIV={div}"] for width in options.width for div in (1, 4)]
        return min(1, sum(check(options.top, size, processor_sources(), tools) for size in sizes))
    card = [str(RTL / name) for name in synth.sources()]
    sizes = [[f"DATA_W={width}", f"PORTS={ports}"] for width in options.width for ports in (1, 2)]
    bad = sum(check(options.top, size, card) for size in sizes)
    for board in options.board:
        top, lists = BOARDS[board]
        bad += check(top, [], [str(RTL / name) for name in synth.sources(*lists)])
    proofs = {(proof.top, *(f"{name}={value}" for name, value in proof.parameters.items())): proof.files for proof in PROOFS}
    bad += sum(check(top, parameters, [str(RTL / name) for name in files], {"slang": TOOLS["slang"]}) for (top, *parameters), files in proofs.items())
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
