"""Logic levels of a netlist that yosys has mapped for UltraScale+ (its JSON, one flattened module).

Flip-flops have to be named after the wires they drive (`rename -wire` before mapping): `name[3]` is bit 3 of the register `name`.
A path is followed from each kind of start by itself, so that a long path from a register hides none from a memory or a pin
to the same end.

A loop is a path from a bit of a register to a bit of the same register from which, over as many cycles as it takes but over
bits of this register alone, the first one can be reached again. So the bits of a counter are in loops; a pipeline's bits that only
move on, or two fields of one name of which one never hears of the other, are in none. A memory is one such bit.
"""

import collections
import heapq
import json
import math
import re

# A path's delay in ns: clock to output, each level with the net before it, and the last net with the set-up time. About
# what vendor tools report for a part of speed grade -2 that is half full; a memory without output register is slower.
CLOCK_TO_OUT, MEMORY_TO_OUT, LEVEL, NET_AND_SETUP = 0.10, 1.00, 0.44, 0.36

# Levels of the cells through which a value passes within a cycle. CARRY4 is half of a CARRY8.
THROUGH = {"LUT": 1.0, "INV": 0.0, "MUXF": 0.0, "CARRY8": 1.0, "CARRY4": 0.5, "BUF": 0.0}
CLOCKS = {"C", "WCLK", "CLK", "CLKARDCLK", "CLKBWRCLK"}
NOT_TIMED = {"CLR", "PRE", *CLOCKS}
KINDS = ("register", "memory", "pin")

# The rules (docs/timing.md).
LEVELS, MEMORY, LOOP, PIN = 8, 3, 6, 2


class Cell:
    """What a cell does to a path: outputs that start one, inputs that end one, and outputs that follow inputs."""

    def __init__(self, kind: str, cell: dict):
        pins = [(pin, bit) for pin, bits in cell["connections"].items() for bit in bits if not isinstance(bit, str)]
        way = cell["port_directions"]
        inputs = [(pin, bit) for pin, bit in pins if way[pin] == "input" and pin not in NOT_TIMED]
        self.outputs = [bit for pin, bit in pins if way[pin] == "output"]
        self.clocks = {bit for pin, bit in pins if pin in CLOCKS}
        self.starts, self.ends, self.through, self.level = [], [], [], 0.0
        self.block = kind.startswith(("RAMB", "URAM"))
        self.memory = kind.startswith(("RAM", "URAM", "SRL"))
        passing = next((level for prefix, level in THROUGH.items() if kind.startswith(prefix)), None)
        if passing is not None:
            self.through, self.level = [bit for _, bit in inputs], passing
        elif self.block or kind.startswith(("DSP", "FD")):
            self.starts, self.ends = self.outputs, [(pin, bit) for pin, bit in inputs if not pin.startswith("RST")]
        elif self.memory:  # written at the clock, read in passing
            self.starts, self.ends, self.level = self.outputs, inputs, 1.0
            self.through = [bit for pin, bit in inputs if pin.startswith(("ADDR", "DPRA", "A"))]
        elif not kind.startswith(("VCC", "GND", "$")):
            raise ValueError(f"levels.py does not know the cell {kind}")


def family(name: str) -> str:
    """A register's name without its bit and what yosys added, a memory's without its piece."""
    return re.sub(r"(\[\d+\])+$", "", re.sub(r"(\.\d+)+$", "", re.sub(r"(\$_\w*DFF|_(FD[CPRS]E|LUT\d|RAM|SRL)).*$", "", name)))


class Netlist:
    def __init__(self, path: str, clock: str | None = None):
        """`clock`: only what ends at a register or a memory of this port's clock, or at a pin."""
        module = next(iter(m for m in json.load(open(path))["modules"].values() if m["cells"]))
        self.names = self._names(module)
        self.kind, self.node, self.ends, self.places = {}, {}, [], {}
        self.readers, self.driver, self.cells = collections.defaultdict(list), {}, {}
        for name, port in module["ports"].items():
            for bit in port["bits"]:
                if isinstance(bit, str):
                    continue
                if port["direction"] == "input":
                    self.kind[bit], self.node[bit] = "pin", (name, "")
                else:
                    self.ends.append((("pin " + name, ""), "pin", bit))
        for name, raw in module["cells"].items():
            cell = Cell(raw["type"], raw)
            label = family(name)
            if label.startswith("$"):  # mapping gave it a name of its own: where it is written says more
                self.places[label] = re.sub(r"(.*/)?(.*?)(\.\d+)?(-.*)?$", r"\2", raw["attributes"].get("src", label).split("|")[0])
            node = (label, "" if cell.memory else name)
            for bit in cell.starts:
                self.node[bit] = node
                if not cell.through:
                    self.kind[bit] = "memory" if cell.block else "register"
            if clock is None or cell.clocks & set(module["ports"][clock]["bits"]):
                self.ends += [(node, pin, bit) for pin, bit in cell.ends]
            if cell.through:
                self.cells[name] = cell
                for bit in set(cell.through):
                    self.readers[bit].append(name)
                for bit in cell.outputs:
                    self.driver[bit] = cell
        self._order()
        self.level, self.before = {}, {}
        for kind in KINDS:
            self._propagate(kind)

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
        return self.node[bit][0] if bit in self.node else family(self.names.get(bit, str(bit)))

    def _order(self) -> None:
        """The cells that a value passes, each behind those that it depends on, and the place of each net."""
        driven = set(self.driver)
        waiting = {name: len({bit for bit in cell.through if bit in driven}) for name, cell in self.cells.items()}
        ready = [name for name, count in waiting.items() if not count]
        self.order, self.place = [], {}
        for name in ready:  # grows
            cell = self.cells[name]
            self.order.append(cell)
            for out in cell.outputs:
                self.place[out] = len(self.order)
                for reader in self.readers.get(out, ()):
                    waiting[reader] -= 1
                    if not waiting[reader]:
                        ready.append(reader)
        self.loops = len(self.cells) - len(self.order)

    def _propagate(self, kind: str) -> None:
        level = {bit: 0.0 for bit, of in self.kind.items() if of == kind}
        before = {}
        for cell in self.order:
            worst, by = max(((level[bit], bit) for bit in cell.through if bit in level), default=(None, None))
            if by is not None:
                for out in cell.outputs:
                    level[out], before[out] = worst + cell.level, by
        self.level[kind], self.before[kind] = level, before

    def path(self, kind: str, bit: int) -> list:
        """The nets of the longest path to `bit` from a start of this kind, its start first."""
        nets = [bit]
        while nets[-1] in self.before[kind]:
            nets.append(self.before[kind][nets[-1]])
        return nets[::-1]

    def _from_same(self, label: str, bit: int, best: int) -> dict:
        """Bits of the register `label`, with the levels from each to the end `bit` where those are over `best`."""
        away, found = {bit: 0.0}, {}
        heap = [(-self.place.get(bit, 0), bit)]
        while heap:
            _, net = heapq.heappop(heap)
            count = away[net]
            if self.node.get(net, ("",))[0] == label:  # of a LUT RAM its own level is part of the path
                found[self.node[net]] = max(found.get(self.node[net], 0), math.ceil(count + (self.driver[net].level if net in self.driver else 0)))
            cell = self.driver.get(net)
            if cell is None:
                continue
            for source in set(cell.through):
                far = count + cell.level
                if math.ceil(far + max(self.level[kind].get(source, -99.0) for kind in ("register", "memory"))) <= best:
                    continue
                if source not in away:
                    heapq.heappush(heap, (-self.place.get(source, 0), source))
                    away[source] = far
                elif far > away[source]:
                    away[source] = far
        return {start: count for start, count in found.items() if count > best}

    def _reaches(self, start: tuple, goal: tuple, starts: dict, ends: dict) -> bool:
        """Whether a value of the bit `start` comes to `goal`, over bits of this register alone."""
        seen, todo = {start}, [start]
        while todo:
            nets = list(starts[todo.pop()])
            passed = set(nets)
            for net in nets:  # grows
                for node in ends.get(net, ()):
                    if node == goal:
                        return True
                    if node not in seen:
                        seen.add(node)
                        todo.append(node)
                for name in self.readers.get(net, ()):
                    for out in self.cells[name].outputs:
                        if out not in passed:
                            passed.add(out)
                            nets.append(out)
        return False

    def loops_over(self, limit: int) -> tuple:
        """The levels of the longest loop, and each register whose longest loop has over `limit` levels, with these."""
        starts, ends = collections.defaultdict(lambda: collections.defaultdict(list)), collections.defaultdict(list)
        for bit, node in self.node.items():
            starts[node[0]][node].append(bit)
        far = {}
        for node, pin, bit in self.ends:
            if pin != "pin" and node[0] in starts:
                ends[node[0]].append((node, bit))
                far[node[0], bit] = math.ceil(max(self.level[kind].get(bit, 0.0) for kind in ("register", "memory")))
        worst, over = 0, {}
        for label in sorted(ends, key=lambda name: -max(far[name, bit] for _, bit in ends[name])):
            best = min(worst, limit)
            by_bit = collections.defaultdict(set)
            for node, bit in ends[label]:
                by_bit[bit].add(node)
            for bit in sorted(by_bit, key=lambda end: -far[label, end]):
                if far[label, bit] <= best:
                    break
                for start, count in sorted(self._from_same(label, bit, best).items(), key=lambda item: -item[1]):
                    if count > best and any(node == start or self._reaches(node, start, starts[label], by_bit) for node in by_bit[bit]):
                        best = count
            worst = max(worst, best)
            if best > limit:
                over[label] = best
        return worst, over


def report(path: str, paths: int, clock: str | None = None) -> dict:
    """One row of the table of timing.py, and the worst families of paths in words."""
    netlist = Netlist(path, clock)
    if netlist.loops:
        raise ValueError(f"a combinational loop through {netlist.loops} cells")
    worst = dict.fromkeys(KINDS, 0)
    over = endpoints = 0
    slowest, families, enables = 0.0, {}, {}
    for (end, _), pin, bit in netlist.ends:
        longest = 0
        for kind in KINDS:
            if bit not in netlist.level[kind]:
                continue
            count = math.ceil(netlist.level[kind][bit])
            column = "pin" if pin == "pin" else kind
            worst[column] = max(worst[column], count)
            if column != "pin":
                longest = max(longest, count)
                slowest = max(slowest, (MEMORY_TO_OUT if kind == "memory" else CLOCK_TO_OUT) + LEVEL * count + NET_AND_SETUP)
            key = (column, netlist.label(netlist.path(kind, bit)[0]), end, pin if pin in ("CE", "R", "S") or pin.startswith(("EN", "WE")) else "")
            if count > families.get(key, (-1,))[0]:
                families[key] = (count, kind, bit)
            if kind == "pin" and pin.startswith(("EN", "WE")):
                enables[end] = netlist.label(netlist.path(kind, bit)[0])
        endpoints += pin != "pin"
        over += longest > LEVELS
    loop, loops = netlist.loops_over(LOOP)
    lines = [f"{count:>3} loop     {netlist.shown(register)}" for register, count in sorted(loops.items(), key=lambda item: -item[1])]
    shown = {}
    for (column, start, end, pin), found in sorted(families.items(), key=lambda item: (KINDS.index(item[0][0]), -item[1][0])):
        shown.setdefault((column, netlist.shown(start), netlist.shown(end), pin), found)
    for kind in KINDS:
        for (column, start, end, pin), (count, way, bit) in [item for item in shown.items() if item[0][0] == kind][:paths]:
            nets = netlist.path(way, bit)
            by = [name for name in dict.fromkeys(netlist.label(net) for net in nets[1:]) if not name.startswith("$")]
            lines.append(f"{count:>3} {column:<8} {start} -> {end} {pin}" + (f"  by {', '.join(by)}" if by else ""))
    return {"levels": worst["register"], "memory": worst["memory"], "pin": worst["pin"], "loop": loop, "enables": len(enables), "over": over,
            "endpoints": endpoints, "ns": round(slowest, 2), "paths": lines}
