//! A card as the owner of its second port sees it (`docs/card.md`, Ports): the same one, but for the port's own registers, doorbells and interrupts.

use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::Arc;

use weft_layout::{doorbell, registers, PORT_DOORBELLS, PORT_REGISTERS};

use super::{Bar, Transport, TransportError};
use crate::dma::DmaBuffer;
use crate::turns::Turns;

/// The second port's interrupts.
pub const VECTOR: u16 = 1;

/// The card as the second port's owner sees it.
pub struct ByPort(pub Arc<dyn Transport>);

impl ByPort {
    fn offset(bar: Bar, offset: u32) -> u32 {
        let rings = registers::JOB_BASE_LO.offset()..=registers::RAW_RESERVE.offset();
        let is_lock = offset == registers::TABLE_LOCK.offset();
        match bar {
            Bar::Registers if rings.contains(&offset) || is_lock => offset + PORT_REGISTERS,
            Bar::Doorbells if offset < PORT_DOORBELLS && offset != doorbell::CAPTURE_HEAD => {
                offset + PORT_DOORBELLS
            }
            _ => offset,
        }
    }
}

impl Transport for ByPort {
    fn read32(&self, bar: Bar, offset: u32) -> Result<u32, TransportError> {
        self.0.read32(bar, Self::offset(bar, offset))
    }
    fn write32(&self, bar: Bar, offset: u32, value: u32) -> Result<(), TransportError> {
        self.0.write32(bar, Self::offset(bar, offset), value)
    }
    fn write_block(&self, bar: Bar, offset: u32, bytes: &[u8]) -> Result<(), TransportError> {
        self.0.write_block(bar, offset, bytes)
    }
    fn config_read32(&self, offset: u16) -> Result<u32, TransportError> {
        self.0.config_read32(offset)
    }
    fn dma_alloc(&self, len: usize) -> Result<DmaBuffer, TransportError> {
        self.0.dma_alloc(len)
    }
    unsafe fn map(&self, ptr: NonNull<u8>, len: usize) -> Result<u64, TransportError> {
        // SAFETY: the caller's promise is this one's.
        unsafe { self.0.map(ptr, len) }
    }
    unsafe fn map_file(
        &self,
        ptr: NonNull<u8>,
        len: usize,
        file: BorrowedFd<'_>,
    ) -> Result<u64, TransportError> {
        // SAFETY: the caller's promise is this one's.
        unsafe { self.0.map_file(ptr, len, file) }
    }
    unsafe fn lend(&self, ptr: NonNull<u8>, len: usize) -> Result<u64, TransportError> {
        // SAFETY: the caller's promise is this one's.
        unsafe { self.0.lend(ptr, len) }
    }
    fn unmap(&self, iova: u64, len: usize) -> Result<(), TransportError> {
        self.0.unmap(iova, len)
    }
    fn now(&self) -> u64 {
        self.0.now()
    }
    fn wait(&self, _: u16, deadline: Option<u64>) -> Result<bool, TransportError> {
        self.0.wait(VECTOR, deadline)
    }
    fn wake(&self, _: u16) {
        self.0.wake(VECTOR);
    }
    fn drives(&self, on: bool) {
        self.0.drives(on);
    }
    fn turns(&self) -> Option<Arc<dyn Turns>> {
        self.0.turns()
    }
    fn lost(&self) -> Option<String> {
        self.0.lost()
    }
    fn lost_fd(&self) -> Option<BorrowedFd<'_>> {
        self.0.lost_fd()
    }
    fn interrupt_fd(&self, _: u16) -> Option<BorrowedFd<'_>> {
        self.0.interrupt_fd(VECTOR)
    }
    fn has_card(&self) -> bool {
        self.0.has_card()
    }
    fn reset(&self) -> Result<(), TransportError> {
        self.0.reset()
    }
    fn name(&self) -> String {
        format!("{}, second port", self.0.name())
    }
}
