#!/usr/bin/env python3
"""Holds what others build with equal to the card: docs/integrating.md, its pictures, weft.core.

    rtl/syn/integration.py [--write]

The page has the template as lint elaborates it, and each port of weft_card in its table, once; weft_card.f lists the files that the card needs,
and weft.core those of weft_card.f, in their order; the pictures are those of waves.py. --write renews all but the table and weft_card.f. Ends with status 1 and a line for each difference.
"""

import argparse
import pathlib
import re
import sys

import needs
import synth
import waves

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/integrating.md"
CORE = ROOT / "rtl/weft.core"
TEMPLATE = ROOT / "rtl/boards/template/weft_template.sv"
PORT = re.compile(r"^\s*(input|output)\s+logic\s*(?:\[[^\]]*\])?\s*(\w+),?\s*(?://.*)?$", re.M)


def between(text: str, begin: str, end: str, middle: str) -> str:
    """A text with what is between two lines replaced."""
    found = re.search(rf"({re.escape(begin)}\n).*?({re.escape(end)})", text, re.S)
    if not found:
        sys.exit(f"no '{begin}' .. '{end}'")
    return text[: found.end(1)] + middle + text[found.start(2) :]


def page() -> str:
    """The page, with the template as it is."""
    inside = re.search(r"^  // begin\n(.*?)^  // end$", TEMPLATE.read_text(), re.S | re.M)
    lines = [line[2:] if line.startswith("  ") else line for line in inside[1].split("\n") if "verilog_format" not in line]
    return between(PAGE.read_text(), "<!-- template -->\n```systemverilog", "```\n<!-- end of template -->", "\n".join(lines).strip("\n") + "\n")


def core() -> str:
    """The core file, with the lists as they are."""
    text = CORE.read_text()
    for name in ("weft_card.f", "boards/boards.f"):
        files = "".join(f"      - {file}\n" for file in synth.listed(name))
        text = between(text, f"      # rtl/{name}", f"      # end of rtl/{name}", files)
    return text


def ports() -> list[str]:
    """Ports of the card that the table lacks or has twice, and names that are no ports."""
    source = (ROOT / "rtl/weft_card.sv").read_text()
    has = [name for _, name in PORT.findall(source[: source.index("\n);")])]
    table = re.search(r"<!-- pins -->\n(.*?)\n<!-- end of pins -->", PAGE.read_text(), re.S)[1]
    named: list[str] = []
    for line in table.split("\n")[2:]:
        # Names that begin alike: `m_axi_` `awid awaddr`.
        for stem, rest, name in re.findall(r"`(\w+_)` `([\w ]+)`|`(\w+)`", line.split("|")[2]):
            named += [name] if name else [stem + end for end in rest.split()]
    wrong = [f"{PAGE.name}: no row for {name}" for name in has if name not in named]
    wrong += [f"{PAGE.name}: {name} is no port" for name in sorted(set(named)) if name not in has]
    return wrong + [f"{PAGE.name}: {name} is there {named.count(name)} times" for name in sorted(set(named)) if named.count(name) > 1]


def lists() -> list[str]:
    """Files that the card needs and weft_card.f lacks, and files in it that it does not need."""
    has, wants = synth.listed("weft_card.f"), needs.needed("weft_card")
    wrong = [f"weft_card.f lacks {file}, which the card needs" for file in wants if file not in has]
    return wrong + [f"weft_card.f lists {file}, which the card does not need" for file in has if file not in wants]


def main() -> int:
    parser = argparse.ArgumentParser(description="Hold docs/integrating.md and weft.core equal to the card.")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    wanted = {PAGE: page(), CORE: core()}
    wanted |= {ROOT / f"docs/pictures/{name}.svg": waves.svg(name) for name in waves.WAVES}
    wrong = ports() + lists()
    for path, text in wanted.items():
        if options.write:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            wrong.append(f"{path.relative_to(ROOT)} is not of today: rtl/syn/integration.py --write")
    print("\n".join(wrong) or f"docs/integrating.md, {len(waves.WAVES)} pictures and weft.core are as the card is")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
