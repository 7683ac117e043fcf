//! The Rust types of bits and of values that have names.

use std::fmt::Write;

use crate::bits::{Bits, Enumeration};
use crate::description::{Description, Field};
use crate::rust::camel;

/// The error of everything that has a name for some numbers only.
pub(crate) fn unknown_value(o: &mut String) {
    o.push_str(
        "
/// A number that this interface has no name for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownValue {
    /// The enumeration.
    pub of: &'static str,
    /// The number.
    pub value: u8,
}

impl core::fmt::Display for UnknownValue {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, \"{} has no value {}\", self.of, self.value)
    }
}

impl core::error::Error for UnknownValue {}
",
    );
}

/// An enumeration.
pub(crate) fn enumeration(o: &mut String, e: &Enumeration) {
    let name = camel(&e.name);
    let _ = write!(
        o,
        "\n/// {}\n#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]\n#[repr(u8)]\npub enum {name} {{\n",
        e.doc
    );
    for v in &e.values {
        let _ = writeln!(
            o,
            "    /// {}\n    {} = {},",
            v.doc,
            camel(&v.name),
            v.value
        );
    }
    let _ = write!(
        o,
        "}}\n\nimpl {name} {{\n    /// All of them.\n    pub const ALL: [Self; {}] = [\n",
        e.values.len()
    );
    for v in &e.values {
        let _ = writeln!(o, "        Self::{},", camel(&v.name));
    }
    o.push_str(
        "    ];\n\n    /// The number.\n    pub const fn raw(self) -> u8 {\n        self as u8\n    }\n\n\
         \x20   /// What has this number.\n    pub const fn from_raw(raw: u8) -> Option<Self> {\n        match raw {\n",
    );
    for v in &e.values {
        let _ = writeln!(
            o,
            "            {} => Some(Self::{}),",
            v.value,
            camel(&v.name)
        );
    }
    o.push_str(
        "            _ => None,\n        }\n    }\n\n    /// The name, as in the reference page.\n    pub const fn name(self) -> &'static str {\n        match self {\n",
    );
    for v in &e.values {
        let _ = writeln!(o, "            Self::{} => \"{}\",", camel(&v.name), v.name);
    }
    o.push_str("        }\n    }\n\n    /// What it means.\n    pub const fn doc(self) -> &'static str {\n        match self {\n");
    for v in &e.values {
        let _ = writeln!(o, "            Self::{} => {:?},", camel(&v.name), v.doc);
    }
    let _ = write!(
        o,
        "        }}\n    }}\n}}\n\nimpl TryFrom<u8> for {name} {{\n    type Error = UnknownValue;\n\n\
         \x20   fn try_from(raw: u8) -> Result<Self, UnknownValue> {{\n\
         \x20       Self::from_raw(raw).ok_or(UnknownValue {{ of: \"{}\", value: raw }})\n    }}\n}}\n\n\
         impl From<{name}> for u8 {{\n    fn from(value: {name}) -> u8 {{\n        value.raw()\n    }}\n}}\n",
        e.name
    );
}

/// The values of the registers whose bits have names, and those names as data.
pub(crate) fn registers(o: &mut String, d: &Description) {
    o.push_str(
        "\n    /// Some bits of a register: for those who print registers.\n    #[derive(Clone, Copy, Debug, PartialEq, Eq)]\n    pub struct Bits {\n\
         \x20       /// The name.\n        pub name: &'static str,\n\
         \x20       /// The lowest of them.\n        pub shift: u32,\n\
         \x20       /// How many.\n        pub width: u32,\n\
         \x20       /// What they say.\n        pub doc: &'static str,\n    }\n\n\
         \x20   impl Bits {\n        /// Their value in that of the register.\n        pub const fn of(&self, register: u32) -> u32 {\n\
         \x20           register >> self.shift & u32::MAX >> (32 - self.width)\n        }\n    }\n\n\
         \x20   /// The bits of each register of `ALL`, as they are read.\n    pub const BITS: &[&[Bits]] = &[\n",
    );
    for r in &d.registers {
        let read = match r.read_bits.is_empty() {
            true => &r.bits,
            false => &r.read_bits,
        };
        if read.is_empty() {
            o.push_str("        &[],\n");
            continue;
        }
        o.push_str("        &[\n");
        for b in read {
            let _ = writeln!(
                o,
                "            Bits {{ name: \"{}\", shift: {}, width: {}, doc: {:?} }},",
                b.name,
                b.at.low,
                b.at.width(),
                b.doc
            );
        }
        o.push_str("        ],\n");
    }
    o.push_str("    ];\n");
    for r in &d.registers {
        if !r.bits.is_empty() {
            let doc = format!("The value of {}.", r.name);
            word(o, "    ", &camel(&r.name), "u32", &doc, &r.bits);
        }
        if !r.read_bits.is_empty() {
            let doc = format!("What {} answers.", r.name);
            word(
                o,
                "    ",
                &camel(&format!("{}_READ", r.name)),
                "u32",
                &doc,
                &r.read_bits,
            );
        }
    }
}

/// Registers and doorbells as places with a type.
pub(crate) fn places(o: &mut String, d: &Description) {
    o.push_str(
        "\n/// The registers, each with what may be done with it and what is in it.\npub mod registers {\n\
         \x20   use super::{reg, ReadOnly, ReadWrite, Register, RegisterArray};\n\n",
    );
    for r in &d.registers {
        let access = match r.access.as_str() {
            "rw" => "ReadWrite",
            _ => "ReadOnly",
        };
        let _ = writeln!(o, "    /// {}", r.doc);
        if r.count > 1 {
            let _ = writeln!(
                o,
                "    pub const {0}: RegisterArray<{access}, u32> = RegisterArray::new(\"{0}\", reg::{0}, reg::{0}_COUNT);",
                r.name
            );
            continue;
        }
        let value = match r.bits.is_empty() {
            true => "u32".to_owned(),
            false => format!("reg::{}", camel(&r.name)),
        };
        let answer = match r.read_bits.is_empty() {
            true => String::new(),
            false => format!(", {value}Read"),
        };
        let _ = writeln!(
            o,
            "    pub const {0}: Register<{access}, {value}{answer}> = Register::new(\"{0}\", reg::{0});",
            r.name
        );
    }
    o.push_str(
        "}\n\n/// The doorbells, which can only be rung.\npub mod doorbells {\n    use super::{doorbell, Doorbell, DoorbellArray};\n\n",
    );
    for b in &d.doorbells {
        let kind = match b.count {
            Some(_) => "DoorbellArray",
            None => "Doorbell",
        };
        let _ = writeln!(
            o,
            "    /// {0}\n    pub const {1}: {kind} = {kind}::new(\"{1}\", doorbell::{1});",
            b.doc, b.name
        );
    }
    o.push_str("}\n");
}

/// A number whose bits have names.
pub(crate) fn word(o: &mut String, indent: &str, name: &str, kind: &str, doc: &str, bits: &[Bits]) {
    let mut text = format!(
        "\n/// {doc}\n#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]\npub struct {name}(pub {kind});\n\nimpl {name} {{\n"
    );
    // Registers have a module of their own.
    let root = if indent.is_empty() { "" } else { "super::" };
    constants(&mut text, kind, bits);
    accessors(&mut text, root, kind, "self.0", bits);
    let _ = write!(
        text,
        "}}\n\nimpl From<{kind}> for {name} {{\n    fn from(value: {kind}) -> Self {{\n        Self(value)\n    }}\n}}\n\n\
         impl From<{name}> for {kind} {{\n    fn from(value: {name}) -> {kind} {{\n        value.0\n    }}\n}}\n"
    );
    for line in text.lines() {
        match line {
            "" => o.push('\n'),
            _ => {
                let _ = writeln!(o, "{indent}{line}");
            }
        }
    }
}

/// Masks and places.
pub(crate) fn constants(o: &mut String, kind: &str, bits: &[Bits]) {
    for b in bits {
        let name = b.name.to_uppercase();
        let (doc, mask) = (&b.doc, b.at.mask());
        let _ = if b.is_flag() {
            writeln!(
                o,
                "    /// Bit {}: {doc}.\n    pub const {name}: {kind} = 0x{mask:x};",
                b.at.low
            )
        } else {
            writeln!(
                o,
                "    /// Bits {}: {doc}.\n    pub const {name}_MASK: {kind} = 0x{mask:x};\n\
                 \x20   /// The lowest of them.\n    pub const {name}_SHIFT: u32 = {};",
                b.at.text(),
                b.at.low
            )
        };
    }
}

/// The smallest type that has room.
fn number(width: u32) -> &'static str {
    match width {
        0..=8 => "u8",
        9..=16 => "u16",
        17..=32 => "u32",
        _ => "u64",
    }
}

/// A getter and a setter for each, of the number at `place`; `root` leads to the enumerations.
pub(crate) fn accessors(o: &mut String, root: &str, kind: &str, place: &str, bits: &[Bits]) {
    for b in bits {
        let name = b.name.to_lowercase();
        let upper = b.name.to_uppercase();
        let (doc, low) = (&b.doc, b.at.low);
        let small = number(b.at.width());
        if b.is_flag() {
            let _ = write!(
                o,
                "\n    /// Bit {low}: {doc}.\n    pub const fn {name}(&self) -> bool {{\n        {place} & Self::{upper} != 0\n    }}\n\n\
                 \x20   /// The same with {name} set or clear.\n    #[must_use]\n    pub const fn with_{name}(mut self, on: bool) -> Self {{\n\
                 \x20       {place} = {place} & !Self::{upper} | if on {{ Self::{upper} }} else {{ 0 }};\n        self\n    }}\n"
            );
            continue;
        }
        let cast = |from: &str, to: &str, text: &str| match from == to {
            true => text.to_owned(),
            false => format!("({text}) as {to}"),
        };
        let shifted = match low {
            0 => format!("{place} & Self::{upper}_MASK"),
            _ => format!("({place} & Self::{upper}_MASK) >> Self::{upper}_SHIFT"),
        };
        let value = cast(kind, small, &shifted);
        let (returns, body, takes, raw) = match &b.values {
            Some(values) => {
                let values = format!("{root}{}", camel(values));
                (
                    format!("Result<{values}, {root}UnknownValue>"),
                    format!("{values}::try_from({value})"),
                    values,
                    "value.raw()",
                )
            }
            None => (small.to_owned(), value, small.to_owned(), "value"),
        };
        // Trait functions are not const.
        let constant = if b.values.is_some() { "" } else { "const " };
        let raw = match (kind == small, raw) {
            (true, raw) => raw.to_owned(),
            (false, raw) => format!("({raw} as {kind})"),
        };
        let moved = match low {
            0 => raw,
            _ => format!("{raw} << Self::{upper}_SHIFT"),
        };
        let text = format!(
            "\n    /// Bits {}: {doc}.\n    pub {constant}fn {name}(&self) -> {returns} {{\n        {body}\n    }}\n\n\
             \x20   /// The same with this {name}.\n    #[must_use]\n    pub const fn with_{name}(mut self, value: {takes}) -> Self {{\n\
             \x20       {place} = {place} & !Self::{upper}_MASK | {moved} & Self::{upper}_MASK;\n        self\n    }}\n",
            b.at.text()
        );
        o.push_str(&text);
    }
}

/// The getter of a field that is a value with a name.
pub(crate) fn value_of_field(o: &mut String, f: &Field, values: &str) {
    let _ = write!(
        o,
        "\n    /// {}: by its name.\n    pub fn {1}(&self) -> Result<{values}, UnknownValue> {{\n        {values}::try_from(self.{1})\n    }}\n",
        capital(&f.doc),
        f.name
    );
}

fn capital(doc: &str) -> String {
    let mut chars = doc.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}
