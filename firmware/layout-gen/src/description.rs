//! The description as it is read, and what must hold of it.

use serde::Deserialize;
use std::fmt;
use std::path::Path;

use crate::bits::{self, Bits, Enumeration, Word};

/// `rtl/pkg/card.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    pub(crate) interface_version: u32,
    pub(crate) pci: Pci,
    #[serde(default, rename = "constant")]
    pub(crate) constants: Vec<Constant>,
    #[serde(default, rename = "register")]
    pub(crate) registers: Vec<Register>,
    #[serde(default, rename = "doorbell")]
    pub(crate) doorbells: Vec<Doorbell>,
    #[serde(default, rename = "table")]
    pub(crate) tables: Vec<Table>,
    #[serde(default, rename = "record")]
    pub(crate) records: Vec<Record>,
    #[serde(default, rename = "enumeration")]
    pub(crate) enumerations: Vec<Enumeration>,
    #[serde(default, rename = "word")]
    pub(crate) words: Vec<Word>,
    #[serde(default, rename = "counter")]
    pub(crate) counters: Vec<Counter>,
}

/// The card as a PCI function. Every BAR is 64-bit memory, not prefetchable.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pci {
    pub vendor: u16,
    pub device: u16,
    pub class: u32,
    pub registers_bar: u8,
    pub registers_size: u64,
    pub doorbells_bar: u8,
    pub doorbells_size: u64,
    pub msix_bar: u8,
    pub msix_size: u64,
    pub msix_table: u32,
    pub msix_pba: u32,
}

/// A number that host and card have in common.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Constant {
    pub name: String,
    pub value: u32,
    pub doc: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Register {
    pub name: String,
    pub at: u32,
    #[serde(default = "one")]
    pub count: u32,
    pub access: String,
    #[serde(default)]
    pub reset: u32,
    pub doc: String,
    #[serde(default)]
    pub bits: Vec<Bits>,
    /// What a read gives, if that is not what was written.
    #[serde(default)]
    pub read_bits: Vec<Bits>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Doorbell {
    pub name: String,
    pub at: u32,
    #[serde(default)]
    pub count: Option<String>,
    pub doc: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub name: String,
    pub number: u8,
    pub row: String,
    pub doc: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    pub name: String,
    pub size: usize,
    pub doc: String,
    pub fields: Vec<Field>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Field {
    pub at: usize,
    #[serde(rename = "type")]
    pub kind: FieldType,
    pub name: String,
    pub doc: String,
    #[serde(default)]
    pub bits: Vec<Bits>,
    /// The enumeration that names the field's values.
    #[serde(default)]
    pub values: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Counter {
    pub name: String,
    pub doc: String,
}

fn one() -> u32 {
    1
}

/// A number of 8 to 64 bits, or bytes in wire order.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(try_from = "String")]
pub(crate) enum FieldType {
    Number(usize),
    Bytes(usize),
}

impl FieldType {
    pub fn bytes(self) -> usize {
        match self {
            FieldType::Number(bytes) | FieldType::Bytes(bytes) => bytes,
        }
    }
}

impl TryFrom<String> for FieldType {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.as_str() {
            "u8" => Ok(FieldType::Number(1)),
            "u16" => Ok(FieldType::Number(2)),
            "u24" => Ok(FieldType::Number(3)),
            "u32" => Ok(FieldType::Number(4)),
            "u64" => Ok(FieldType::Number(8)),
            _ => text
                .strip_prefix("bytes")
                .and_then(|n| n.parse().ok())
                .filter(|n| (1..=16).contains(n))
                .map(FieldType::Bytes)
                .ok_or_else(|| {
                    format!("unknown type '{text}': u8 u16 u24 u32 u64 bytes1..bytes16")
                }),
        }
    }
}

/// Why a description was refused.
#[derive(Debug)]
pub enum DescriptionError {
    /// It could not be read.
    Io(std::io::Error),
    /// It is not TOML of the expected shape.
    Toml(Box<toml::de::Error>),
    /// It contradicts itself.
    Inconsistent(String),
}

impl fmt::Display for DescriptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DescriptionError::Io(error) => write!(f, "cannot read the card description: {error}"),
            DescriptionError::Toml(error) => write!(f, "the card description: {error}"),
            DescriptionError::Inconsistent(what) => write!(f, "the card description: {what}"),
        }
    }
}

impl std::error::Error for DescriptionError {}

impl Pci {
    fn check(&self) -> Result<(), String> {
        let bars = [
            ("registers", self.registers_bar, self.registers_size),
            ("doorbells", self.doorbells_bar, self.doorbells_size),
            ("msix", self.msix_bar, self.msix_size),
        ];
        for (n, (name, bar, size)) in bars.into_iter().enumerate() {
            // A 64-bit BAR takes two of the six words.
            if bar % 2 != 0 || bar > 4 || bars[..n].iter().any(|b| b.1 == bar) {
                return Err(format!("pci: {name}_bar is one of 0, 2 and 4, used once"));
            }
            if !size.is_power_of_two() || size < 0x1000 {
                return Err(format!("pci: {name}_size is a power of two, 4 KiB or more"));
            }
        }
        if self.class >> 24 != 0 {
            return Err("pci: class has 24 bits".into());
        }
        for (name, at) in [("msix_table", self.msix_table), ("msix_pba", self.msix_pba)] {
            if at % 8 != 0 || u64::from(at) >= self.msix_size {
                return Err(format!("pci: {name} is a multiple of 8 inside its BAR"));
            }
        }
        Ok(())
    }
}

impl Description {
    /// Reads and checks a description file.
    pub fn read(path: &Path) -> Result<Self, DescriptionError> {
        Self::parse(&std::fs::read_to_string(path).map_err(DescriptionError::Io)?)
    }

    /// Reads and checks a description.
    pub fn parse(text: &str) -> Result<Self, DescriptionError> {
        let description: Description =
            toml::from_str(text).map_err(|e| DescriptionError::Toml(Box::new(e)))?;
        description
            .check()
            .map_err(DescriptionError::Inconsistent)?;
        Ok(description)
    }

    fn check(&self) -> Result<(), String> {
        self.pci.check()?;
        bits::check(self)?;
        if self.interface_version > 255 {
            return Err("the interface version is the PCI revision, one byte".into());
        }
        for record in &self.records {
            let mut end = 0;
            for field in &record.fields {
                let place = format!("{}.{}", record.name, field.name);
                if field.at < end {
                    return Err(format!("{place} overlaps the field before it"));
                }
                if let FieldType::Number(bytes) = field.kind {
                    // Three bytes are in one aligned word of 64 bits.
                    let crooked = match bytes {
                        3 => field.at % 8 > 5,
                        _ => field.at % bytes != 0,
                    };
                    if crooked {
                        return Err(format!("{place} is not aligned to its size"));
                    }
                }
                end = field.at + field.kind.bytes();
                if end > record.size {
                    return Err(format!("{place} ends behind its record"));
                }
            }
        }
        let mut end = 0;
        for register in &self.registers {
            if register.at < end || register.at % 4 != 0 {
                return Err(format!(
                    "register {} overlaps or is unaligned",
                    register.name
                ));
            }
            if !matches!(register.access.as_str(), "ro" | "rw") {
                return Err(format!("register {}: access is ro or rw", register.name));
            }
            end = register.at + 4 * register.count;
        }
        for table in &self.tables {
            if !self
                .records
                .iter()
                .any(|r| r.name == table.row && r.size == 64)
            {
                return Err(format!(
                    "table {}: no 64-byte record {}",
                    table.name, table.row
                ));
            }
        }
        let counters = self.registers.iter().find(|r| r.name == "COUNTERS");
        if counters.is_some_and(|r| (r.count as usize) < self.counters.len()) {
            return Err("more counters than counter registers".into());
        }
        Ok(())
    }
}
