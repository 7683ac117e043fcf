//! PCI configuration space of a served card: a type 0 header, and the capabilities power management, MSI-X
//! and PCI Express (PCI Express Base Specification, chapter 7).
//!
//! Each byte has a mask of the bits that a write changes; the few bits that do something when written are looked at
//! afterwards.

use weft_layout::pci;

/// Bytes of configuration space.
pub const SIZE: usize = 4096;

/// Where the capabilities are.
mod at {
    pub const COMMAND: usize = 0x04;
    pub const STATUS: usize = 0x06;
    pub const CLASS: usize = 0x08;
    pub const CACHE_LINE: usize = 0x0c;
    pub const BARS: usize = 0x10;
    pub const SUBSYSTEM: usize = 0x2c;
    pub const CAPABILITIES: usize = 0x34;
    pub const INTERRUPT_LINE: usize = 0x3c;
    pub const POWER: usize = 0x40;
    pub const MSIX: usize = 0x50;
    pub const EXPRESS: usize = 0x60;
    pub const POWER_STATE: usize = POWER + 4;
    pub const MSIX_CONTROL: usize = MSIX + 2;
    pub const DEVICE_CONTROL: usize = EXPRESS + 8;
}

/// Bits of the registers.
mod bit {
    pub const MEMORY_SPACE: u16 = 1 << 1;
    pub const BUS_MASTER: u16 = 1 << 2;
    pub const CAPABILITIES_LIST: u16 = 1 << 4;
    pub const MSIX_ENABLE: u16 = 1 << 15;
    pub const MSIX_MASK_ALL: u16 = 1 << 14;
    pub const INITIATE_FLR: u16 = 1 << 15;
    /// In the device capabilities: function-level reset, role-based error reporting.
    pub const FLR_CAPABLE: u32 = 1 << 28;
    pub const ROLE_BASED: u32 = 1 << 15;
}

/// The configuration space.
#[derive(Clone, Debug)]
pub struct ConfigSpace {
    bytes: [u8; SIZE],
    writable: [u8; SIZE],
}

impl ConfigSpace {
    /// As after a reset, with so many MSI-X vectors.
    pub fn new(vectors: u16) -> Self {
        let mut space = Self {
            bytes: [0; SIZE],
            writable: [0; SIZE],
        };
        space.header();
        space.power_management();
        space.msix(vectors);
        space.express();
        space
    }

    fn header(&mut self) {
        self.set16(0, pci::VENDOR, 0);
        self.set16(2, pci::DEVICE, 0);
        let command = bit::MEMORY_SPACE | bit::BUS_MASTER | 1 << 6 | 1 << 8 | 1 << 10;
        self.set16(at::COMMAND, 0, command);
        self.set16(at::STATUS, bit::CAPABILITIES_LIST, 0);
        self.set32(at::CLASS, pci::CLASS << 8 | u32::from(pci::REVISION), 0);
        self.set16(at::CACHE_LINE, 0, 0x00ff);
        for (bar, size) in [
            (pci::REGISTERS_BAR, pci::REGISTERS_SIZE),
            (pci::DOORBELLS_BAR, pci::DOORBELLS_SIZE),
            (pci::MSIX_BAR, pci::MSIX_SIZE),
        ] {
            // 64 bits, not prefetchable; a write of ones reads back the size.
            let low = at::BARS + 4 * usize::from(bar);
            self.set32(low, 0b100, !(size as u32 - 1));
            self.set32(low + 4, 0, u32::MAX);
        }
        self.set16(at::SUBSYSTEM, pci::VENDOR, 0);
        self.set16(at::SUBSYSTEM + 2, pci::DEVICE, 0);
        self.set16(at::CAPABILITIES, at::POWER as u16, 0);
        self.set16(at::INTERRUPT_LINE, 0, 0x00ff);
    }

    fn capability(&mut self, offset: usize, id: u8, next: usize) {
        self.set16(offset, (next as u16) << 8 | u16::from(id), 0);
    }

    fn power_management(&mut self) {
        self.capability(at::POWER, 0x01, at::MSIX);
        // Version 3; D0 and D3hot only; coming back to D0 does not reset (bit 3).
        self.set16(at::POWER + 2, 0x0003, 0);
        self.set16(at::POWER_STATE, 0x0008, 0x0003);
    }

    fn msix(&mut self, vectors: u16) {
        self.capability(at::MSIX, 0x11, at::EXPRESS);
        let control = bit::MSIX_ENABLE | bit::MSIX_MASK_ALL;
        self.set16(at::MSIX_CONTROL, vectors.max(1) - 1, control);
        let bar = u32::from(pci::MSIX_BAR);
        self.set32(at::MSIX + 4, pci::MSIX_TABLE | bar, 0);
        self.set32(at::MSIX + 8, pci::MSIX_PBA | bar, 0);
    }

    fn express(&mut self) {
        self.capability(at::EXPRESS, 0x10, 0);
        // Capability version 2, an endpoint.
        self.set16(at::EXPRESS + 2, 0x0002, 0);
        self.set32(at::EXPRESS + 4, bit::FLR_CAPABLE | bit::ROLE_BASED, 0);
        // Relaxed ordering and no-snoop are on after a reset, the largest read request is 512 bytes.
        self.set16(at::DEVICE_CONTROL, 0x2810, 0x7fff);
        // 8 GT/s, 16 lanes: what the 512-bit card asks for.
        self.set32(at::EXPRESS + 0x0c, 0x0000_0103, 0);
        self.set16(at::EXPRESS + 0x10, 0, 0x00c3);
        self.set16(at::EXPRESS + 0x12, 0x0103, 0);
    }

    fn set16(&mut self, offset: usize, value: u16, writable: u16) {
        self.bytes[offset..offset + 2].copy_from_slice(&value.to_le_bytes());
        self.writable[offset..offset + 2].copy_from_slice(&writable.to_le_bytes());
    }

    fn set32(&mut self, offset: usize, value: u32, writable: u32) {
        self.bytes[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
        self.writable[offset..offset + 4].copy_from_slice(&writable.to_le_bytes());
    }

    fn get16(&self, offset: usize) -> u16 {
        u16::from_le_bytes([self.bytes[offset], self.bytes[offset + 1]])
    }

    /// Reads; `None` beyond the end.
    pub fn read(&self, offset: u64, count: usize) -> Option<&[u8]> {
        let offset = usize::try_from(offset).ok()?;
        self.bytes.get(offset..offset.checked_add(count)?)
    }

    /// Writes, and answers whether that asked for a function-level reset; `None` beyond the end.
    pub fn write(&mut self, offset: u64, data: &[u8]) -> Option<bool> {
        let offset = usize::try_from(offset).ok()?;
        let range = offset..offset.checked_add(data.len())?;
        let bytes = self.bytes.get_mut(range.clone())?;
        for ((byte, mask), new) in bytes
            .iter_mut()
            .zip(&self.writable[range.clone()])
            .zip(data)
        {
            *byte = *byte & !mask | new & mask;
        }
        // The bit is no storage: it reads as 0.
        let control = at::DEVICE_CONTROL + 1;
        let flr = range.contains(&control)
            && data[control - offset] & (bit::INITIATE_FLR >> 8) as u8 != 0;
        Some(flr)
    }

    /// May the function access memory: is it a bus master, and awake?
    pub fn is_master(&self) -> bool {
        let awake = self.get16(at::POWER_STATE) & 3 == 0;
        awake && self.get16(at::COMMAND) & bit::BUS_MASTER != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(space: &ConfigSpace, offset: u64) -> u32 {
        u32::from_le_bytes(space.read(offset, 4).unwrap().try_into().unwrap())
    }

    #[test]
    fn bars_tell_their_sizes() {
        let mut space = ConfigSpace::new(1);
        for (bar, size) in [
            (0, pci::REGISTERS_SIZE),
            (2, pci::DOORBELLS_SIZE),
            (4, pci::MSIX_SIZE),
        ] {
            let offset = 0x10 + 4 * bar;
            space.write(offset, &[0xff; 8]).unwrap();
            let value = u64::from(word(&space, offset + 4)) << 32 | u64::from(word(&space, offset));
            assert_eq!(value & 0xf, 0b100, "a 64-bit memory BAR");
            assert_eq!(!(value & !0xf) + 1, size, "BAR{bar}");
        }
    }

    #[test]
    fn the_list_of_capabilities_ends() {
        let space = ConfigSpace::new(1);
        let mut at = word(&space, 0x34) & 0xff;
        let mut ids = Vec::new();
        while at != 0 {
            let capability = word(&space, u64::from(at));
            ids.push(capability & 0xff);
            at = capability >> 8 & 0xff;
            assert!(ids.len() < 10);
        }
        assert_eq!(ids, [0x01, 0x11, 0x10]);
    }

    #[test]
    fn identity_is_not_writable_and_the_ends_are_kept() {
        let mut space = ConfigSpace::new(1);
        let before = word(&space, 0);
        space.write(0, &[0; 4]).unwrap();
        assert_eq!(word(&space, 0), before);
        assert!(space.read(4093, 4).is_none());
        assert!(space.write(4094, &[0; 4]).is_none());
        assert!(space.read(u64::MAX, 4).is_none());
    }

    #[test]
    fn a_sleeping_function_is_no_master() {
        let mut space = ConfigSpace::new(1);
        assert!(!space.is_master());
        space.write(4, &[0x06, 0]).unwrap();
        assert!(space.is_master());
        space.write(0x44, &[3]).unwrap();
        assert!(!space.is_master());
        space.write(0x44, &[0]).unwrap();
        assert!(space.is_master());
    }

    #[test]
    fn the_reset_bit_asks_and_reads_as_zero() {
        let mut space = ConfigSpace::new(1);
        assert_eq!(space.write(0x68, &[0x10, 0x28]), Some(false));
        assert_eq!(space.write(0x68, &[0x10, 0xa8]), Some(true));
        assert_eq!(word(&space, 0x68) & 0xffff, 0x2810);
        assert_eq!(space.write(0x69, &[0x80]), Some(true));
    }
}
