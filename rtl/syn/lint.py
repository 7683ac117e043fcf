#!/usr/bin/env python3
"""Lints the RTL with Verilator (-Wall) and slang, for each data width.

    rtl/syn/setup.sh && target/syn-venv/bin/python rtl/syn/lint.py [--top weft_card] [--width 128 512]

The style asks for `unique case` with a default, which slang alone finds redundant, and some casts are to the same
width for one of the data widths only.
Ends with status 1 if any tool has a complaint. $VERILATOR names another Verilator.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

RTL = pathlib.Path(__file__).resolve().parent.parent
WIDTHS = [128, 256, 512]


def sources() -> list[str]:
    """The files of weft_card.f, packages first, as absolute paths."""
    lines = (RTL / "weft_card.f").read_text().splitlines()
    return [str(RTL / line.strip()) for line in lines if line.strip() and not line.startswith("#")]


def run_verilator(top: str, width: int) -> str:
    """Complaints of Verilator, or an empty string."""
    verilator = os.environ.get("VERILATOR") or shutil.which("verilator")
    if not verilator:
        return "verilator is not installed: apt-get install verilator, or set $VERILATOR\n"
    command = [verilator, "--lint-only", "--assert", "-sv", "-Wall", f"-GDATA_W={width}", "--top-module", top]
    done = subprocess.run(command + [str(RTL / "syn/lint.vlt")] + sources(), capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def run_slang(top: str, width: int, defines: list[str]) -> str:
    """Complaints of slang, or an empty string."""
    try:
        import pyslang
    except ImportError:
        return "pyslang is not installed: run rtl/syn/setup.sh and use its Python\n"
    driver = getattr(pyslang, "driver", pyslang).Driver()
    driver.addStandardArgs()
    arguments = ["slang", "-Wextra", "-Wno-case-redundant-default", "-Wno-useless-cast", "--top", top, "-G", f"DATA_W={width}"]
    arguments += [f"-D{name}" for name in defines] + sources()
    if not driver.parseCommandLine(" ".join(arguments)) or not driver.processOptions() or not driver.parseAllSources():
        return f"slang does not accept {arguments}\n"
    compilation = driver.createCompilation()
    driver.reportCompilation(compilation, True)
    report = driver.diagEngine
    return "complaints above\n" if report.numErrors or report.numWarnings else ""


def main() -> int:
    parser = argparse.ArgumentParser(description="Lint the RTL with Verilator and slang.")
    parser.add_argument("--top", default="weft_card")
    parser.add_argument("--width", type=int, nargs="*", default=WIDTHS)
    options = parser.parse_args()
    bad = 0
    for width in options.width:
        checks = {
            "verilator -Wall": lambda w=width: run_verilator(options.top, w),
            "slang": lambda w=width: run_slang(options.top, w, []),
            "slang, synthesis": lambda w=width: run_slang(options.top, w, ["SYNTHESIS"]),
        }
        for name, check in checks.items():
            complaints = check()
            print(f"{options.top} DATA_W={width} {name}: {'FAILED' if complaints else 'clean'}", flush=True)
            if complaints:
                print(complaints, end="")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
