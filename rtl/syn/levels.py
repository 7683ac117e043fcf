"""Logic levels of a netlist that yosys has mapped for UltraScale+ (its JSON, one flattened module)."""

import collections
import json
import math
import re

# A path's delay in ns: clock to output, each level with the net before it, and the last net with the set-up time. About
# what vendor tools report for a part of speed grade -2 that is half full; a memory without output register is slower.
CLOCK_TO_OUT, MEMORY_TO_OUT, LEVEL, NET_AND_SETUP = 0.10, 1.00, 0.44, 0.36

# Levels of the cells through which a value passes within a cycle. CARRY4 is half of a CARRY8.
THROUGH = {"LUT": 1.0, "INV": 0.0, "MUXF": 0.0, "CARRY8": 1.0, "CARRY4": 0.5, "BUF": 0.0}
NOT_TIMED = {"C", "CLR", "PRE", "WCLK", "CLK", "CLKARDCLK", "CLKBWRCLK"}


class Cell:
    """What a cell does to a path: outputs that start one, inputs that end one, and outputs that follow inputs."""

    def __init__(self, kind: str, cell: dict):
        pins = [(pin, bit) for pin, bits in cell["connections"].items() for bit in bits if not isinstance(bit, str)]
        way = cell["port_directions"]
        inputs = [(pin, bit) for pin, bit in pins if way[pin] == "input" and pin not in NOT_TIMED]
        self.outputs = [bit for pin, bit in pins if way[pin] == "output"]
        self.starts, self.ends, self.through, self.level = [], [], [], 0.0
        self.memory = kind.startswith(("RAM", "URAM"))
        passing = next((level for prefix, level in THROUGH.items() if kind.startswith(prefix)), None)
        if passing is not None:
            self.through, self.level = [bit for _, bit in inputs], passing
        elif kind.startswith(("RAMB", "URAM", "DSP", "FD")):
            self.starts, self.ends = self.outputs, [(pin, bit) for pin, bit in inputs if not pin.startswith("RST")]
        elif kind.startswith(("RAM", "SRL")):  # written at the clock, read in passing
            self.starts, self.ends, self.level = self.outputs, inputs, 1.0
            self.through = [bit for pin, bit in inputs if pin.startswith(("ADDR", "DPRA", "A"))]
        elif not kind.startswith(("VCC", "GND", "$")):
            raise ValueError(f"levels.py does not know the cell {kind}")


def family(name: str) -> str:
    """A register's name without what yosys added, a memory's without its piece."""
    return re.sub(r"(\.\d+)+$", "", re.sub(r"_(FD[CPRS]E|LUT\d|RAM|SRL).*$", "", name))


class Netlist:
    def __init__(self, path: str):
        module = next(iter(m for m in json.load(open(path))["modules"].values() if m["cells"]))
        self.names = self._names(module)
        self.level, self.before, self.kind, self.ends, self.places = {}, {}, {}, [], {}
        waiting, readers, passing = {}, collections.defaultdict(list), {}
        for name, port in module["ports"].items():
            for bit in port["bits"]:
                if isinstance(bit, str):
                    continue
                if port["direction"] == "input":
                    self.level[bit], self.kind[bit] = 0.0, "pin"
                else:
                    self.ends.append((f"pin {name}", "pin", bit))
        for name, raw in module["cells"].items():
            cell = Cell(raw["type"], raw)
            for bit in cell.starts:
                self.kind[bit] = "memory" if cell.memory else "register"
                self.level.setdefault(bit, 0.0)
            end = family(name) if cell.memory or not cell.starts else self.label(cell.starts[0])
            if end.startswith("$"):  # mapping gave it a name of its own: where it is written says more
                self.places[end] = re.sub(r"(.*/)?(.*?)(\.\d+)?(-.*)?$", r"\2", raw["attributes"].get("src", end).split("|")[0])
            self.ends += [(end, pin, bit) for pin, bit in cell.ends]
            if not cell.through and not cell.starts:  # a carry of constants
                self.level.update(dict.fromkeys(cell.outputs, 0.0))
            if cell.through:
                passing[name] = cell
                inputs = set(cell.through)
                waiting[name] = len(inputs)
                for bit in inputs:
                    readers[bit].append(name)
            for bit in cell.starts if cell.through else []:
                self.level.pop(bit, None)  # known when its address is
        self._propagate(passing, waiting, readers)

    @staticmethod
    def _names(module: dict) -> dict:
        best = {}
        for name, net in module["netnames"].items():
            order = (net.get("hide_name", 0), name.count("."), len(name), name)
            for bit in net["bits"]:
                if not isinstance(bit, str) and (bit not in best or order < best[bit]):
                    best[bit] = order
        return {bit: order[-1] for bit, order in best.items()}

    def shown(self, label: str) -> str:
        return self.places.get(label, label)

    def label(self, bit: int) -> str:
        return family(self.names.get(bit, str(bit)))

    def _propagate(self, passing: dict, waiting: dict, readers: dict) -> None:
        worst = {name: (0.0, None) for name in passing}
        ready = list(self.level)
        for bit in ready:  # grows
            for name in readers[bit]:
                if self.level[bit] >= worst[name][0]:
                    worst[name] = (self.level[bit], bit)
                waiting[name] -= 1
                if waiting[name]:
                    continue
                cell = passing[name]
                for out in cell.outputs:
                    self.level[out] = worst[name][0] + cell.level
                    if worst[name][1] is not None:
                        self.before[out] = worst[name][1]
                    ready.append(out)
        self.loops = sum(1 for name in waiting if waiting[name])

    def path(self, bit: int) -> list:
        """The nets of the longest path to `bit`, its start first."""
        nets = [bit]
        while nets[-1] in self.before:
            nets.append(self.before[nets[-1]])
        return nets[::-1]


def report(path: str, paths: int) -> dict:
    """One row of the table of timing.py, and the worst families of paths in words."""
    netlist = Netlist(path)
    if netlist.loops:
        raise ValueError(f"a combinational loop through {netlist.loops} cells")
    worst = {"register": 0, "memory": 0, "pin": 0, "loop": 0}
    over = endpoints = 0
    slowest, families = 0.0, {}
    for end, pin, bit in netlist.ends:
        if bit not in netlist.level:
            continue  # a constant
        count = math.ceil(netlist.level[bit])
        nets = netlist.path(bit)
        kind = "pin" if pin == "pin" else netlist.kind.get(nets[0], "register")
        start = netlist.label(nets[0])
        worst[kind] = max(worst[kind], count)
        if start == end:
            worst["loop"] = max(worst["loop"], count)
        if kind != "pin":
            endpoints += 1
            over += count > 8
            slowest = max(slowest, (MEMORY_TO_OUT if kind == "memory" else CLOCK_TO_OUT) + LEVEL * count + NET_AND_SETUP)
        key = (kind, start, end, pin if pin in ("CE", "R", "S") else "")
        if count > families.get(key, (-1,))[0]:
            families[key] = (count, nets)
    lines = []
    shown = {}
    for (kind, start, end, pin), (count, nets) in sorted(families.items(), key=lambda item: -item[1][0]):
        shown.setdefault((kind, netlist.shown(start), netlist.shown(end), pin), (count, nets))
    for (kind, start, end, pin), (count, nets) in list(shown.items())[:paths]:
        by = [name for name in dict.fromkeys(netlist.label(net) for net in nets[1:]) if not name.startswith("$")]
        lines.append(f"{count:>3} {kind:<8} {start} -> {end} {pin}" + (f"  by {', '.join(by)}" if by else ""))
    return {"levels": worst["register"], "memory": worst["memory"], "pin": worst["pin"], "loop": worst["loop"], "over": over,
            "endpoints": endpoints, "ns": round(slowest, 2), "paths": lines}
