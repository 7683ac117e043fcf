#!/usr/bin/env python3
"""Lints the RTL with Verilator (-Wall) and slang: each configuration that has a name (../configs.toml), and the board that builds it against stubs
of what its vendor brings. The proofs' own files by slang alone: they are not for Verilator. Then what is claimed of the configurations (claims.py).

    rtl/syn/setup.sh && target/syn-venv/bin/python rtl/syn/lint.py [--config u50 small]

The style asks for `unique case` with a default, which slang alone finds redundant, and some casts are to the same
width for one of the data widths only.
--config: those alone. --processor, with the sources of the control processor's core in $WEFT_IBEX: those with one alone, by Verilator alone.
Ends with status 1 if any tool has a complaint. $VERILATOR names another Verilator.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

import claims
import synth
from configs import ALONE, CONFIGS, Config, settings

RTL = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(RTL / "formal"))

from proofs import PROOFS  # noqa: E402


def run_verilator(top: str, parameters: list[str], files: list[str]) -> str:
    """Complaints of Verilator, or an empty string."""
    verilator = os.environ.get("VERILATOR") or shutil.which("verilator")
    if not verilator:
        return "verilator is not installed: apt-get install verilator, or set $VERILATOR\n"
    command = [verilator, "--lint-only", "--assert", "-sv", "-Wall", synth.INCLUDE, "--top-module", top]
    # A constant of a package is more than -G takes here: a board has it.
    command += [f"-G{parameter}" for parameter in parameters if "::" not in parameter]
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
    arguments = ["slang", synth.INCLUDE, "--allow-toplevel-iface-ports", "-Wextra", "-Wno-case-redundant-default", "-Wno-useless-cast", "--top", top]
    arguments += [word for parameter in parameters for word in ("-G", parameter)]
    arguments += [f"-D{name}" for name in defines] + files
    if not driver.parseCommandLine(" ".join(arguments)) or not driver.processOptions() or not driver.parseAllSources():
        return f"slang does not accept {arguments}\n"
    compilation = driver.createCompilation()
    driver.reportCompilation(compilation, True)
    report = driver.diagEngine
    return "complaints above\n" if report.numErrors or report.numWarnings else ""


TOOLS = {
    "verilator -Wall": run_verilator,
    "slang": lambda *of: run_slang(*of, []),
    "slang, synthesis": lambda *of: run_slang(*of, ["SYNTHESIS"]),
}


def check(name: str, top: str, parameters: list[str], files: list[str], tools: dict = TOOLS) -> int:
    """Runs the tools over one top; returns how many had a complaint."""
    bad = 0
    for tool, run in tools.items():
        complaints = run(top, parameters, files)
        print(f"{name}, {tool}: {'FAILED' if complaints else 'clean'}", flush=True)
        if complaints:
            print(complaints, end="")
            bad += 1
    return bad


def processor_sources() -> list[str]:
    """Verilator's, of the card with its control processor, whose core is in $WEFT_IBEX."""
    lists = ["weft_card.f", "control/control.f", "control/control_card.f"]
    own = [str(RTL / name) for path in lists for name in synth.listed(path)]
    return [str(RTL / "control/ibex.vlt"), *synth.core_sources(os.environ["WEFT_IBEX"]), *own]


def config(one: Config) -> int:
    """Lints a configuration and its board; returns how many tools had a complaint."""
    if one.with_processor:
        return check(one.name, one.top, settings(one.parameters), processor_sources(), {"verilator -Wall": TOOLS["verilator -Wall"]})
    bad = check(one.name, one.top, settings(one.parameters), [str(RTL / name) for name in synth.sources()])
    if one.board:
        bad += check(one.board.top, one.board.top, [], [str(RTL / name) for name in synth.sources(*one.board.lists())])
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(description="Lint the RTL with Verilator and slang.")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--config", nargs="*", choices=ALONE, metavar="NAME", help=f"these alone, of {', '.join(ALONE)}")
    which.add_argument("--processor", action="store_true", help="those with a control processor alone")
    options = parser.parse_args()
    if options.processor:
        return min(1, sum(config(one) for one in CONFIGS.values() if one.with_processor))
    bad = sum(config(CONFIGS[name]) for name in options.config or ALONE)
    if options.config:
        return min(1, bad)
    bad += check("template", "weft_template", [], [str(RTL / name) for name in synth.sources("boards/template/weft_template.f")])
    proofs = {(proof.top, *settings(proof.parameters)): proof.files for proof in PROOFS}
    for (top, *parameters), files in proofs.items():
        bad += check(" ".join([top, *parameters]), top, parameters, [str(RTL / name) for name in files], {"slang": TOOLS["slang"]})
    for complaint in claims.complaints():
        print(f"configs.toml: {complaint}", flush=True)
        bad += 1
    return min(1, bad)


if __name__ == "__main__":
    sys.exit(main())
