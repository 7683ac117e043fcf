//! Compiles the card's RTL at its three data widths.

use std::path::{Path, PathBuf};

use rtl_sim::build::{Design, Project};

/// Flows and STags of the simulated card; `model::Sizes` has the same.
const USUAL: (u32, u32) = (256, 1024);
/// Those of the card at 256 bits: as many as are promised to fit on a chip.
const MANY: (u32, u32) = (4096, 16384);

/// Bytes of the control processor's memory, so that the engine has room.
const PROCESSOR_MEMORY: u32 = 1 << 20;

/// The files of a list, which names them from `root`.
fn sources(list: &Path, root: &Path) -> Vec<PathBuf> {
    println!("cargo:rerun-if-changed={}", list.display());
    let Ok(text) = std::fs::read_to_string(list) else {
        panic!("{} cannot be read", list.display())
    };
    text.lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with("//"))
        .map(|l| root.join(l))
        .collect()
}

/// The card with a control processor around it, whose core has its sources in `ibex`, and whose clock is the card's divided by `WEFT_PROCESSOR_DIV`.
fn with_processor(card: Design, rtl: &Path, ibex: &Path) -> Design {
    let control = rtl.join("control");
    println!("cargo:rustc-cfg=processor");
    println!("cargo:rerun-if-env-changed=WEFT_PROCESSOR_DIV");
    let div = std::env::var("WEFT_PROCESSOR_DIV").unwrap_or("1".to_owned());
    card.top("weft_card_control")
        .parameter("MEMORY_BYTES", PROCESSOR_MEMORY)
        .parameter("PROC_CLOCK_DIV", div)
        .argument(&rtl.join("syn/lint.vlt").display().to_string())
        .argument(&control.join("ibex.vlt").display().to_string())
        .include_dir(ibex.join("vendor/lowrisc_ip/ip/prim/rtl"))
        .include_dir(ibex.join("vendor/lowrisc_ip/dv/sv/dv_utils"))
        .files(sources(&control.join("ibex.f"), ibex))
        .files(sources(&control.join("control.f"), rtl))
        .files(sources(&control.join("control_card.f"), rtl))
}

fn main() {
    println!("cargo:rustc-check-cfg=cfg(rtl, processor)");
    println!("cargo:rerun-if-env-changed=WEFT_NO_RTL");
    // In a package the sources are within it (there by the link `rtl`).
    let rtl = ["../rtl", "rtl"].map(Path::new);
    let rtl = rtl[usize::from(!rtl[0].join("weft_card.f").exists())];
    // WEFT_CARD_LIST: another list of sources, to try a changed card.
    println!("cargo:rerun-if-env-changed=WEFT_CARD_LIST");
    let list = std::env::var_os("WEFT_CARD_LIST").map_or(rtl.join("weft_card.f"), PathBuf::from);
    let files = sources(&list, rtl);
    if std::env::var_os("WEFT_NO_RTL").is_some() {
        return;
    }
    println!("cargo:rustc-cfg=rtl");
    // WEFT_CARD_OBSERVE=0: without trace and capture, which cost time even while nobody looks.
    println!("cargo:rerun-if-env-changed=WEFT_CARD_OBSERVE");
    let observe = std::env::var_os("WEFT_CARD_OBSERVE").is_none_or(|value| value != "0");
    let observe = if observe { "1'b1" } else { "1'b0" };
    let card = |name: &str, data_w: u32, (flows, stags): (u32, u32)| {
        Design::new(name)
            .top("weft_card")
            .parameter("DATA_W", data_w)
            .parameter("NUM_FLOWS", flows)
            .parameter("NUM_STAGS", stags)
            .parameter("OBSERVE", observe)
            .parameter("CLOCK_KHZ", 250_000)
            .files(&files)
            .reset_low("rst_ni")
            .suffixes("_i", "_o")
            .axi_lite_slave("s_axil", "s_axil_")
            .axi_master("m_axi", "m_axi_")
            .stream_out("mac_tx", "mac_tx_")
            .stream_in("mac_rx", "mac_rx_")
    };
    // WEFT_IBEX: the card of 128 bits has a control processor, whose core is there (rtl/control/setup.sh).
    println!("cargo:rerun-if-env-changed=WEFT_IBEX");
    // Either way it has a second port, which a processor would have.
    let small = card("weft_card_128", 128, USUAL);
    let small = match std::env::var_os("WEFT_IBEX") {
        Some(ibex) => with_processor(small, rtl, Path::new(&ibex)),
        None => small.parameter("PORTS", 2),
    };
    Project::new()
        .design(card("weft_card_512", 512, USUAL))
        // Waves are for the other two, unless RTL_SIM_TRACE=1 asks.
        .design(card("weft_card_256", 256, MANY).trace(false))
        .design(small)
        .build();
}
