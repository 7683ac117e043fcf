//! Compiles the control processor, if `WEFT_IBEX` says where its core is (`rtl/control/setup.sh` installs it and prints that), and finds its
//! firmware. Without the core there is nothing to test here.

use rtl_sim::build::{Design, Project};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The lines of a list of sources.
fn list(path: &Path) -> Vec<String> {
    println!("cargo:rerun-if-changed={}", path.display());
    let Ok(text) = fs::read_to_string(path) else {
        panic!("{} cannot be read", path.display())
    };
    text.lines()
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

fn main() {
    println!("cargo:rustc-check-cfg=cfg(ibex)");
    println!("cargo:rerun-if-env-changed=WEFT_IBEX");
    let Some(ibex) = env::var_os("WEFT_IBEX").map(PathBuf::from) else {
        return;
    };
    println!("cargo:rustc-cfg=ibex");
    let rtl = Path::new("../../rtl");
    let mut project = Project::new();
    for (name, width, div) in [
        ("control_processor_128", 128, 1),
        ("control_processor_512", 512, 1),
        ("control_processor_128_slow", 128, 4),
        ("control_processor_512_slow", 512, 3),
    ] {
        project = project.design(
            Design::new(name)
                .top("control_processor_bench")
                .parameter("DATA_W", width)
                .parameter("CLOCK_DIV", div)
                .argument("../../rtl/syn/lint.vlt")
                .argument("../../rtl/control/ibex.vlt")
                .include_dir(ibex.join("vendor/lowrisc_ip/ip/prim/rtl"))
                .include_dir(ibex.join("vendor/lowrisc_ip/dv/sv/dv_utils"))
                .include_dir(rtl.join("prim"))
                .files(
                    list(&rtl.join("control/ibex.f"))
                        .iter()
                        .map(|file| ibex.join(file)),
                )
                .files(
                    [
                        "pkg/weft_card_pkg.sv",
                        "host/axi4_if.sv",
                        "host/axi_lite_if.sv",
                        "host/axi_lite_pins.sv",
                        "host/axi4_read_pins.sv",
                        "host/axi4_write_pins.sv",
                        "stream/stream_rules.sv",
                        "stream/stream_slice.sv",
                    ]
                    .map(|file| rtl.join(file)),
                )
                .files(
                    list(&rtl.join("control/control.f"))
                        .iter()
                        .map(|file| rtl.join(file)),
                )
                .files(["rtl/control_processor_bench.sv"])
                .optimise(false)
                .trace(false)
                .reset_low("rst_ni")
                .suffixes("_i", "_o")
                .axi_lite_slave("s_axil", "s_axil_")
                .axi_master("m_axi", "m_axi_"),
        );
    }
    project.build();
}
