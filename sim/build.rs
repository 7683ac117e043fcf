//! Compiles the card's RTL at two data widths.

use std::path::{Path, PathBuf};

use rtl_sim::build::{Design, Project};

/// Sizes of the simulated card; `model::Sizes` has the same.
const NUM_FLOWS: u32 = 256;
const NUM_STAGS: u32 = 1024;

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
    let card = |name: &str, data_w: u32| {
        Design::new(name)
            .top("weft_card")
            .parameter("DATA_W", data_w)
            .parameter("NUM_FLOWS", NUM_FLOWS)
            .parameter("NUM_STAGS", NUM_STAGS)
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
        .design(card("weft_card_512", 512))
        .design(card("weft_card_128", 128))
        .build();
}
