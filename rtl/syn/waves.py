"""Timing diagrams as SVG, from a letter a cycle: p clock, 0 1 level, = a value (the next of its labels), . as before, x anything."""

CYCLE, ROW, LEFT, TOP = 44, 34, 190, 16
HIGH, LOW, SLOPE = 6, 26, 4

# name: (title, [(signal, letters, labels)], what to see)
WAVES = {
    "handshake-reset": (
        "a function-level reset",
        [
            ("clk_i", "pppppppppppp", []),
            ("reset_req_i", "01......0...", []),
            ("reset_done_o", "0.....1..0..", []),
            ("offered", "=.=.0.......", ["as ever", "to its end"]),
            ("owed: W, R, B", "=.=...0.....", ["as ever", "given, awaited"]),
            ("core", "=....=....=.", ["runs", "in reset", "runs"]),
        ],
        "held until done; done until it is given up",
    ),
    "handshake-interrupt": (
        "an interrupt request",
        [
            ("clk_i", "pppppppppp", []),
            ("m_axi_bvalid", "010.......", []),
            ("msix_valid_o", "0..1..01.0", []),
            ("msix_vector_o", "x..=..x=.x", ["0", "1"]),
            ("msix_ready_i", "0....10.10", []),
        ],
        "behind the B of its report; the vector stands until it is taken",
    ),
    "handshake-push": (
        "beats of the push window, at 512 bits",
        [
            ("clk_i", "pppppppp", []),
            ("push_valid_i", "01.0.10.", []),
            ("push_addr_i", "x==x.=x.", ["100", "140", "080"]),
            ("push_strb_i", "x==x.=x.", ["64", "64", "4"]),
        ],
        "always taken; push_strb_i: how many bytes",
    ),
    "handshake-frames": (
        "frames",
        [
            ("clk_i", "ppppppppppp", []),
            ("mac_tx_tvalid", "01.....0...", []),
            ("mac_tx_tready", "0.1.01..0..", []),
            ("mac_tx_tdata", "x=.==.=x...", ["0", "1", "2", "3"]),
            ("mac_tx_tlast", "0.....10...", []),
            ("mac_rx_tvalid", "01.01.0....", []),
            ("mac_rx_tdata", "x==x==x....", ["0", "1", "2", "3"]),
            ("mac_rx_tlast", "0....10....", []),
            ("mac_rx_tuser", "0....10....", []),
        ],
        "transmit: no gap in a frame. receive: gaps, no ready; tuser: a bad frame",
    ),
}


def steps(letters: str) -> list[str]:
    """Letters with the dots filled in."""
    filled: list[str] = []
    for letter in letters:
        filled.append(filled[-1] if letter == "." else letter)
    return filled


def signal(letters: str, labels: list[str], top: int) -> list[str]:
    """One row's lines."""
    if letters[0] == "p":
        points = [f"{LEFT},{top + LOW}"]
        for cycle in range(len(letters)):
            x = LEFT + cycle * CYCLE
            points += [f"{x},{top + HIGH}", f"{x + CYCLE // 2},{top + HIGH}", f"{x + CYCLE // 2},{top + LOW}", f"{x + CYCLE},{top + LOW}"]
        return [f'<polyline points="{" ".join(points)}"/>']
    lines = []
    filled = steps(letters)
    labels = list(labels)
    cycle = 0
    before = None
    while cycle < len(letters):
        length = 1
        while cycle + length < len(letters) and letters[cycle + length] == ".":
            length += 1
        x, end = LEFT + cycle * CYCLE, LEFT + (cycle + length) * CYCLE
        what = filled[cycle]
        if what in "01":
            y = top + (HIGH if what == "1" else LOW)
            start = f"{x},{before} " if before is not None and before != y else ""
            lines.append(f'<polyline points="{start}{x + (SLOPE if start else 0)},{y} {end},{y}"/>')
            before = y
        else:
            middle = top + (HIGH + LOW) // 2
            shape = f"{x},{middle} {x + SLOPE},{top + HIGH} {end - SLOPE},{top + HIGH} {end},{middle} {end - SLOPE},{top + LOW} {x + SLOPE},{top + LOW}"
            lines.append(f'<polygon class="{"any" if what == "x" else "value"}" points="{shape}"/>')
            if what == "=":
                lines.append(f'<text class="label" x="{(x + end) // 2}" y="{middle + 4}">{labels.pop(0)}</text>')
            before = None
        cycle += length
    if labels:
        raise ValueError(f"labels without a place: {labels}")
    return lines


def svg(name: str) -> str:
    """The picture of one of WAVES."""
    title, rows, note = WAVES[name]
    cycles = max(len(letters) for _, letters, _ in rows)
    width, height = LEFT + cycles * CYCLE + 12, TOP + len(rows) * ROW + 34
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{title}">',
        "<style>text{font:13px sans-serif;fill:#222} .label{text-anchor:middle} .name{text-anchor:end;font-family:monospace} .note{fill:#555}",
        "polyline{fill:none;stroke:#1b4f8a;stroke-width:1.6} .value{fill:#e8f0fa;stroke:#1b4f8a} .any{fill:#ddd;stroke:#999} .edge{stroke:#ccc;stroke-width:1}</style>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    out += [f'<line class="edge" x1="{LEFT + c * CYCLE}" y1="{TOP}" x2="{LEFT + c * CYCLE}" y2="{TOP + len(rows) * ROW}"/>' for c in range(cycles + 1)]
    for row, (label, letters, labels) in enumerate(rows):
        if len(letters) != cycles:
            raise ValueError(f"{name} {label}: {len(letters)} cycles of {cycles}")
        out.append(f'<text class="name" x="{LEFT - 10}" y="{TOP + row * ROW + 21}">{label}</text>')
        out += signal(letters, labels, TOP + row * ROW)
    out.append(f'<text class="note" x="{LEFT}" y="{height - 12}">{note}</text>')
    return "\n".join([*out, "</svg>", ""])
