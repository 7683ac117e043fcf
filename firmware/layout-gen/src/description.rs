//! The description as it is read, and what must hold of it.

use serde::Deserialize;
use std::fmt;
use std::path::Path;

/// `rtl/pkg/card.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    pub(crate) interface_version: u32,
    #[serde(default, rename = "register")]
    pub(crate) registers: Vec<Register>,
    #[serde(default, rename = "doorbell")]
    pub(crate) doorbells: Vec<Doorbell>,
    #[serde(default, rename = "table")]
    pub(crate) tables: Vec<Table>,
    #[serde(default, rename = "record")]
    pub(crate) records: Vec<Record>,
    #[serde(default, rename = "counter")]
    pub(crate) counters: Vec<Counter>,
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
            "u32" => Ok(FieldType::Number(4)),
            "u64" => Ok(FieldType::Number(8)),
            _ => text
                .strip_prefix("bytes")
                .and_then(|n| n.parse().ok())
                .filter(|n| (1..=16).contains(n))
                .map(FieldType::Bytes)
                .ok_or_else(|| format!("unknown type '{text}': u8 u16 u32 u64 bytes1..bytes16")),
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
        for record in &self.records {
            let mut end = 0;
            for field in &record.fields {
                let place = format!("{}.{}", record.name, field.name);
                if field.at < end {
                    return Err(format!("{place} overlaps the field before it"));
                }
                if let FieldType::Number(bytes) = field.kind {
                    if field.at % bytes != 0 {
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
