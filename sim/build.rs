//! Compiles the card's RTL at its three data widths.

use std::path::{Path, PathBuf};

use rtl_sim::build::{Design, Project};

/// Flows and STags of the simulated card; `model::Sizes` has the same.
const USUAL: (u32, u32) = (256, 1024);
/// Those of the card at 256 bits: as many as are promised to fit on a chip.
const MANY: (u32, u32) = (4096, 16384);

fn main() {
    println!("cargo:rustc-check-cfg=cfg(rtl)");
    println!("cargo:rerun-if-env-changed=WEFT_NO_RTL");
    // In a package the sources are within it (there by the link `rtl`).
    let rtl = ["../rtl", "rtl"].map(Path::new);
    let rtl = rtl[usize::from(!rtl[0].join("weft_card.f").exists())];
    // WEFT_CARD_LIST: another list of sources, to try a changed card.
    println!("cargo:rerun-if-env-changed=WEFT_CARD_LIST");
    let list = std::env::var_os("WEFT_CARD_LIST").map_or(rtl.join("weft_card.f"), PathBuf::from);
    println!("cargo:rerun-if-changed={}", list.display());
    let Ok(text) = std::fs::read_to_string(&list) else {
        panic!("{} cannot be read", list.display())
    };
    let files: Vec<_> = text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with("//"))
        .map(|l| rtl.join(l))
        .collect();
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
    Project::new()
        .design(card("weft_card_512", 512, USUAL))
        // Waves are for the other two, unless RTL_SIM_TRACE=1 asks.
        .design(card("weft_card_256", 256, MANY).trace(false))
        .design(card("weft_card_128", 128, USUAL))
        .build();
}
