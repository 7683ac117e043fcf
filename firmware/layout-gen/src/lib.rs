//! One description, three outputs: everything the host and the card must agree on is written once, in
//! `rtl/pkg/card.toml`, and this crate turns it into the SystemVerilog package, the Rust types and the
//! reference page. A test compares the three with what is committed.

mod bits;
mod description;
mod page;
mod rust;
mod rust_bits;
mod systemverilog;

pub use description::{Description, DescriptionError};

use std::path::{Path, PathBuf};

/// The root of the source tree this crate was built in.
pub fn source_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every generated file: its path below the source root and its contents.
pub fn outputs(description: &Description) -> Vec<(&'static str, String)> {
    vec![
        (
            "rtl/pkg/weft_card_pkg.sv",
            systemverilog::package(description),
        ),
        ("firmware/layout/src/lib.rs", rust::types(description)),
        ("docs/registers.md", page::page(description)),
    ]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn description() -> Description {
        Description::read(&source_root().join("rtl/pkg/card.toml")).expect("rtl/pkg/card.toml")
    }

    #[test]
    fn generated_files_are_up_to_date() {
        for (path, expected) in outputs(&description()) {
            let found = std::fs::read_to_string(source_root().join(path)).unwrap_or_default();
            assert!(
                found == expected,
                "{path} is stale: run `cargo run -p weft-layout-gen`"
            );
        }
    }

    pub(crate) const PCI: &str = "
        interface_version = 1
        [pci]
        vendor = 0xfffe
        device = 1
        class = 0x020000
        registers_bar = 0
        registers_size = 0x10000
        doorbells_bar = 2
        doorbells_size = 0x10000
        msix_bar = 4
        msix_size = 0x1000
        msix_table = 0
        msix_pba = 0x800
    ";

    pub(crate) fn refused(text: &str) -> String {
        Description::parse(text)
            .expect_err("accepted what contradicts itself")
            .to_string()
    }

    #[test]
    fn overlapping_fields_are_refused() {
        let record = r#"
            [[record]]
            name = "r"
            size = 8
            doc = ""
            fields = [
              { at = 0, type = "u32", name = "a", doc = "" },
              { at = 2, type = "u16", name = "b", doc = "" },
            ]
        "#;
        let error = refused(&format!("{PCI}{record}"));
        assert!(error.contains("overlaps"), "{error}");
    }

    #[test]
    fn impossible_bars_are_refused() {
        assert!(Description::parse(PCI).is_ok());
        let twice = refused(&PCI.replace("msix_bar = 4", "msix_bar = 2"));
        assert!(twice.contains("msix_bar"), "{twice}");
        let odd = refused(&PCI.replace("msix_size = 0x1000", "msix_size = 0x1800"));
        assert!(odd.contains("msix_size"), "{odd}");
        let outside = refused(&PCI.replace("msix_pba = 0x800", "msix_pba = 0x1000"));
        assert!(outside.contains("msix_pba"), "{outside}");
    }
}
