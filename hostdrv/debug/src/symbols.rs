//! The functions of a firmware, by the symbols in its file.

use object::elf::FileHeader32;
use object::read::elf::ElfFile;
use object::{LittleEndian, Object, ObjectSymbol, SymbolKind};
use rustc_demangle::demangle;
use weft_hostdrv::processor::ImageError;

/// A function of the firmware.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Symbol {
    at: u32,
    bytes: u32,
    name: String,
}

/// The functions of a firmware, in the order of their addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols(Vec<Symbol>);

impl Symbols {
    /// Those in an ELF file of 32 bits; there may be none.
    ///
    /// # Errors
    /// When it is something else.
    pub fn parse(file: &[u8]) -> Result<Self, ImageError> {
        let program = ElfFile::<FileHeader32<LittleEndian>>::parse(file)
            .map_err(|error| ImageError::Elf(error.to_string()))?;
        let mut symbols: Vec<_> = program
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text)
            .filter_map(|symbol| {
                Some(Symbol {
                    at: u32::try_from(symbol.address()).ok()?,
                    bytes: u32::try_from(symbol.size()).ok()?,
                    name: format!("{:#}", demangle(symbol.name().ok()?)),
                })
            })
            .collect();
        symbols.sort_by_key(|symbol| symbol.at);
        Ok(Self(symbols))
    }

    /// Names, and where they begin.
    pub fn functions(&self) -> impl Iterator<Item = (&str, u32)> {
        self.0
            .iter()
            .map(|symbol| (symbol.name.as_str(), symbol.at))
    }

    /// The function that has the instruction at `address`, and how far into it that is.
    pub fn function_at(&self, address: u32) -> Option<(&str, u32)> {
        let behind = self.0.partition_point(|symbol| symbol.at <= address);
        let symbol = self.0[..behind].last()?;
        let into = address - symbol.at;
        (into < symbol.bytes).then_some((symbol.name.as_str(), into))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_of_the_function_around_it() {
        let symbol = |at, bytes, name: &str| Symbol {
            at,
            bytes,
            name: name.to_owned(),
        };
        let symbols = Symbols(vec![symbol(0x100, 8, "first"), symbol(0x110, 4, "second")]);
        for (address, found) in [
            (0xff, None),
            (0x100, Some(("first", 0))),
            (0x107, Some(("first", 7))),
            (0x108, None),
            (0x113, Some(("second", 3))),
            (0x114, None),
        ] {
            assert_eq!(symbols.function_at(address), found, "{address:#x}");
        }
    }

    #[test]
    fn what_is_no_program_is_refused() {
        for file in [&b""[..], b"\x7fELF", &[0; 84]] {
            assert!(matches!(Symbols::parse(file), Err(ImageError::Elf(_))));
        }
    }
}
