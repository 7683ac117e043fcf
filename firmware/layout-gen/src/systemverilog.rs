//! The SystemVerilog package.

use crate::bits::Bits;
use crate::description::{Description, Record};
use std::fmt::Write;

pub(crate) fn package(d: &Description) -> String {
    let mut o = String::new();
    o.push_str(
        "// Generated from rtl/pkg/card.toml by weft-layout-gen; do not edit.\n//\n\
         // Offsets of registers and doorbells, table numbers, counter numbers, and the records that the\n\
         // host and the card exchange. In every record bit 0 is bit 0 of byte 0; numbers are little-endian,\n\
         // byte strings have their first byte in bits 7:0. X_BIT is the position of one bit in its register or\n\
         // field, X_LSB and X_WIDTH that of several: value[X_LSB +: X_WIDTH].\n\npackage weft_card_pkg;\n\n",
    );
    let _ = writeln!(
        o,
        "  parameter logic [31:0] INTERFACE_VERSION = 32'd{};\n",
        d.interface_version
    );
    for c in &d.constants {
        let _ = writeln!(
            o,
            "  // {}\n  parameter int unsigned {} = {};\n",
            c.doc, c.name, c.value
        );
    }
    o.push_str("  // Registers (byte offset in BAR0).\n");
    for r in &d.registers {
        let _ = writeln!(
            o,
            "  parameter logic [15:0] REG_{} = 16'h{:04x};",
            r.name, r.at
        );
        if r.count > 1 {
            let _ = writeln!(
                o,
                "  parameter int unsigned REG_{}_COUNT = {};",
                r.name, r.count
            );
        }
        if r.reset != 0 {
            let _ = writeln!(
                o,
                "  parameter logic [31:0] REG_{}_RESET = 32'h{:08x};",
                r.name, r.reset
            );
        }
    }
    o.push_str("\n  // Bits of registers.\n");
    for r in &d.registers {
        for b in r.bits.iter().chain(&r.read_bits) {
            bits(&mut o, &r.name, b);
        }
    }
    o.push_str("\n  // Doorbells (byte offset in BAR2).\n");
    for b in &d.doorbells {
        let _ = writeln!(
            o,
            "  parameter logic [15:0] DB_{} = 16'h{:04x};",
            b.name, b.at
        );
    }
    o.push_str("\n  // Tables.\n");
    for t in &d.tables {
        let _ = writeln!(
            o,
            "  parameter logic [3:0] TBL_{} = 4'd{};",
            t.name, t.number
        );
    }
    for e in &d.enumerations {
        let _ = writeln!(o, "\n  // {}", e.doc);
        for v in &e.values {
            let _ = writeln!(
                o,
                "  parameter logic [{}:0] {}_{} = {}'d{};",
                e.width - 1,
                e.name.to_uppercase(),
                v.name,
                e.width,
                v.value
            );
        }
    }
    for w in &d.words {
        let _ = writeln!(o, "\n  // {}", w.doc);
        for b in &w.bits {
            bits(&mut o, &w.name, b);
        }
    }
    o.push_str("\n  // Counters.\n");
    for (n, c) in d.counters.iter().enumerate() {
        let _ = writeln!(
            o,
            "  parameter int unsigned CNT_{} = {n};",
            c.name.to_uppercase()
        );
    }
    let _ = writeln!(
        o,
        "  parameter int unsigned NUM_COUNTERS = {};",
        d.counters.len()
    );
    for record in &d.records {
        structure(&mut o, record);
    }
    o.push_str("\nendpackage\n");
    o
}

/// A packed struct lists its most significant field first, so the fields go from the last byte to byte 0.
fn structure(o: &mut String, record: &Record) {
    let mut lines = Vec::new();
    let mut at = 0;
    let gap = |lines: &mut Vec<String>, from: usize, to: usize| {
        if to > from {
            lines.push(format!(
                "    logic [{}:0] rsvd_{from};\n",
                8 * (to - from) - 1
            ));
        }
    };
    for f in &record.fields {
        gap(&mut lines, at, f.at);
        at = f.at + f.kind.bytes();
        let doc = match (&f.doc, &f.values) {
            (doc, None) if doc.is_empty() => String::new(),
            (doc, None) => format!("  // {doc}"),
            (doc, Some(values)) => format!("  // {doc} ({}_*)", values.to_uppercase()),
        };
        lines.push(format!(
            "    logic [{}:0] {};{doc}\n",
            8 * f.kind.bytes() - 1,
            f.name
        ));
    }
    gap(&mut lines, at, record.size);
    lines.reverse();
    let _ = write!(
        o,
        "\n  // {}\n  typedef struct packed {{\n{}  }} {}_t;\n",
        record.doc,
        lines.concat(),
        record.name
    );
    for f in &record.fields {
        for b in &f.bits {
            bits(o, &record.name, b);
        }
    }
}

/// Where some bits are in what they are part of.
fn bits(o: &mut String, of: &str, bits: &Bits) {
    let name = format!("{of}_{}", bits.name).to_uppercase();
    let _ = if bits.is_flag() {
        writeln!(
            o,
            "  parameter int unsigned {name}_BIT = {};  // {}",
            bits.at.low, bits.doc
        )
    } else {
        writeln!(
            o,
            "  parameter int unsigned {name}_LSB = {};  // {}\n  parameter int unsigned {name}_WIDTH = {};",
            bits.at.low,
            bits.doc,
            bits.at.width()
        )
    };
}
