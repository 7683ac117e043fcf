#!/usr/bin/env python3
"""The tables of the book that say what other files say, each between `<!-- name -->` and `<!-- end of name -->`, and the places in the sources
that docs/questions.md names.

Without an option it compares, and ends with status 1 if a page is stale; --write renews the pages.
"""

import functools
import json
import pathlib
import re
import sys

from code_lines import counted

ROOT = pathlib.Path(__file__).resolve().parents[2]
CARD = ROOT / "rtl/weft_card.sv"
AREA = ROOT / "rtl/syn/area.json"
TIMING = ROOT / "rtl/syn/timing.json"
# Columns of area.json, and how the table names them.
COLUMNS = {"lut": "LUT", "ff": "FF", "lutram": "LUTs as memory", "bram": "block RAM"}


def header():
    """The module's parameters as text."""
    return re.search(r"^module weft_card\b.*?#\((.*?)\n\) \(", CARD.read_text(), re.S | re.M).group(1)


def cell(text):
    return text.strip().replace("|", "\\|")


def parameters():
    rows = ["| parameter | default | what |", "|---|---|---|"]
    for line in header().split("\n"):
        code, _, comment = line.partition("//")
        declared = re.search(r"parameter\s+.*?(\w+)\s*=\s*([^,\s]+)", code)
        if declared:
            rows.append(f"| `{declared[1]}` | `{declared[2]}` | {cell(comment)} |")
    return rows


def blocks(recorded, target, width, flows):
    """Of a card of this size, by block."""
    size = {"DATA_W": width, "NUM_FLOWS": flows, "NUM_STAGS": 4 * flows}
    found = {}
    for key, row in recorded.items():
        family, block, *settings = key.split(" ")
        pairs = dict(setting.split("=") for setting in settings)
        # Not `control_clock`, which is of the processor.
        if family == target and all(name in size and int(value) == size[name] for name, value in pairs.items()):
            found[block] = row
    return found


def number(value):
    return f"{value:g}"


def total(of):
    return [number(sum(row[column] for row in of.values())) for column in COLUMNS]


def area():
    recorded = json.loads(AREA.read_text())
    small, large = (blocks(recorded, "xcup", *size) for size in [(128, 64), (512, 1024)])
    names = list(COLUMNS.values())
    rows = ["| block | " + " | ".join([f"128 bits, 64 flows: {names[0]}", *names[1:], f"512 bits, 1024 flows: {names[0]}", *names[1:]]) + " |",
            "|---" * (1 + 2 * len(names)) + "|"]
    for block in sorted(small, key=lambda name: -large[name]["lut"]):
        cells = [number(of[block][column]) for of in (small, large) for column in COLUMNS]
        rows.append(f"| `{block}` | " + " | ".join(cells) + " |")
    return rows + ["| **sum** | " + " | ".join(total(small) + total(large)) + " |"]


def sizes():
    recorded = json.loads(AREA.read_text())
    rows = ["| sum of | " + " | ".join(COLUMNS.values()) + " |", "|---" * (1 + len(COLUMNS)) + "|"]
    for target, family in [("xcup", "UltraScale+"), ("ecp5", "ECP5")]:
        for width in [128, 256, 512]:
            for flows in [64, 1024, 4096]:
                cells = total(blocks(recorded, target, width, flows))
                rows.append(f"| {family}, {width} bits, {flows} flows, {4 * flows} STags | " + " | ".join(cells) + " |")
    return rows


def levels():
    recorded = json.loads(TIMING.read_text())
    columns = {"levels": "levels", "memory": "memory", "loop": "loop", "pin": "pin", "enables": "enables", "over": "over 8", "endpoints": "of", "ns": "ns"}
    rows = ["| block, bits | " + " | ".join(columns.values()) + " |", "|---" * (1 + len(columns)) + "|"]
    for name, row in recorded.items():
        block, _, width = name.partition(" ")
        cells = [number(row[column]) if column == "ns" else str(row[column]) for column in columns]
        rows.append(f"| `{block}`{', ' + width if width else ''} | " + " | ".join(cells) + " |")
    return rows


C_INTERFACE = ROOT / "hostdrv/c"


def programs():
    rows = ["| program | Debian's package | what | frames lost |", "|---|---|---|---|"]
    for row in json.loads((C_INTERFACE / "programs.json").read_text()):
        lost = f"1 in {1_000_000 // row['loss']}" if "loss" in row else ""
        rows.append(f"| `{row['program']}` | {row['package']} | {row['what']} | {lost} |")
    return rows


def failing():
    rows = json.loads((C_INTERFACE / "failing.json").read_text())
    return ["| program | why |", "|---|---|"] + [f"| `{row['program']}` | {row['why']} |" for row in rows]


def names(kinds, pattern):
    """Functions by what their names begin with."""
    found = set()
    for path in sorted((C_INTERFACE / "src").rglob("*.rs")):
        found.update(re.findall(pattern, path.read_text(), re.M))
    rows = ["| | |", "|---|---|"]
    for kind in kinds:
        of = sorted(name for name in found if name.startswith(kind))
        rows.append(f"| `{kind}` | " + ", ".join(f"`{name.removeprefix(kind)}`" for name in of) + " |")
    return rows


def calls():
    operations = "alloc_mw|bind_mw|dealloc_mw|poll_cq|req_notify_cq|create_cq_ex|modify_cq|post_srq_recv|post_send|post_recv|create_qp_ex|query_device_ex"
    operations += "|create_srq_ex|get_srq_num|open_xrcd|close_xrcd|open_qp|wr_start|wr_complete|wr_abort|wr_send|wr_send_inv|wr_rdma_write|wr_rdma_write_imm|wr_rdma_read"
    operations += "|wr_atomic_cmp_swp|wr_atomic_fetch_add|wr_local_inv|wr_bind_mw|wr_set_sge|wr_set_sge_list|wr_set_inline_data|wr_set_inline_data_list|wr_set_xrc_srqn"
    operations += "|start_poll|next_poll|end_poll|read_opcode|read_byte_len|read_imm_data|read_qp_num|read_wc_flags"
    rows = names(["ibv_", "rdma_"], r"^    (?:verb|cm|made|number|count|size|text|void) fn _?((?:ibv|rdma)_\w+)\(")
    there = [f"`{name}`" for name in operations.split("|")]
    return rows + ["| by a context | " + ", ".join(there) + " |"]


def absent():
    text = (C_INTERFACE / "src/absent.rs").read_text()
    listed = text[text.index("\nabsent! {"):]
    rows = ["| | |", "|---|---|"]
    for kind in ["ibv_", "rdma_"]:
        of = sorted(set(re.findall(rf"\b{kind}(\w+)", listed)))
        rows.append(f"| `{kind}` | " + ", ".join(f"`{name}`" for name in of) + " |")
    return rows


# `// Environment (tests): `NAME`, `OTHER`: meaning. Without it: what then.`, over as many lines of comment as it takes.
DESCRIBED = re.compile(r"Environment \((\w+)\): ((?:`\w+`, )*`\w+`): (.*?)\.(?: Without it: (.*)\.)?$")
SOURCES = ["hostdrv", "firmware", "sim", "tests", "rtl"]


def variables():
    """What the sources say of each variable where they read it: (section, names, meaning, without, file)."""
    found = []
    for file in sorted(path for folder in SOURCES for path in (ROOT / folder).rglob("*.rs")):
        lines = file.read_text().split("\n")
        for at, line in enumerate(lines):
            if not line.strip().startswith("// Environment ("):
                continue
            text = line.strip()[3:]
            while not DESCRIBED.match(text) or lines[at + 1].strip().startswith("// Without it"):
                at += 1
                more = lines[at].strip()
                if not more.startswith("// "):
                    sys.exit(f"{file.relative_to(ROOT)}: {text}: the meaning does not end in a full stop")
                text += " " + more[3:]
            found.append((*DESCRIBED.match(text).groups(), file.relative_to(ROOT)))
    return found


def environment(section):
    """Of one section. A page of the book that the text names is a link."""
    def linked(text):
        return cell(re.sub(r"docs/([\w-]+\.md)(#[\w-]+)?", lambda m: f"[{m[1]}]({m[1]}{m[2] or ''})", text or ""))

    rows = ["| variable | meaning | without it | read in |", "|---|---|---|---|"]
    for of, names, meaning, without, file in sorted(variables()):
        if of == section:
            rows.append(f"| {names} | {linked(meaning)} | {linked(without)} | `{file}` |")
    return rows


def hello():
    """The first program of Weft, and those of others."""
    lines, unsafe = counted((ROOT / "hostdrv/examples/hello.rs").read_text())
    own = {"program": "`hello.rs`", "of": "Weft", "lines": lines, "unsafe": unsafe, "what": "a Write and a Send"}
    rows = ["| program | of | lines of code | `unsafe` | what it does |", "|---|---|---|---|---|"]
    for of in [own, *json.loads((ROOT / "hostdrv/examples/others.json").read_text())]:
        rows.append("| " + " | ".join(str(of[key]) for key in ["program", "of", "lines", "unsafe", "what"]) + " |")
    return rows


TABLES = {
    "driver.md": {"hello": hello},
    "c-programs.md": {"programs": programs, "failing": failing, "calls": calls, "absent": absent},
    "environment.md": {section: functools.partial(environment, section) for section in ["programs", "building", "tests"]},
    "rtl.md": {"parameters": parameters, "area": area, "sizes": sizes},
    "timing.md": {"levels": levels},
}


# Lines by which a place may be off.
NEAR = 30
# `path:line` (`words of that line`)
PLACE = re.compile(r"`([\w./-]+):(\d+)` \(`([^`]+)`\)")


def places(text):
    """The page with the lines on which the words stand, and what is not there."""
    wrong = []

    def place(found):
        path, line, words = found.groups()
        file = ROOT / path
        lines = file.read_text().split("\n") if file.is_file() else []
        right = [n for n, content in enumerate(lines, 1) if words in content]
        if not right:
            wrong.append(f"{path} has no {words}")
        nearest = min(right, key=lambda n: abs(n - int(line)), default=int(line))
        # A reader finds what has moved by less. Writing puts it right.
        at = nearest if "--write" in sys.argv or abs(nearest - int(line)) > NEAR else int(line)
        return f"`{path}:{at}` (`{words}`)"

    return PLACE.sub(place, text), wrong


def main():
    stale = []
    questions = ROOT / "docs/questions.md"
    text, wrong = places(questions.read_text())
    if wrong:
        sys.exit("docs/questions.md: " + "; ".join(wrong))
    if text != questions.read_text():
        stale.append("docs/questions.md: line numbers")
    if "--write" in sys.argv:
        questions.write_text(text)
    for name, tables in TABLES.items():
        path = ROOT / "docs" / name
        text = path.read_text()
        for mark, make in tables.items():
            first, last = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->"
            if text.count(first) != 1 or text.count(last) != 1:
                sys.exit(f"docs/{name} has no place for {mark}")
            start, end = text.index(first) + len(first), text.index(last)
            table = "\n".join(make()) + "\n"
            if text[start:end] != table:
                stale.append(f"docs/{name}: {mark}")
                text = text[:start] + table + text[end:]
        if "--write" in sys.argv:
            path.write_text(text)
    if stale and "--write" not in sys.argv:
        sys.exit("stale, docs/site/generate.py --write renews: " + "; ".join(stale))


if __name__ == "__main__":
    main()
