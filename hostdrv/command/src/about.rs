//! What `weft --version` says.

use std::sync::LazyLock;

/// Version and revision.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("WEFT_REVISION"), ")");

/// And what is in this build.
pub static LONG: LazyLock<String> =
    LazyLock::new(|| {
        format!(
        "{VERSION}\ncard interface: {}\ncards: {}\nsimulator: {}\ninterface of Linux (tap): yes",
        weft_layout::INTERFACE_VERSION,
        crate::command::reach::kinds().collect::<Vec<_>>().join(", "),
        simulator(),
    )
    });

#[cfg(feature = "sim")]
fn simulator() -> String {
    let cards = weft_sim::kind::CardKind::available();
    cards
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(not(feature = "sim"))]
fn simulator() -> String {
    "none (the feature `sim` adds it)".into()
}
