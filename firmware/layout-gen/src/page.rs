//! The reference page.

use crate::bits::Bits;
use crate::description::{Description, FieldType};
use std::fmt::Write;

pub(crate) fn page(d: &Description) -> String {
    let mut o = String::new();
    let _ = write!(
        o,
        "<!-- Generated from rtl/pkg/card.toml by weft-layout-gen; do not edit. -->\n\
         # Registers, doorbells, tables, records, counters\n\n\
         Interface version {}. How they work together: [card.md](card.md). Everything is little-endian; a gap is\n\
         reserved and zero.\n\n",
        d.interface_version
    );
    let p = &d.pci;
    let _ = write!(
        o,
        "## PCI\n\nVendor {:04x} (in nobody's hands: no id was bought), device {:04x}, class {:06x}, revision {} (the interface\n\
         version). Every BAR is 64-bit memory, not prefetchable.\n\n| BAR | bytes | |\n|---|---|---|\n\
         | {} | {:x} | registers |\n| {} | {:x} | doorbells |\n\
         | {} | {:x} | MSI-X: table at {:x}, pending bits at {:x}; as many vectors as CAPS says |\n\n",
        p.vendor,
        p.device,
        p.class,
        d.interface_version,
        p.registers_bar,
        p.registers_size,
        p.doorbells_bar,
        p.doorbells_size,
        p.msix_bar,
        p.msix_size,
        p.msix_table,
        p.msix_pba
    );
    o.push_str(
        "## Registers (BAR0)\n\n| offset | name | access | reset | |\n|---|---|---|---|---|\n",
    );
    for r in &d.registers {
        let at = if r.count > 1 {
            format!("{:04x}-{:04x}", r.at, r.at + 4 * r.count - 1)
        } else {
            format!("{:04x}", r.at)
        };
        let name = match r.bits.is_empty() {
            true => r.name.clone(),
            false => format!("[{}](#{})", r.name, r.name.to_lowercase()),
        };
        let _ = writeln!(
            o,
            "| {at} | {name} | {} | {:x} | {} |",
            r.access, r.reset, r.doc
        );
    }
    o.push_str("\n### Bits of registers\n\nBits without a name are reserved: written as 0, ignored when read.\n");
    for r in d.registers.iter().filter(|r| !r.bits.is_empty()) {
        let written = match r.read_bits.is_empty() {
            true => "",
            false => "Written:\n\n",
        };
        let _ = write!(o, "\n#### {}\n{written}", r.name);
        bits(&mut o, &r.bits);
        if !r.read_bits.is_empty() {
            o.push_str("\nRead:\n\n");
            bits(&mut o, &r.read_bits);
        }
    }
    o.push_str("\n## Doorbells (BAR2, write only)\n\n| offset | name | |\n|---|---|---|\n");
    for b in &d.doorbells {
        let at = match &b.count {
            Some(count) => format!("{:04x} + 4n, n < {count}", b.at),
            None => format!("{:04x}", b.at),
        };
        let _ = writeln!(o, "| {at} | {} | {} |", b.name, b.doc);
    }
    o.push_str("\n## Tables (through TABLE_DATA and TABLE_CMD)\n\n| number | name | row | |\n|---|---|---|---|\n");
    for t in &d.tables {
        let _ = writeln!(
            o,
            "| {} | {} | [{2}](#{2}) | {3} |",
            t.number, t.name, t.row, t.doc
        );
    }
    o.push_str("\n## Records\n");
    for r in &d.records {
        let _ = write!(
            o,
            "\n### {}\n{} {} bytes.\n\n| byte | field | type | |\n|---|---|---|---|\n",
            r.name, r.doc, r.size
        );
        for f in &r.fields {
            let kind = match f.kind {
                FieldType::Number(bytes) => format!("u{}", 8 * bytes),
                FieldType::Bytes(bytes) => format!("{bytes} bytes"),
            };
            let doc = match f.bits.first() {
                Some(_) => format!("{}{}see the bits below", f.doc, separator(&f.doc)),
                None => described(&f.doc, f.values.as_deref()),
            };
            let _ = writeln!(o, "| {} | {} | {kind} | {doc} |", f.at, f.name);
        }
        if r.fields.iter().any(|f| !f.bits.is_empty()) {
            o.push_str("\n| field | bits | name | |\n|---|---|---|---|\n");
        }
        for f in &r.fields {
            for b in &f.bits {
                let doc = described(&b.doc, b.values.as_deref());
                let _ = writeln!(o, "| {} | {} | {} | {doc} |", f.name, b.at.text(), b.name);
            }
        }
    }
    o.push_str("\n## Constants\n\n| value | name | |\n|---|---|---|\n");
    for c in &d.constants {
        let _ = writeln!(o, "| {} | {} | {} |", c.value, c.name, c.doc);
    }
    o.push_str("\n## Values\n");
    for e in &d.enumerations {
        let _ = write!(
            o,
            "\n### {}\n{}\n\n| value | name | |\n|---|---|---|\n",
            e.name, e.doc
        );
        for v in &e.values {
            let _ = writeln!(o, "| {} | {} | {} |", v.value, v.name, v.doc);
        }
    }
    for w in &d.words {
        let _ = write!(o, "\n### {}\n{}\n\n", w.name, w.doc);
        bits(&mut o, &w.bits);
    }
    o.push_str("\n## Counters\n\n| word | name | |\n|---|---|---|\n");
    for (n, c) in d.counters.iter().enumerate() {
        let _ = writeln!(o, "| {n} | {} | {} |", c.name, c.doc);
    }
    o
}

fn bits(o: &mut String, all: &[Bits]) {
    o.push_str("| bits | name | |\n|---|---|---|\n");
    for b in all {
        let doc = described(&b.doc, b.values.as_deref());
        let _ = writeln!(o, "| {} | {} | {doc} |", b.at.text(), b.name);
    }
}

/// The text, and where the names of its values are.
fn described(doc: &str, values: Option<&str>) -> String {
    match values {
        Some(values) => format!("{doc}{}[{values}](#{values})", separator(doc)),
        None => doc.to_owned(),
    }
}

fn separator(doc: &str) -> &'static str {
    if doc.is_empty() {
        ""
    } else {
        ": "
    }
}
