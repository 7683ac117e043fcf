#!/usr/bin/env python3
"""Proves properties of small RTL blocks with yosys' SAT solver: a base case from reset, and induction.

    rtl/syn/setup.sh && target/syn-venv/bin/python rtl/formal/prove.py

Each proof is then repeated with a fault put into the design and has to fail: a proof that cannot fail says
nothing. Ends with status 1 if a proof fails or a fault goes unnoticed.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

RTL = pathlib.Path(__file__).resolve().parent.parent
FIFO = ["prim/ram_1r1w.sv", "prim/fifo_sync.sv", "formal/fifo_sync_formal.sv"]
REPORT = ["pkg/weft_card_pkg.sv", "pkg/weft_int_pkg.sv", "host/report_writer.sv", "formal/report_writer_formal.sv"]

# (top, files, parameters, [(file, text, text of the fault)])
PROOFS = [
    ("fifo_sync_formal", FIFO, {"DEPTH": 4}, [
        ("prim/fifo_sync.sv", "assign rd_data_o  = mem[rd_ptr_q];", "assign rd_data_o  = mem[wr_ptr_q];"),
        ("prim/fifo_sync.sv", "full_q  <= count_q == COUNT_W'(DEPTH - 1);", "full_q  <= count_q == COUNT_W'(DEPTH);"),
    ]),
    ("fifo_sync_formal", FIFO, {"DEPTH": 5}, [
        ("prim/fifo_sync.sv", "rd_ptr_q <= (rd_ptr_q == LAST) ? '0 :", "rd_ptr_q <="),
    ]),
    ("fifo_sync_formal", FIFO, {"DEPTH": 6, "LUT_RAM_DEPTH": 2}, [
        ("prim/fifo_sync.sv", "&& (!head_valid_q || rd_ready_i)", ""),
        ("prim/fifo_sync.sv", "else if (rd_ready_i) head_valid_q <= 1'b0;", ""),
    ]),
    ("report_writer_formal", REPORT, {}, [
        ("host/report_writer.sv", "<= taken_q - cfg_i.head;", "<= taken_q - cfg_i.head - 1'b1;"),
        ("host/report_writer.sv", "!taken_q[cfg_i.log2[4:0]]", "taken_q[0]"),
        ("host/report_writer.sv", "assign tx_ready_o = load && (prefer_tx_q || !rx_valid_i);", "assign tx_ready_o = load;"),
    ]),
]


def prove(top: str, files: list[str], parameters: dict, folder: str) -> None:
    """Runs in a process of its own, which ends with an error if the proof fails."""
    from pyosys import libyosys

    design = libyosys.Design()
    settings = " ".join(f"-G {name}={value}" for name, value in parameters.items())
    for command in (
        f"read_slang --top {top} {settings} " + " ".join(f"{folder}/{name}" for name in files),
        f"prep -flatten -top {top}",
        "async2sync",
        "memory_map",
        "opt -full",
        "sat -verify -tempinduct -prove-asserts -seq 1 -set-at 1 rst_ni 0 -maxsteps 2 -timeout 120",
    ):
        libyosys.run_pass(command, design)


def holds(top: str, files: list[str], parameters: dict, fault: tuple | None) -> bool:
    """Whether the proof succeeds on a copy of the files, with the fault put in."""
    with tempfile.TemporaryDirectory() as folder:
        for name in files:
            text = (RTL / name).read_text()
            if fault and fault[0] == name:
                if text.count(fault[1]) != 1:
                    raise RuntimeError(f"{name}: the fault's text is there {text.count(fault[1])} times: {fault[1]}")
                text = text.replace(fault[1], fault[2])
            path = pathlib.Path(folder) / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        child = [sys.executable, __file__, "--child", json.dumps([top, files, parameters, folder])]
        done = subprocess.run(child, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return True
        if "proof did fail" not in done.stdout + done.stderr:
            raise RuntimeError(done.stdout[-3000:] + done.stderr[-3000:])
        return False


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        prove(*json.loads(sys.argv[2]))
        return 0
    bad = 0
    for top, files, parameters, faults in PROOFS:
        for fault in [None, *faults]:
            began = time.monotonic()
            proven = holds(top, files, parameters, fault)
            good = proven != bool(fault)
            bad += not good
            what = f"with the fault `{fault[2] or 'without ' + fault[1]}`" if fault else "as it is"
            verdict = "proven" if proven else "refuted"
            settings = " ".join(f"{name}={value}" for name, value in parameters.items())
            print(f"{'ok ' if good else 'BAD'} {top} {settings} {what}: {verdict} ({time.monotonic() - began:.1f} s)", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
