"""Runs a netlist with symbols for its data and known values for its control: exact for logic that is linear over GF(2).

A value is an integer: bit 0 is a constant, bit n+1 says that symbol n is added. What is not linear in the symbols gets a symbol of
its own, as do registers before their first value: such a result equals nothing that was expected, so nothing is assumed of it. Of an AND
it is kept which values all have to be 1: a comparison of words is such a set of equations, and two of them can be held against
each other.
"""

import json
import pathlib

POLYNOMIAL = 0x1EDC6F41     # RFC 3720, 12.1; the highest power of x is left out
REFLECTED = int(f"{POLYNOMIAL:032b}"[::-1], 2)


class Netlist:
    """Gates of one module, as `write_json` gives them after techmap."""

    def __init__(self, file: pathlib.Path, top: str):
        module = json.loads(file.read_text())["modules"][top]
        self.ports = {name: port["bits"] for name, port in module["ports"].items()}
        self.values = {"0": 0, "1": 1, "x": None}
        self.symbols = 0
        self.all_of = {}        # of a symbol that stands for an AND: the values
        self.registers, gates = [], {}
        for cell in module["cells"].values():
            pins = {name: bits[0] for name, bits in cell["connections"].items()}
            if cell["type"] == "$_DFF_P_":
                self.registers.append((pins["Q"], pins["D"]))
                self.values[pins["Q"]] = self.symbol()
            elif cell["type"] in ("$_AND_", "$_OR_", "$_XOR_", "$_NOT_", "$_MUX_"):
                gates[pins["Y"]] = (cell["type"], [pins[name] for name in "ABS" if name in pins])
            elif cell["type"] != "$scopeinfo":
                raise RuntimeError(f"{top}: a cell {cell['type']}")
        self.gates = self.sorted(gates)

    @staticmethod
    def sorted(gates: dict) -> list:
        order, done = [], set()
        for start in gates:
            stack = [start]
            while stack:
                bit = stack[-1]
                waits = [pin for pin in gates[bit][1] if pin in gates and pin not in done] if bit not in done else []
                stack.extend(waits)
                if not waits:
                    stack.pop()
                    if bit not in done:
                        done.add(bit)
                        order.append((bit, *gates[bit]))
        return order

    def symbol(self) -> int:
        self.symbols += 1
        return 1 << self.symbols

    def both(self, a: int, b: int) -> int:
        """a AND b, neither of them constant."""
        values = frozenset().union(*(self.all_of.get(value, {value}) for value in (a, b)))
        if any(value ^ 1 in values for value in values):
            return 0
        result = self.symbol()
        self.all_of[result] = values
        return result

    def word(self, bits: int) -> list[int]:
        return [self.symbol() for _ in range(bits)]

    def set(self, port: str, value) -> None:
        """An integer, a list of bits, or None: anything."""
        bits = self.ports[port]
        value = [self.symbol() for _ in bits] if value is None else [value >> i & 1 for i in range(len(bits))] if isinstance(value, int) else value
        self.values.update(zip(bits, value, strict=True))

    def get(self, port: str) -> list[int]:
        return [self.values[bit] for bit in self.ports[port]]

    def settle(self) -> None:
        values = self.values
        for bit, kind, pins in self.gates:
            a = self.symbol() if values[pins[0]] is None else values[pins[0]]
            b = 0 if len(pins) < 2 else self.symbol() if values[pins[1]] is None else values[pins[1]]
            if kind == "$_XOR_":
                result = a ^ b
            elif kind == "$_NOT_":
                result = a ^ 1
            elif kind == "$_AND_":
                result = 0 if a == 0 or b == 0 else a if b == 1 or a == b else b if a == 1 else self.both(a, b)
            elif kind == "$_OR_":
                result = 1 if a == 1 or b == 1 else a if b == 0 or a == b else b if a == 0 else self.both(a ^ 1, b ^ 1) ^ 1
            else:
                select = values[pins[2]]
                result = a if select == 0 or a == b else b if select == 1 else self.symbol()
            values[bit] = result

    def clock(self) -> None:
        """The registers take what `settle` found."""
        new = [self.values[source] for _, source in self.registers]
        for (target, _), value in zip(self.registers, new):
            self.values[target] = value


def serial(state: list[int], data: list[int]) -> list[int]:
    """The definition: one bit of data after the other, bit 0 of byte 0 first, into a reflected state."""
    for bit in data:
        out = state[0] ^ bit
        state = [(0 if i == 31 else state[i + 1]) ^ (out if REFLECTED >> i & 1 else 0) for i in range(32)]
    return state


def rank(rows: list[int]) -> int:
    found = {}
    for row in rows:
        row &= ~1
        while row and row.bit_length() in found:
            row ^= found[row.bit_length()]
        if row:
            found[row.bit_length()] = row
    return len(found)


def solutions(equations) -> list[int] | None:
    """Of values that all have to be 1: the same list for the same solutions. None if there are none."""
    found = {}
    for row in equations:
        row ^= 1                                          # has to be 0
        while row > 1 and row.bit_length() in found:
            row ^= found[row.bit_length()]
        if row == 1:
            return None
        if row:
            found[row.bit_length()] = row
    for top in sorted(found):                             # each leading symbol in its own row only
        for other in found:
            if other > top and found[other] >> top - 1 & 1:
                found[other] ^= found[top]
    return sorted(found.values())


def check_crc32c(netlist: Netlist, parameters: dict) -> str | None:
    """Packets of one and of two beats, with each number of bytes in the last one, back to back, with pauses of both kinds.

    The first beat leads to every state (rank 32), so what the second one does to it, any beat behind it does.
    """
    width = parameters["DATA_W"]
    full = width // 8
    words = [netlist.word(width) for _ in range(6)]       # each is used again when its packet is long out
    beats, wanted = [], []
    for count in range(1, full + 1):
        for length in (1, 2):
            state = [1] * 32
            for beat in range(length):
                last = beat + 1 == length
                data = words[len(beats) % len(words)]
                state = serial(state, data[: 8 * (count if last else full)])
                if beat == 0 and length == 2 and rank(state) != 32:
                    return "the first beat does not lead to every state"
                beats.append({"first_i": beat == 0, "last_i": last, "count_i": count if last else full, "data_i": data})
            wanted.append((count, [bit ^ 1 for bit in state]))
    nothing = {"first_i": None, "last_i": None, "count_i": None, "data_i": None}
    netlist.set("rst_ni", 0)
    given = taken = cycle = 0
    while taken < len(wanted):
        pause = cycle % 5 == 3                            # 5 and 7: each beat of some packet meets each pause
        valid = cycle % 7 != 6 and given < len(beats)
        netlist.set("en_i", int(not pause))
        netlist.set("valid_i", int(valid))
        for port, value in (beats[given] if valid else nothing).items():
            netlist.set(port, int(value) if isinstance(value, bool) else value)
        netlist.settle()
        if netlist.values[netlist.ports["rst_ni"][0]] and not pause and netlist.get("valid_o") != [0]:
            count, crc = wanted[taken]
            if netlist.get("valid_o") != [1] or netlist.get("crc_o") != crc:
                return f"the CRC of packet {taken}, whose last beat has {count} bytes"
            taken += 1
        given += valid and not pause and cycle > 0
        netlist.clock()
        netlist.set("rst_ni", 1)
        cycle += 1
        if cycle > 4 * len(beats) + 100:
            return "a CRC does not come"
    return None


def check_crc32c_unpad(netlist: Netlist, parameters: dict) -> str | None:
    """Zero bytes behind the output lead to the input; without its bit of `pad_i` nothing happens; and nothing without `en_i`."""
    bit = parameters["PAD_BYTES"].bit_length() - 1
    netlist.set("rst_ni", 1)
    netlist.set("valid_i", 1)
    for pad in range(1 << parameters["PAD_W"]):
        state = netlist.word(32)
        netlist.set("en_i", 1)
        netlist.set("state_i", state)
        netlist.set("pad_i", pad)
        netlist.settle()
        netlist.clock()
        for port in ("state_i", "pad_i"):
            netlist.set(port, None)
        netlist.set("en_i", 0)
        for _ in range(2):
            netlist.settle()
            padding = 8 * parameters["PAD_BYTES"] if pad >> bit & 1 else 0
            if serial(netlist.get("state_o"), [0] * padding) != state:
                return f"the state with pad_i = {pad}"
            netlist.clock()
    return None


def check_walk_crc(netlist: Netlist, parameters: dict) -> str | None:
    """FPDUs of one to three beats, each number of words in the last one, whose last word is the CRC; and ones cut off with or without words.

    The verdict has to be good for the CRC of RFC 3720 of all words before it, inverted, low byte first, and for no other. The
    first beat leads to every state (`check_crc32c`), so what the others do to it, any beat behind them does.
    """
    width = parameters["DATA_W"]
    lanes = width // 32
    beats, wanted = [], []
    for length in (1, 2, 3):
        for count in range(0 if length == 1 else 1, lanes + 1):
            whole = count > (1 if length == 1 else 0)
            state = [1] * 32
            for beat in range(length):
                last = beat + 1 == length
                data = netlist.word(width)
                words = count if last else lanes
                state = serial(state, data[: 32 * (words - 1 if last and words else words)])
                fields = [(1, not beat), (1, last), (1, last and not whole), (1, None), (1, None), (1, None), (4, None), (16, None), (5, words), (16, None)]
                bits = [int(value) >> i & 1 if value is not None else netlist.symbol() for size, value in reversed(fields) for i in range(size)]
                beats.append((data, bits))
            field = data[32 * (count - 1): 32 * count]
            wanted.append((length, count, solutions(crc ^ bit for crc, bit in zip(state, field)) if whole else None))
    netlist.set("rst_ni", 0)
    given = taken = cycle = 0
    while taken < len(wanted):
        valid = cycle % 7 != 6 and cycle % 11 != 5 and given < len(beats)
        netlist.set("valid_i", int(valid))
        netlist.set("data_i", beats[given][0] if valid else None)
        netlist.set("beat_i", beats[given][1] if valid else None)
        netlist.settle()
        if cycle > 0 and netlist.get("verdict_valid_o") != [0]:
            length, count, equations = wanted[taken]
            verdict, = netlist.get("verdict_good_o")
            if netlist.get("verdict_valid_o") != [1]:
                return "whether there is a verdict"
            if equations is not None and solutions(netlist.all_of.get(verdict, {verdict})) != equations:
                return f"the verdict on an FPDU of {length} beats, the last one of {count} words"
            taken += 1
        given += valid and cycle > 0
        netlist.clock()
        netlist.set("rst_ni", 1)
        cycle += 1
        if cycle > 4 * len(beats) + 100:
            return "a verdict does not come"
    return None


CHECKS = {"walk_crc": check_walk_crc, "crc32c": check_crc32c, "crc32c_unpad": check_crc32c_unpad}
