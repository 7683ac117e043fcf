#!/usr/bin/env python3
"""Proves properties of RTL blocks with yosys and ABC. The table is in proofs.py.

    rtl/syn/setup.sh && target/syn-venv/bin/python rtl/formal/prove.py [--faults N] [--seed S] [top ...]

Each proof is then repeated with a fault put into the design and has to fail, with a run from reset that breaks a property:
a proof that cannot fail says nothing. Assertions named inv_ are about a block's inside and there for the induction: what
refutes a fault has to be another. With --faults only N of each proof's, chosen by the seed, and no proof that takes many
minutes. Ends with status 1 if a proof fails or a
fault goes unnoticed.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import linear
from proofs import PROOFS, Proof

RTL = pathlib.Path(__file__).resolve().parent.parent
LIMIT_S = 1500          # by the clock: on a loaded machine a proof takes several times as long
FAULT_LIMIT_S = 400
WALL_S = 3000           # of ABC, which keeps some limits only loosely
FAULT_CYCLES = 40       # a planted fault has to show within so many
AT_ONCE = 2
HEADER = "prim/weft_assert.svh"

# The assertions of the modules count too. After this every flip-flop is plain, memories are flip-flops.
READ = ["read_slang --no-synthesis-define -I{folder}/prim --top {top} {settings} {files}", "prep -flatten -top {top}",
        "chformal -cover -remove", "chformal -assert -remove {without}", "opt_clean", "async2sync", "memory_map", "opt -full"]
INDUCTION = "sat -verify -tempinduct -prove-asserts -set-assumes -seq 1 -maxsteps {depth} -timeout {limit}"
# Induction in ABC, over all pairs of nodes that may be equal: an assertion is an output that may be 0.
CORRESPONDENCE = "scorr -F {depth} -C 1000000; orpos; write_aiger {folder}/left.aig"
NO_INVARIANTS = "chformal -assert -remove c:*inv_*"
AIGER = ["setundef -undriven -anyseq", "techmap", "opt -fast", "setundef -anyseq", "dffunmap", "aigmap", "opt_clean",
         "write_aiger -I -B -zinit -no-startoffset -ywmap {folder}/names.json {folder}/design.aig"]
GATES = ["read_slang -I{folder}/prim --top {top} {settings} {files}", "prep -flatten -top {top}", "async2sync", "opt -full", "techmap", "opt -fast", "dffunmap",
         "simplemap", "opt_clean", "write_json {folder}/gates.json"]
REGISTERS = ",".join(("$dff", "$adff", "$aldff", "$dffe", "$adffe", "$aldffe", "$sdff", "$sdffe", "$sdffce"))
PATHS = ["read_slang -I{folder}/prim --allow-toplevel-iface-ports --top {top} {settings} {files}", "proc", "flatten", "opt_clean", "check -assert",
         f"select -assert-none o:*valid* %ci*:-{REGISTERS} i:*ready* %i"]
ABC = "read_aiger {folder}/design.aig; fold; strash; scleanup; {command}"


def yosys(commands: list[str]) -> None:
    """Runs in a process of its own: a pass that fails ends it."""
    from pyosys import libyosys

    design = libyosys.Design()
    for command in commands:
        libyosys.run_pass(command, design)


def child(commands: list[str]) -> tuple[int, str]:
    done = subprocess.run([sys.executable, __file__, "--yosys", json.dumps(commands)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def copy(proof: Proof, fault: tuple | None, folder: str) -> None:
    """The proof's files in the folder, with the fault put in."""
    for name in [HEADER, *proof.files]:
        text = (RTL / name).read_text()
        if fault and fault[0] == name:
            # White space is the formatter's.
            places = list(re.finditer(r"\s*".join(map(re.escape, "".join(fault[1].split()))), text))
            if len(places) != 1:
                raise RuntimeError(f"{name}: the fault's text is there {len(places)} times: {fault[1]}")
            text = text[: places[0].start()] + fault[2] + text[places[0].end() :]
        path = pathlib.Path(folder) / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)


def commands_for(proof: Proof, folder: str, commands: list[str] = READ) -> list[str]:
    settings = " ".join(f"-G {name}={value}" for name, value in proof.parameters.items())
    files = " ".join(f"{folder}/{name}" for name in proof.files)
    without = " ".join(f"c:{pattern}" for pattern in proof.without) or "c:none"
    return [command.format(top=proof.top, without=without, settings=settings, files=files, folder=folder) for command in commands]


def induction(proof: Proof, folder: str) -> str | None:
    """None if proven, else what was not."""
    status, said = child(commands_for(proof, folder) + [INDUCTION.format(depth=proof.depth, limit=LIMIT_S)])
    if status == 0:
        return None
    if "proof did fail" not in said:
        raise RuntimeError(said[-3000:])
    return "broken from reset" if "model found for base case" in said else "not inductive"


def run_abc(proof: Proof, folder: str, command: str, more: list[str]) -> subprocess.CompletedProcess:
    """The design as an AIG, and what ABC says of it."""
    from pyosys import libyosys

    status, said = child(commands_for(proof, folder) + more + [line.format(folder=folder) for line in AIGER])
    if status != 0:
        raise RuntimeError(said[-3000:])
    program = pathlib.Path(libyosys.__file__).parent / "yosys-abc"
    return subprocess.run([program, "-c", ABC.format(folder=folder, command=command)], capture_output=True, text=True, check=False, timeout=WALL_S)


def abc(proof: Proof, folder: str, command: str, more: list[str]) -> str | None:
    """`pdr` or `bmc3`. None if proven (as far as it goes), else the assertion that a run from reset breaks."""
    done = run_abc(proof, folder, command, more)
    if "Property proved" in done.stdout or ("No output asserted in" in done.stdout and "(timeout" not in done.stdout):
        return None
    if NO_INVARIANTS in more and "(timeout" in done.stdout:
        return None
    if "was asserted in frame" not in done.stdout:
        raise RuntimeError(done.stdout[-3000:] + done.stderr[-3000:])
    words = done.stdout.split("Output ")[-1].split()
    asserts = json.loads((pathlib.Path(folder) / "names.json").read_text())["asserts"]
    name = ".".join(part.lstrip("\\") for part in asserts[int(words[0])])
    return f"{name}, cycle {done.stdout.split('was asserted in frame ')[1].split('.')[0]}"


def correspondence(proof: Proof, folder: str) -> str | None:
    """None if all assertions together are proven equal to 0."""
    done = run_abc(proof, folder, CORRESPONDENCE.format(depth=proof.depth, folder=folder), [])
    left = pathlib.Path(folder) / "left.aig"
    if not left.exists():
        raise RuntimeError(done.stdout[-3000:] + done.stderr[-3000:])
    header, output = left.read_bytes().split(b"\n")[:2]
    _, _, _, latches, outputs, _ = header.split()[:6]
    return None if (latches, outputs, output) == (b"0", b"1", b"0") else "not inductive"


def linear_check(proof: Proof, folder: str) -> str | None:
    status, said = child(commands_for(proof, folder, GATES))
    if status != 0:
        raise RuntimeError(said[-3000:])
    return linear.CHECKS[proof.top](linear.Netlist(pathlib.Path(folder) / "gates.json", proof.top), proof.parameters)


def paths(proof: Proof, folder: str) -> str | None:
    """No combinational loop, and none from a ready input to a valid output."""
    status, said = child(commands_for(proof, folder, PATHS))
    if status == 0:
        return None
    for sign, what in {"problems in 'check -assert'": "a loop", "selection is not empty": "a path from ready to valid"}.items():
        if sign in said:
            return what
    raise RuntimeError(said[-3000:])


def broken(proof: Proof, fault: tuple | None) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        copy(proof, fault, folder)
        if proof.method == "linear":
            return linear_check(proof, folder)
        if proof.method == "paths":
            return paths(proof, folder)
        if fault:
            return abc(proof, folder, f"bmc3 -F {max(proof.depth, FAULT_CYCLES)} -T {FAULT_LIMIT_S}", [NO_INVARIANTS])
        if proof.method == "induction":
            return induction(proof, folder)
        if proof.method == "correspondence":
            return correspondence(proof, folder)
        return abc(proof, folder, f"scorr; dc2; pdr -T {LIMIT_S}" if proof.method == "pdr" else f"bmc3 -F {proof.depth} -T {LIMIT_S}", [])


def timed(proof: Proof, fault: tuple | None) -> tuple[str | None, float]:
    began = time.monotonic()
    return broken(proof, fault), time.monotonic() - began


def told(case: tuple, result: tuple) -> bool:
    (proof, fault), (what, seconds) = case, result
    proven = {"induction": "proven by induction", "correspondence": "proven by induction (ABC)", "pdr": "proven (PDR)",
              "linear": "equal for all data", "paths": "no loop, none from ready to valid",
              "bounded": f"holds for {proof.depth} cycles from reset"}
    settings = "".join(f" {name}={value}" for name, value in proof.parameters.items())
    verdict = f"refuted ({what})" if what else proven[proof.method] if not fault else "NOT NOTICED"
    with_fault = f" with the fault `{fault[2] or 'without ' + fault[1]}`" if fault else ""
    good = bool(what) == bool(fault)
    print(f"{'ok ' if good else 'BAD'} {proof.top}{settings}{with_fault}: {verdict}, {seconds:.1f} s", flush=True)
    return good


def main() -> int:
    if sys.argv[1:2] == ["--yosys"]:
        yosys(json.loads(sys.argv[2]))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("top", nargs="*", help="the proofs of these; all without")
    parser.add_argument("--faults", type=int, help="so many faults of each proof")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chosen = random.Random(arguments.seed)

    def faults(proof: Proof) -> list:
        few = arguments.faults is not None and arguments.faults < len(proof.faults)
        return chosen.sample(proof.faults, arguments.faults) if few else proof.faults

    def is_taken(proof: Proof) -> bool:
        if arguments.top:
            return proof.top in arguments.top
        return arguments.faults is None or not proof.long

    cases = [(proof, fault) for proof in PROOFS if is_taken(proof) for fault in [None, *faults(proof)]]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        good = list(map(told, cases, pool.map(lambda case: timed(*case), cases)))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
