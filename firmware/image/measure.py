#!/usr/bin/env python3
"""How large the linked engine is, and how much stack each of its calls takes at most.

Size: the sections of the image. Stack: the frame of each function as the compiler says it (.stack_sizes), along the deepest path of calls that
the machine code has. An indirect call is taken to reach every function whose address the image holds in its data. What a panic does is not
counted: it does not come back. A circle of calls has no bound, and is an error.

measure.py IMAGE
measure.py --size IMAGE: its size alone
"""

import re
import struct
import sys
from collections import defaultdict

# What an indirect call may be is asked of the data; these do not come back, and what they format is not the engine's.
ENDLESS = re.compile(r"core::panicking|4core9panicking|rust_begin_unwind|handle_alloc_error|(capacity_overflow|_failed|_fail)$")


class Image:
    """A little-endian 32-bit ELF file."""

    def __init__(self, path):
        self.data = open(path, "rb").read()
        if self.data[:5] != b"\x7fELF\x01":
            raise SystemExit(f"{path} is no 32-bit ELF file")
        at, = struct.unpack_from("<I", self.data, 32)
        size, count, names = struct.unpack_from("<HHH", self.data, 46)
        headers = [struct.unpack_from("<10I", self.data, at + n * size) for n in range(count)]
        text = self.bytes_of(headers[names])
        self.sections = [(self.string(text, h[0]), h) for h in headers]

    def bytes_of(self, header):
        return b"" if header[1] == 8 else self.data[header[4] : header[4] + header[5]]

    @staticmethod
    def string(table, at):
        return table[at : table.index(b"\0", at)].decode()

    def section(self, name):
        return next(((h[3], self.bytes_of(h)) for n, h in self.sections if n == name), (0, b""))

    def sizes(self):
        """Bytes of code, constants, data, and zeros."""
        sizes = defaultdict(int)
        for name, h in self.sections:
            if h[2] & 2:
                kind = "zeros" if h[1] == 8 else "code" if h[2] & 4 else "data" if h[2] & 1 else "constants"
                sizes[kind] += h[5]
        return sizes

    def functions(self):
        """Start to (end, name)."""
        _, symbols = self.section(".symtab")
        _, names = self.section(".strtab")
        found = {}
        for at in range(0, len(symbols), 16):
            name, value, size, info = struct.unpack_from("<IIIB", symbols, at)
            if info & 15 == 2 and size:
                found[value] = (value + size, plain(self.string(names, name)))
        return found

    def frames(self):
        """Stack of each function, from pairs of an address and a ULEB128."""
        _, data = self.section(".stack_sizes")
        at, frames = 0, {}
        while at + 4 < len(data):
            address, = struct.unpack_from("<I", data, at)
            at, value, shift = at + 4, 0, 0
            while True:
                byte = data[at]
                at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
                if byte < 128:
                    break
            frames[address] = value
        return frames


def plain(name):
    """A mangled name (of the old kind) as people write it, without its hash."""
    if not name.startswith("_ZN"):
        return name
    parts, rest = [], name[3:]
    while (number := re.match(r"\d+", rest)):
        length = int(number.group())
        parts.append(rest[number.end() :][:length])
        rest = rest[number.end() + length :]
    text = "::".join(parts[:-1] if re.fullmatch(r"h[0-9a-f]{16}", parts[-1]) else parts)
    for code, character in [("$LT$", "<"), ("$GT$", ">"), ("$RF$", "&"), ("$u20$", " "), ("$C$", ","), ("..", "::")]:
        text = text.replace(code, character)
    return re.sub(r"\$u([0-9a-f]{2})\$", lambda m: chr(int(m.group(1), 16)), text).lstrip("_")


def signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) else value


def jumps(code, base, start, end):
    """Where the code between start and end goes beyond itself: addresses, and None for a jump through a register."""
    # The compiler leaves the two halves of a far call together.
    upper, at = (0, 0), start
    while at < end:
        half, = struct.unpack_from("<H", code, at - base)
        if half & 3 != 3:
            op, funct, source = half & 3, half >> 13, half >> 7 & 31
            if op == 1 and funct in (1, 5):
                bit = lambda n: half >> n & 1
                offset = bit(12) << 11 | bit(11) << 4 | (half >> 9 & 3) << 8 | bit(8) << 10 | bit(7) << 6
                offset |= bit(6) << 7 | (half >> 3 & 7) << 1 | bit(2) << 5
                yield at + signed(offset, 12)
            elif op == 2 and funct == 4 and half & 0x7C == 0 and source and half & 0xF000 | source != 0x8001:
                yield None
            upper, at = (0, 0), at + 2
            continue
        word, = struct.unpack_from("<I", code, at - base)
        op, rd, source = word & 127, word >> 7 & 31, word >> 15 & 31
        if op == 0x6F:
            offset = (word >> 31) << 20 | (word >> 12 & 255) << 12 | (word >> 20 & 1) << 11 | (word >> 21 & 1023) << 1
            yield at + signed(offset, 21)
        elif op == 0x67 and (rd, source) != (0, 1):
            yield (upper[1] + signed(word >> 20, 12)) & 0xFFFFFFFF if source and source == upper[0] else None
        upper = (rd, at + signed(word & 0xFFFFF000, 32)) if op == 0x17 else (0, 0)
        at += 4


class Stack:
    """The deepest path from each function."""

    def __init__(self, image):
        self.functions, self.frames = image.functions(), image.frames()
        base, code = image.section(".text")
        held = set()
        for name, h in image.sections:
            # What .eh_frame holds are distances and lengths, none of them an address.
            if h[2] & 2 and not h[2] & 4 and h[1] != 8 and not name.startswith(".eh_frame"):
                data = image.bytes_of(h)
                held |= {struct.unpack_from("<I", data, at)[0] for at in range(0, len(data) - 3, 4)}
        # Of what data holds, what writes a panic's text is called by panics alone.
        text = re.compile(r"fmt|Display|Debug")
        self.indirect = {f for f in held & set(self.functions) if not text.search(self.functions[f][1])}
        self.calls = {}
        for start, (end, name) in self.functions.items():
            reached = set()
            if not ENDLESS.search(name):
                for to in jumps(code, base, start, end):
                    if to is None:
                        reached |= self.indirect
                    elif to in self.functions and to != start:
                        reached.add(to)
            self.calls[start] = reached
        self.deepest, self.under_way = {}, []

    def depth(self, start):
        if start in self.deepest:
            return self.deepest[start]
        if start in self.under_way:
            circle = self.under_way[self.under_way.index(start) :]
            raise SystemExit("no bound: " + " > ".join(self.functions[f][1] for f in circle))
        if start not in self.frames:
            # Code without a frame of its own is the compiler's, in assembler.
            self.frames[start] = 0
        self.under_way.append(start)
        below = max((self.depth(to) for to in self.calls[start]), default=(0, []))
        self.under_way.pop()
        self.deepest[start] = (self.frames[start] + below[0], [start, *below[1]])
        return self.deepest[start]


def main():
    image = Image(sys.argv[-1])
    sizes = image.sizes()
    print("  " + ", ".join(f"{kind} {sizes[kind]}" for kind in ("code", "constants", "data", "zeros")) + " bytes")
    if sys.argv[1] == "--size":
        return
    stack = Stack(image)
    calls = {name: start for start, (_, name) in stack.functions.items() if name.startswith("call_")}
    if not calls or not stack.frames:
        raise SystemExit("the image has no calls, or no .stack_sizes")
    depths = {name: stack.depth(start) for name, start in calls.items()}
    for name, (depth, _) in sorted(depths.items(), key=lambda item: -item[1][0]):
        print(f"  {depth:6} {name[5:]}")
    depth, path = max(depths.values())
    print("  deepest: " + " > ".join(f"{stack.functions[f][1]} {stack.frames[f]}" for f in path))


if __name__ == "__main__":
    main()
