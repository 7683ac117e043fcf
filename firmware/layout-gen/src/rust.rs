//! The Rust types.

use crate::description::{Description, Field, FieldType, Record};
use crate::rust_bits;
use std::fmt::Write;

pub(crate) fn types(d: &Description) -> String {
    let mut o = String::new();
    o.push_str(
        "// Generated from rtl/pkg/card.toml by weft-layout-gen; do not edit.\n\
         //! Everything the host and the card must agree on: registers, doorbells, tables, counters, and the\n\
         //! records in host memory. `docs/registers.md` is the same as a page; `docs/card.md` says how they\n\
         //! work together.\n#![no_std]\n#![cfg_attr(rustfmt, rustfmt_skip)]\n\n\
         mod bulk;\nmod count;\nmod merge;\nmod placed;\nmod port;\nmod register;\n\n\
         pub use bulk::is_bulk;\npub use count::count_near;\npub use merge::stands_for_both;\npub use port::{PORT_DOORBELLS, PORT_REGISTERS};\n\
         pub use register::{Doorbell, DoorbellArray, ReadOnly, ReadWrite, Register, RegisterArray, Writable};\n\n",
    );
    let _ = writeln!(
        o,
        "/// The version a driver must find in the VERSION register."
    );
    let _ = writeln!(
        o,
        "pub const INTERFACE_VERSION: u32 = {};\n",
        d.interface_version
    );
    for c in &d.constants {
        let _ = writeln!(
            o,
            "/// {}\npub const {}: u32 = {};\n",
            c.doc, c.name, c.value
        );
    }
    pci(&mut o, d);
    o.push_str("/// Byte offsets of the registers in BAR0.\npub mod reg {\n");
    for r in &d.registers {
        let _ = writeln!(
            o,
            "    /// {}\n    pub const {}: u32 = 0x{:04x};",
            r.doc, r.name, r.at
        );
        if r.count > 1 {
            let _ = writeln!(
                o,
                "    /// Number of words of {}.\n    pub const {}_COUNT: u32 = {};",
                r.name, r.name, r.count
            );
        }
        if r.reset != 0 {
            let _ = writeln!(
                o,
                "    /// Value of {} after reset.\n    pub const {}_RESET: u32 = 0x{:08x};",
                r.name, r.name, r.reset
            );
        }
    }
    o.push_str("    /// Every register: name, byte offset, number of words.\n    pub const ALL: &[(&str, u32, u32)] = &[\n");
    for r in &d.registers {
        let _ = writeln!(o, "        (\"{}\", 0x{:04x}, {}),", r.name, r.at, r.count);
    }
    o.push_str("    ];\n    /// What each register of `ALL` is, and whether the host may write it.\n    pub const MEANING: &[(&str, bool)] = &[\n");
    for r in &d.registers {
        let _ = writeln!(o, "        ({:?}, {}),", r.doc, r.access == "rw");
    }
    o.push_str("    ];\n");
    rust_bits::registers(&mut o, d);
    o.push_str("}\n\n/// Byte offsets of the doorbells in BAR2.\npub mod doorbell {\n");
    for b in &d.doorbells {
        let _ = writeln!(
            o,
            "    /// {}\n    pub const {}: u32 = 0x{:04x};",
            b.doc, b.name, b.at
        );
    }
    o.push_str("}\n\n/// Table numbers for TABLE_CMD.\npub mod table {\n");
    for t in &d.tables {
        let _ = writeln!(
            o,
            "    /// {}\n    pub const {}: u8 = {};",
            t.doc, t.name, t.number
        );
    }
    o.push_str("}\n");
    for e in &d.enumerations {
        let _ = write!(o, "\n/// {}\npub mod {} {{\n", e.doc, e.name);
        for v in &e.values {
            let _ = writeln!(
                o,
                "    /// {}\n    pub const {}: u8 = {};",
                v.doc, v.name, v.value
            );
        }
        o.push_str("}\n");
        rust_bits::enumeration(&mut o, e);
    }
    rust_bits::unknown_value(&mut o);
    for w in &d.words {
        let kind = format!("u{}", w.width);
        rust_bits::word(&mut o, "", &camel(&w.name), &kind, &w.doc, &w.bits);
    }
    rust_bits::places(&mut o, d);
    counters(&mut o, d);
    for r in &d.records {
        record(&mut o, r);
    }
    o
}

pub(crate) fn camel(name: &str) -> String {
    name.split('_')
        .map(|w| w[..1].to_uppercase() + &w[1..].to_lowercase())
        .collect()
}

fn pci(o: &mut String, d: &Description) {
    let p = &d.pci;
    let _ = write!(
        o,
        "/// The card as a PCI function. Every BAR is 64-bit memory, not prefetchable.\npub mod pci {{\n\
         \x20   /// Vendor id; in nobody's hands.\n    pub const VENDOR: u16 = 0x{:04x};\n\
         \x20   /// Device id.\n    pub const DEVICE: u16 = 0x{:04x};\n\
         \x20   /// Class, subclass and programming interface, 24 bits.\n    pub const CLASS: u32 = 0x{:06x};\n\
         \x20   /// Revision id: the interface version.\n    pub const REVISION: u8 = {};\n",
        p.vendor, p.device, p.class, d.interface_version
    );
    for (name, doc, bar, size) in [
        (
            "REGISTERS",
            "the registers",
            p.registers_bar,
            p.registers_size,
        ),
        (
            "DOORBELLS",
            "the doorbells",
            p.doorbells_bar,
            p.doorbells_size,
        ),
        (
            "MSIX",
            "the MSI-X table and its pending bits",
            p.msix_bar,
            p.msix_size,
        ),
    ] {
        let _ = write!(
            o,
            "    /// BAR of {doc}.\n    pub const {name}_BAR: u8 = {bar};\n\
             \x20   /// Bytes of that BAR.\n    pub const {name}_SIZE: u64 = 0x{size:x};\n"
        );
    }
    let _ = write!(
        o,
        "    /// Byte offset of the MSI-X table in its BAR.\n    pub const MSIX_TABLE: u32 = 0x{:x};\n\
         \x20   /// Byte offset of the pending bits in the same BAR.\n    pub const MSIX_PBA: u32 = 0x{:x};\n}}\n\n",
        p.msix_table, p.msix_pba
    );
}

fn counters(o: &mut String, d: &Description) {
    o.push_str("\n/// A counter; its number is its word in COUNTERS.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]\n#[repr(u8)]\npub enum Counter {\n");
    for c in &d.counters {
        let _ = writeln!(o, "    /// {}\n    {},", c.doc, camel(&c.name));
    }
    let _ = writeln!(
        o,
        "}}\n\n/// How many counters there are.\npub const NUM_COUNTERS: usize = {};\n",
        d.counters.len()
    );
    o.push_str("impl Counter {\n    /// All of them, in order.\n    pub const ALL: [Counter; NUM_COUNTERS] = [\n");
    for c in &d.counters {
        let _ = writeln!(o, "        Counter::{},", camel(&c.name));
    }
    o.push_str("    ];\n\n    /// The name, as in the reference page.\n    pub const fn name(self) -> &'static str {\n        match self {\n");
    for c in &d.counters {
        let _ = writeln!(
            o,
            "            Counter::{} => \"{}\",",
            camel(&c.name),
            c.name
        );
    }
    o.push_str("        }\n    }\n\n    /// What it counts.\n    pub const fn doc(self) -> &'static str {\n        match self {\n");
    for c in &d.counters {
        let _ = writeln!(
            o,
            "            Counter::{} => \"{}\",",
            camel(&c.name),
            c.doc
        );
    }
    o.push_str("        }\n    }\n}\n");
}

fn rust_type(f: &Field) -> String {
    match f.kind {
        FieldType::Number(bytes) => format!("u{}", 8 * bytes.next_power_of_two()),
        FieldType::Bytes(bytes) => format!("[u8; {bytes}]"),
    }
}

fn record(o: &mut String, r: &Record) {
    let name = camel(&r.name);
    let _ = writeln!(
        o,
        "\n/// {} {} bytes.\n#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]\npub struct {name} {{",
        r.doc, r.size
    );
    for f in &r.fields {
        let doc = match f.doc.as_str() {
            "" if f.bits.is_empty() => "See the field before.",
            "" => "Its bits have getters.",
            doc => doc,
        };
        let _ = writeln!(o, "    /// {doc}\n    pub {}: {},", f.name, rust_type(f));
    }
    let _ = writeln!(
        o,
        "}}\n\nimpl {name} {{\n    /// Bytes of the record.\n    pub const SIZE: usize = {};",
        r.size
    );
    for f in &r.fields {
        let _ = writeln!(
            o,
            "    /// Where {} begins.\n    pub const {}_AT: usize = {};",
            f.name,
            f.name.to_uppercase(),
            f.at
        );
    }
    for f in &r.fields {
        rust_bits::constants(o, &rust_type(f), &f.bits);
    }
    o.push_str(
        "\n    /// The record as it lies in memory.\n    #[inline]\n    pub fn to_bytes(&self) -> [u8; Self::SIZE] {\n        let mut b = [0; Self::SIZE];\n",
    );
    for f in &r.fields {
        let (from, to) = (f.at, f.at + f.kind.bytes());
        let value = match f.kind {
            FieldType::Number(3) => format!("self.{}.to_le_bytes()[..3]", f.name),
            FieldType::Number(_) => format!("self.{}.to_le_bytes()", f.name),
            FieldType::Bytes(_) => format!("self.{}", f.name),
        };
        let _ = writeln!(o, "        b[{from}..{to}].copy_from_slice(&{value});");
    }
    let _ = writeln!(
        o,
        "        b\n    }}\n\n    /// Reads it back; reserved bytes are ignored.\n    #[inline]\n    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {{\n        Self {{"
    );
    for f in &r.fields {
        let mut bytes: Vec<String> = (f.at..f.at + f.kind.bytes())
            .map(|n| format!("b[{n}]"))
            .collect();
        if f.kind == FieldType::Number(3) {
            bytes.push("0".to_owned());
        }
        let bytes = format!("[{}]", bytes.join(", "));
        let value = match f.kind {
            FieldType::Number(_) => format!("{}::from_le_bytes({bytes})", rust_type(f)),
            FieldType::Bytes(_) => bytes,
        };
        let _ = writeln!(o, "            {}: {value},", f.name);
    }
    o.push_str("        }\n    }\n");
    for f in &r.fields {
        let place = format!("self.{}", f.name);
        rust_bits::accessors(o, "", &rust_type(f), &place, &f.bits);
        if let Some(values) = &f.values {
            rust_bits::value_of_field(o, f, &camel(values));
        }
    }
    o.push_str("}\n");
}
