"""The head of an RTL module: a comment from the first line on, in four parts.

    // <what it is>
    //
    // Handshake: <who may wait, what is held; latency, throughput>
    // Pipeline:  <a line a stage, or "none, combinational">
    // Why:       <the invariant or the constraint that a reader would not guess>

The parts that a module has come in this order, once each. One with a ready/valid pair among its ports has "Handshake:".
"""

import re

PARTS = ["Handshake:", "Pipeline:", "Why:"]
# The column in which a part's text begins, behind "// ".
INDENT = 11
NAME = re.compile(r"^\s*(?:input|output)\b[^/]*?(\w+)\s*(?:\[[^]]*\]\s*)?,?\s*(?://.*)?$")
DIRECTION = re.compile(r"_[io]$")


def pairs(text: str) -> list[str]:
    """Ready/valid pairs among the ports: the names of their valids."""
    names = [match[1] for match in map(NAME.match, text.splitlines()) if match]
    stems = {DIRECTION.sub("", name) for name in names}
    return [name for name in names if "valid" in name and DIRECTION.sub("", name).replace("valid", "ready") in stems]


def complaints(text: str) -> list[str]:
    """What a file's head lacks."""
    lines = text.splitlines()
    head = lines[: next((n for n, line in enumerate(lines) if not line.startswith("//")), len(lines))]
    if not head or not head[0].strip("/ "):
        return ["does not begin with a comment that says what it is"]
    parts = [match[1] for match in (re.match(r"// (\w+:)(?:\s|$)", line) for line in head) if match and match[1] in PARTS]
    found = []
    if parts != [part for part in PARTS if part in parts]:
        found.append(f"has the parts of its head in the order {' '.join(parts)}")
    if parts and head[next(n for n, line in enumerate(head) if line.startswith(f"// {parts[0]}")) - 1] != "//":
        found.append(f"has no empty line before {parts[0]}")
    found += [f"does not begin the text of {part} in column {INDENT + 3}" for part in parts if f"// {part.ljust(INDENT)}" not in "\n".join(head)]
    valids = pairs(text)
    if valids and "Handshake:" not in parts:
        found.append(f"has the ready/valid pair {valids[0]}, and no Handshake: in its head")
    return found
