//! What the control processor runs: a linked program, as the firmware's build makes it.

use object::elf::{FileHeader32, EM_RISCV, PT_LOAD};
use object::read::elf::{ElfFile, ProgramHeader};
use object::LittleEndian;
use thiserror::Error;
use weft_layout::{reg, ProcInfo};

use super::{ProcessorError, IMAGE_VARIABLE};

/// Where the firmware says of itself what it is.
pub(super) const INFO_AT: u32 = 0x100;
/// The layout of that which is known here.
const LAYOUT: u32 = 1;
/// More than any control processor has: a program that asks for more is none of ours.
const LARGEST: usize = 1 << 20;

/// Why a file is no firmware.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ImageError {
    /// It is no program for this processor.
    #[error("no program for the control processor: {0}")]
    Elf(String),
    /// It is a program, but not ours.
    #[error("a program, but not the card's firmware: nothing at address 0x100 says that it is")]
    NotFirmware,
    /// It is for another driver.
    #[error("firmware with layout {found}, and this driver knows {LAYOUT}")]
    Layout {
        /// What it has.
        found: u32,
    },
}

/// A firmware to load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    bytes: Vec<u8>,
    info: ProcInfo,
}

impl Image {
    /// The firmware in an ELF file for RISC-V, 32 bits.
    ///
    /// # Errors
    /// When it is something else.
    pub fn parse(file: &[u8]) -> Result<Self, ImageError> {
        let elf = |error: object::Error| ImageError::Elf(error.to_string());
        let program = ElfFile::<FileHeader32<LittleEndian>>::parse(file).map_err(elf)?;
        if program.elf_header().e_machine.get(LittleEndian) != EM_RISCV {
            return Err(ImageError::Elf("it is for another processor".into()));
        }
        let mut bytes = Vec::new();
        for segment in program.elf_program_headers() {
            if segment.p_type(LittleEndian) != PT_LOAD {
                continue;
            }
            let data = segment
                .data(LittleEndian, file)
                .map_err(|()| ImageError::Elf("it is cut off".into()))?;
            let at = segment.p_paddr(LittleEndian) as usize;
            if data.is_empty() {
                continue;
            }
            let end = at.checked_add(data.len()).filter(|end| *end <= LARGEST);
            let Some(end) = end else {
                return Err(ImageError::Elf("it is too large".into()));
            };
            if bytes.len() < end {
                bytes.resize(end.next_multiple_of(4), 0);
            }
            bytes[at..end].copy_from_slice(data);
        }
        let info = bytes
            .get(INFO_AT as usize..)
            .and_then(|rest| rest.first_chunk::<{ ProcInfo::SIZE }>())
            .map(ProcInfo::from_bytes)
            .filter(|info| info.magic == reg::PROC_ID_RESET)
            .ok_or(ImageError::NotFirmware)?;
        if info.layout != LAYOUT {
            return Err(ImageError::Layout { found: info.layout });
        }
        Ok(Self { bytes, info })
    }

    /// The firmware in the file that the environment names ([`IMAGE_VARIABLE`](super::IMAGE_VARIABLE)).
    ///
    /// # Errors
    /// It names none, or that cannot be read or is something else.
    pub fn of_environment() -> Result<Self, ProcessorError> {
        let file = std::env::var_os(IMAGE_VARIABLE).ok_or(ProcessorError::NoImage)?;
        let wrong = |why: String| ProcessorError::Image {
            file: file.to_string_lossy().into_owned(),
            why,
        };
        let bytes = std::fs::read(&file).map_err(|error| wrong(error.to_string()))?;
        Self::parse(&bytes).map_err(|error| wrong(error.to_string()))
    }

    /// What goes into the processor's memory, from address 0: whole words.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The CRC32C of [`bytes`](Self::bytes).
    pub fn checksum(&self) -> u32 {
        crc32c::crc32c(&self.bytes)
    }

    /// What it says of itself; places and counts are 0 until it runs.
    pub fn info(&self) -> &ProcInfo {
        &self.info
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RISC_V: u16 = 243;

    /// An ELF file for RISC-V with one segment at address 0.
    fn program(machine: u16, segment: &[u8]) -> Vec<u8> {
        let mut file = vec![0; 84];
        file[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', 1, 1, 1]);
        file[16..20].copy_from_slice(&[2, 0, machine as u8, (machine >> 8) as u8]);
        file[20] = 1;
        file[28] = 52; // program headers
        file[40] = 52; // bytes of this header
        file[42..46].copy_from_slice(&[32, 0, 1, 0]);
        file[46] = 40;
        let length = (segment.len() as u32).to_le_bytes();
        for (at, word) in [1_u32, 84, 0, 0].iter().enumerate() {
            file[52 + 4 * at..][..4].copy_from_slice(&word.to_le_bytes());
        }
        file[68..72].copy_from_slice(&length);
        file[72..76].copy_from_slice(&length);
        file.extend(segment);
        file
    }

    fn segment(magic: u32, layout: u32) -> Vec<u8> {
        let info = ProcInfo {
            magic,
            layout,
            version: *b"1.2.3\0\0\0\0\0\0\0\0\0\0\0",
            ..ProcInfo::from_bytes(&[0; ProcInfo::SIZE])
        };
        let mut bytes = vec![0x13; INFO_AT as usize];
        bytes.extend(info.to_bytes());
        bytes.extend([7; 3]);
        bytes
    }

    #[test]
    fn a_firmware_is_what_says_so_itself() {
        let bytes = segment(reg::PROC_ID_RESET, LAYOUT);
        let image = Image::parse(&program(RISC_V, &bytes)).expect("a firmware");
        assert_eq!(&image.info().version[..5], b"1.2.3");
        assert_eq!(image.bytes().len(), bytes.len() + 1, "whole words");
        assert_eq!(image.bytes()[..bytes.len()], bytes);
    }

    #[test]
    fn other_files_are_refused() {
        let good = segment(reg::PROC_ID_RESET, LAYOUT);
        let parse = |file: &[u8]| Image::parse(file).expect_err("no firmware");
        assert!(matches!(parse(b""), ImageError::Elf(_)));
        assert!(matches!(parse(&program(62, &good)), ImageError::Elf(_)));
        let whole = program(RISC_V, &good);
        assert!(matches!(
            parse(&whole[..whole.len() - 1]),
            ImageError::Elf(_)
        ));
        assert_eq!(
            parse(&program(RISC_V, &segment(1, LAYOUT))),
            ImageError::NotFirmware
        );
        assert_eq!(
            parse(&program(RISC_V, &good[..200])),
            ImageError::NotFirmware
        );
        let next = program(RISC_V, &segment(reg::PROC_ID_RESET, LAYOUT + 1));
        assert_eq!(parse(&next), ImageError::Layout { found: LAYOUT + 1 });
        // No byte of it, whatever it becomes, ends the program.
        for at in 0..whole.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut file = whole.clone();
                file[at] = value;
                let _ = Image::parse(&file);
            }
        }
    }
}
