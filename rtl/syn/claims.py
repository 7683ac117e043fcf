"""What rtl/configs.toml claims, held against what is there."""

import json

import area
import synth
import timing
from configs import CONFIGS, RTL, Config, measured, settings, table

PAGE = RTL.parent / "docs/rtl.md"
BENCHES = RTL.parent / "tests/boards/rtl"
STAGES = ["area", "levels"]


def elaborated(top: str, parameters: list[str], files: list[str]) -> list[dict]:
    """The parameters of each weft_card below `top`, with their values."""
    import pyslang

    driver = getattr(pyslang, "driver", pyslang).Driver()
    driver.addStandardArgs()
    given = [word for pair in parameters for word in ("-G", pair)]
    if not driver.parseCommandLine(" ".join(["slang", synth.INCLUDE, "--top", top, *given, *files])) or not driver.processOptions() or not driver.parseAllSources():
        return []
    instance = getattr(pyslang, "ast", pyslang).InstanceSymbol
    found = []

    def visit(symbol) -> None:
        if isinstance(symbol, instance) and symbol.definition.name == "weft_card":
            found.append({parameter.name: parameter.value.value for parameter in symbol.body.parameters if hasattr(parameter, "value")})

    driver.createCompilation().getRoot().visit(visit)
    return found


def built(config: Config) -> list[str]:
    """Where the card of its board, or of its bench, is another than the configuration."""
    tops = []
    if config.board:
        tops.append((config.board.top, [str(RTL / name) for name in synth.sources(*config.board.lists())]))
    if config.simulated and "bench" in config.simulated:
        bench = config.simulated["bench"]
        tops.append((bench, [*(str(RTL / name) for name in synth.sources()), str(BENCHES / f"{bench}.sv")]))
    if not tops:
        return []
    [wanted] = elaborated(config.top, settings(config.parameters), [str(RTL / name) for name in synth.sources()])
    found = []
    for top, files in tops:
        cards = elaborated(top, [], files)
        if len(cards) != 1:
            found.append(f"{top} has {len(cards)} cards")
        for card in cards:
            found += [f"{name} is {card[name]} in {top}, {value} in {config.name}" for name, value in wanted.items() if card[name] != value]
    return found


def unrecorded(config: Config) -> list[str]:
    """Rows that are to be recorded of it, and are not."""
    rows = []
    if "area" in config.measured:
        there = json.loads(area.RECORDED.read_text())
        rows += [key for key in (area.name("xcup", block, config) for block in area.BLOCKS) if key not in there]
    if "levels" in config.measured:
        there = json.loads(timing.RECORDED.read_text())
        rows += [key for key in (timing.key(block, config) for block in timing.BLOCKS) if key not in there]
    return rows


def complaints() -> list[str]:
    found = []
    for config in CONFIGS.values():
        supported = bool(config.simulated) and config.measured == STAGES
        if config.status != ("supported" if supported else "experimental"):
            found.append(f"{config.name} is not {config.status}: simulated {'as said' if config.simulated else 'never'}, recorded {config.measured}")
        found += [f"{config.name} has no recorded {row}" for row in unrecorded(config)]
        found += built(config)
    # A row of timing.json has the width alone.
    widths = [CONFIGS[name].width for name in measured("levels")]
    if len(set(widths)) < len(widths):
        found.append("levels are recorded of two configurations of the same width")
    if table() not in PAGE.read_text():
        found.append(f"{PAGE.name} has not the table that rtl/syn/configs.py prints")
    return found
