#!/usr/bin/env python3
"""Lines of Rust or C that are neither empty nor comments, and how often they say `unsafe`: `docs/site/code_lines.py FILE ..`."""

import pathlib
import re
import sys


def counted(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    lines = [re.sub(r"//.*", "", line).strip() for line in text.split("\n")]
    return sum(1 for line in lines if line), sum(len(re.findall(r"\bunsafe\b", line)) for line in lines)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(*counted(pathlib.Path(name).read_text()), name)
