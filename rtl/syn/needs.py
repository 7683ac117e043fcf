"""Which files a module needs: those of the modules, interfaces and packages that it names, and so on.

What a proof has in a module's place has its name, too, and is taken where a proof asks for it. A header counts as the text that includes it.
"""

import functools
import pathlib
import re

RTL = pathlib.Path(__file__).resolve().parent.parent
# Ports of what the vendor has.
STUBS = "stubs"
DECLARED = re.compile(r"^(?:module|interface|package)\s+(\w+)", re.M)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
# A name that is used: of a package, a modport, an instance with or without parameters.
USE = re.compile(r"\b(\w+)(?=\s*(?:::|\.\w+\s+\w+|#\s*\(|\s\w+\s*(?:\(|\[[^]]*\]\s*\()))|`include \"(\w+)\.svh\"")


@functools.cache
def files() -> dict[str, str]:
    """Name -> file, below rtl; what is in the folder of proofs has a name only if nothing else has it."""
    found: dict[str, str] = {}
    every = [path for path in sorted(RTL.rglob("*.sv*")) if path.suffix in (".sv", ".svh") and path.parent.name != STUBS]
    for path in sorted(every, key=lambda path: path.parent.name == "formal"):
        for name in DECLARED.findall(path.read_text()) or [path.stem]:
            found.setdefault(name, str(path.relative_to(RTL)))
    return found


@functools.cache
def names(file: str) -> tuple[str, ...]:
    """What a file uses, by name, each once."""
    text = COMMENT.sub(" ", (RTL / file).read_text())
    used = (match[1] or match[2] for match in USE.finditer(text))
    return tuple(dict.fromkeys(name for name in used if name in files()))


def needed(top: str, instead: tuple[str, ...] = ()) -> list[str]:
    """The files of `top`, each behind those that it uses, packages first. `instead`: files that are taken for what has their names."""
    place = files() | {name: file for file in instead for name in DECLARED.findall((RTL / file).read_text())}
    seen: set[str] = set()
    found: list[str] = []

    def visit(file: str) -> None:
        if file not in seen:
            seen.add(file)
            for name in names(file):
                visit(place[name])
            found.append(file)

    visit(place[top])
    return sorted((file for file in found if file.endswith(".sv")), key=lambda file: not file.endswith("_pkg.sv"))
