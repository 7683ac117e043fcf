#!/usr/bin/env python3
"""The configurations of the card that have a name: rtl/configs.toml. Run, it prints the table of docs/rtl.md."""

import dataclasses
import pathlib
import re
import tomllib

RTL = pathlib.Path(__file__).resolve().parent.parent
# Width and tables: all that most blocks know of a configuration.
SIZE = ["DATA_W", "NUM_FLOWS", "NUM_STAGS"]
WITH_PROCESSOR = "weft_card_control"


@dataclasses.dataclass(frozen=True)
class Board:
    """The top that a board has, with its lists of files behind `synth.sources`."""

    top: str
    folder: str

    def lists(self) -> list[str]:
        return [f"{self.folder}/stubs.f", f"{self.folder}/{self.top}.f"]


@dataclasses.dataclass(frozen=True)
class Config:
    name: str
    what: str
    status: str
    parameters: dict
    measured: list
    top: str = "weft_card"
    simulated: dict | None = None
    board: Board | None = None

    @property
    def width(self) -> int:
        return self.parameters["DATA_W"]

    @property
    def with_processor(self) -> bool:
        return self.top == WITH_PROCESSOR

    def more(self) -> dict:
        """What it is besides its size."""
        return {key: value for key, value in self.parameters.items() if key not in SIZE}

    def of(self, block: str) -> dict:
        """Those of its parameters that the module `block` has."""
        known = declared(block)
        return {key: value for key, value in self.parameters.items() if key in known}


def declared(block: str) -> list[str]:
    """The parameters of a module of this tree."""
    file = next(RTL.rglob(f"{block}.sv"))
    return re.findall(r"^ *parameter\b[^=]*?([A-Z][A-Z0-9_]*) *=", file.read_text(), re.MULTILINE)


def read() -> dict[str, Config]:
    tables = tomllib.loads((RTL / "configs.toml").read_text())
    return {name: Config(name, **{**table, "board": Board(**table["board"]) if "board" in table else None}) for name, table in tables.items()}


CONFIGS = read()
ALONE = [name for name, config in CONFIGS.items() if not config.with_processor]


def measured(figure: str) -> list[str]:
    """The configurations of which this is recorded block by block."""
    return [name for name, config in CONFIGS.items() if figure in config.measured]


def settings(parameters: dict) -> list[str]:
    return [f"{key}={value}" for key, value in parameters.items()]


def row(config: Config) -> str:
    size = " × ".join(str(config.parameters[key]) for key in SIZE)
    more = [f"`{pair}`" for pair in settings(config.more())]
    if config.with_processor:
        more.insert(0, f"`{config.top}`")
    simulated = "no"
    if config.simulated:
        by, *differs = settings(config.simulated)
        simulated = f"`{by.partition('=')[2]}`" + (f", {', '.join(f'`{pair}`' for pair in differs)}" if differs else "")
    recorded = ", ".join(config.measured) or "nothing"
    return f"| `{config.name}` | {config.what} | {size} | {', '.join(more)} | {simulated} | {recorded} | {config.status} |"


def table() -> str:
    head = "| name | what | bits × flows × STags | besides | simulated | recorded block by block | |\n|---|---|---|---|---|---|---|"
    return "\n".join([head, *map(row, CONFIGS.values())]) + "\n"


if __name__ == "__main__":
    print(table(), end="")
