//! Memory that both ends have mapped: words of 8 bytes, little-endian.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::MmapRaw;
use rustix::fs::{fcntl_add_seals, ftruncate, memfd_create, MemfdFlags, SealFlags};

pub struct Memory {
    map: MmapRaw,
    pub file: File,
}

impl Memory {
    /// New memory, zero.
    pub fn new(bytes: usize) -> io::Result<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("weft-interface-v1", flags)?;
        ftruncate(&file, bytes as u64)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Self::map(file.into())
    }

    pub fn map(file: File) -> io::Result<Self> {
        let map = MmapRaw::map_raw(&file)?;
        Ok(Self { map, file })
    }

    pub fn bytes(&self) -> usize {
        self.map.len()
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at % 8 == 0 && at + 8 <= self.map.len(), "byte {at}");
        // SAFETY: inside the map, aligned, and accessed by atomic operations alone.
        unsafe { AtomicU64::from_ptr(self.map.as_mut_ptr().add(at).cast()) }
    }

    /// The word at this byte.
    pub fn load(&self, at: usize) -> u64 {
        u64::from_le(self.word(at).load(Ordering::Acquire))
    }

    pub fn store(&self, at: usize, value: u64) {
        self.word(at).store(value.to_le(), Ordering::Release);
    }

    /// Writes whole words, the last one last.
    pub fn put(&self, at: usize, bytes: &[u8]) {
        for (index, bytes) in bytes.chunks_exact(8).enumerate() {
            let word = bytes.try_into().map_or(0, u64::from_le_bytes);
            self.store(at + 8 * index, word);
        }
    }

    /// Reads whole words, the last one first.
    pub fn get(&self, at: usize, bytes: &mut [u8]) {
        for (index, bytes) in bytes.chunks_exact_mut(8).enumerate().rev() {
            bytes.copy_from_slice(&self.load(at + 8 * index).to_le_bytes());
        }
    }
}
