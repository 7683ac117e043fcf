//! Compiles the card's RTL: the configurations of `rtl/configs.toml` that are simulated by a card.

use std::path::{Path, PathBuf};

use rtl_sim::build::{Design, Project};
use toml::{Table, Value};

/// The configuration with this top that the kind `card` simulates.
fn simulated<'a>(configurations: &'a Table, card: &str, top: &str) -> (&'a Table, &'a Table) {
    let tables = configurations.values().filter_map(Value::as_table);
    let mut fitting = tables.filter_map(|config| {
        let simulated = config.get("simulated")?.as_table()?;
        let parameters = config.get("parameters")?.as_table()?;
        let is = config.get("top").map_or(Some("weft_card"), Value::as_str) == Some(top);
        (is && simulated.get("card")?.as_str()? == card).then_some((parameters, simulated))
    });
    let (Some(found), None) = (fitting.next(), fitting.next()) else {
        panic!("configs.toml has to have one {top} that is simulated by {card}")
    };
    found
}

/// A design with the parameters of that configuration.
fn configured(design: Design, configurations: &Table, card: &str, top: &str) -> Design {
    let (parameters, differs) = simulated(configurations, card, top);
    let mut parameters = parameters.clone();
    parameters.extend(differs.clone());
    parameters.remove("card");
    let text = |value: Value| value.as_str().map_or(value.to_string(), str::to_owned);
    parameters
        .into_iter()
        .fold(design.top(top), |design, (name, value)| {
            design.parameter(&name, text(value))
        })
}

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
    // Environment (building): `WEFT_PROCESSOR_DIV`: with `WEFT_IBEX`: the control processor's clock in the simulated card is the card's divided by
    // it, 1 to 16 (docs/processor.md#a-clock-of-its-own). Without it: 1.
    let div = std::env::var("WEFT_PROCESSOR_DIV").unwrap_or("1".to_owned());
    card.parameter("PROC_CLOCK_DIV", div)
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
    println!("cargo:rerun-if-env-changed=WEFT_CARD_LIST");
    // Environment (building): `WEFT_CARD_LIST`: another list of RTL sources, to try a changed card. Without it: `rtl/weft_card.f`.
    let list = std::env::var_os("WEFT_CARD_LIST").map_or(rtl.join("weft_card.f"), PathBuf::from);
    let files = sources(&list, rtl);
    // Environment (building): `WEFT_NO_RTL`: the simulator without RTL models, and so without Verilator: the functional model only. Without it: the
    // RTL at 512, 256 and 128 bits is built.
    if std::env::var_os("WEFT_NO_RTL").is_some() {
        return;
    }
    println!("cargo:rustc-cfg=rtl");
    // WEFT_CARD_OBSERVE=0: without trace and capture, which cost time even while nobody looks.
    println!("cargo:rerun-if-env-changed=WEFT_CARD_OBSERVE");
    // Environment (building): `WEFT_CARD_OBSERVE`: `0`: simulated cards without trace and capture. Without it: with them.
    let observe = std::env::var_os("WEFT_CARD_OBSERVE").is_none_or(|value| value != "0");
    let observe = if observe { "1'b1" } else { "1'b0" };
    let path = rtl.join("configs.toml");
    println!("cargo:rerun-if-changed={}", path.display());
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let configurations: Table = match text.parse() {
        Ok(table) => table,
        Err(error) => panic!("{}: {error}", path.display()),
    };
    let card = |name: &str, kind: &str, top: &str| {
        configured(Design::new(name), &configurations, kind, top)
            .parameter("OBSERVE", observe)
            .include_dir(rtl.join("prim"))
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
    let narrow = |top: &str| card("weft_card_128", "rtl128", top);
    // Environment (building): `WEFT_IBEX`: where the control processor's (docs/processor.md) core is, as `rtl/control/setup.sh` prints it: its tests
    // are built, and the simulated card of 128 bits has one. Without it: no processor.
    let narrow = match std::env::var_os("WEFT_IBEX") {
        Some(ibex) => with_processor(narrow("weft_card_control"), rtl, Path::new(&ibex)),
        None => narrow("weft_card"),
    };
    Project::new()
        .design(card("weft_card_512", "rtl512", "weft_card"))
        // Waves are for the other two, unless RTL_SIM_TRACE=1 asks.
        .design(card("weft_card_256", "rtl256", "weft_card").trace(false))
        .design(narrow)
        .build();
}
