#!/usr/bin/env python3
"""Makes tests/layouts/table.rs: what the layout test compares of each structure in src/bindings.rs. bindings.sh runs it.

`layouts.py HEADERS` instead prints what a C compiler says with the headers in that folder (infiniband/, rdma/): tests/layouts/version_65.txt is
that of rdma-core 65's.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
text = (HERE / "src/bindings.rs").read_text()
rows, lines = [], []
for name, body in re.findall(r"pub struct ((?:_compat_)?(?:ibv|rdma|verbs)_\w+) \{\n(.*?)\n\}", text, re.S):
    # What the headers only name has no field of its own.
    if "__bindgen_ty" in name or "_bindgen_opaque_blob" in body or "_address: u8" in body or "_unused: [u8; 0" in body:
        continue
    fields = [f for f in re.findall(r"^    pub (\w+):", body, re.M) if not f.startswith("__bindgen_anon")]
    offsets = "".join(f'        ("{f.removesuffix("_")}", offset_of!(c::{name}, {f})),\n' for f in fields)
    names = [f.removesuffix("_") for f in fields]
    lines.append(f'printf("{name} %zu\\n", sizeof(struct {name}));')
    lines += [f'printf("{name}.{f} %zu\\n", offsetof(struct {name}, {f}));' for f in names]
    rows.append(f'    ("{name}", size_of::<c::{name}>(), &[\n{offsets}    ]),\n')
if len(sys.argv) > 1:
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "layouts.c")
        heads = ["stddef.h", "stdio.h", "infiniband/verbs.h", "rdma/rdma_cma.h"]
        source.write_text("".join(f"#include <{head}>\n" for head in heads) + "int main(void) {\n" + "\n".join(lines) + "\nreturn 0; }\n")
        subprocess.run(["cc", "-I", sys.argv[1], source, "-o", f"{folder}/layouts"], check=True)
        sys.exit(subprocess.run([f"{folder}/layouts"], check=True).returncode)
made = f"""// Made by layouts.py of src/bindings.rs.

use std::mem::{{offset_of, size_of}};

use weft_rdma::c;

/// A structure: its name, its bytes, and where its fields are.
pub type Layout = (&'static str, usize, &'static [(&'static str, usize)]);

pub const LAYOUTS: &[Layout] = &[
{"".join(rows)}];
"""
(HERE / "tests/layouts/table.rs").write_text(made)
