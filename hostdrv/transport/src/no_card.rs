//! A device without a card: registers that answer, memory of this process, a network that goes nowhere. For connections inside the host
//! (`LoopbackHost` of `weft-hostdrv`), which need verbs and a connection manager, and nothing behind them.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use weft_layout::{doorbell, reg, Job};

use super::monotonic;
use super::vectors::Vectors;
use super::{Bar, Transport, TransportError};
use crate::dma::{page_size, DmaBuffer, Pages};

/// CAPS: 64 bytes, so many flows and STags (log2), one vector.
const CAPS: [u8; 4] = [64, 8, 14, 1];

/// The registers of a card that is always done with everything, and has nothing to report.
pub struct NoCard {
    registers: Mutex<BTreeMap<u32, u32>>,
    next_iova: AtomicU64,
    vectors: Vectors,
}

impl NoCard {
    /// One of its own. It has 256 queue pairs and 16383 regions.
    ///
    /// # Errors
    /// If the system gives no eventfds.
    pub fn new() -> std::io::Result<Self> {
        let card = Self {
            registers: Mutex::default(),
            next_iova: AtomicU64::new(1 << 40),
            vectors: Vectors::new(1)?,
        };
        card.power_on();
        Ok(card)
    }

    fn registers(&self) -> MutexGuard<'_, BTreeMap<u32, u32>> {
        self.registers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn power_on(&self) {
        *self.registers() = BTreeMap::from([
            (reg::ID, reg::ID_RESET),
            (reg::VERSION, weft_layout::INTERFACE_VERSION),
            (reg::CAPS, u32::from_le_bytes(CAPS)),
            (reg::STATUS, reg::Status::QUIESCENT),
        ]);
    }

    /// Addresses for so many bytes, with a page unused behind them.
    fn iova(&self, len: usize) -> u64 {
        let bytes = len as u64 + page_size() as u64;
        self.next_iova.fetch_add(bytes, Ordering::Relaxed)
    }
}

impl Transport for NoCard {
    fn read32(&self, bar: Bar, offset: u32) -> Result<u32, TransportError> {
        match bar {
            Bar::Registers => Ok(self.registers().get(&offset).copied().unwrap_or(0)),
            Bar::Doorbells => Ok(0),
        }
    }

    fn write32(&self, bar: Bar, offset: u32, value: u32) -> Result<(), TransportError> {
        match (bar, offset) {
            (Bar::Registers, reg::CTRL) if reg::Ctrl(value).reset() => self.power_on(),
            (Bar::Registers, reg::ID | reg::VERSION | reg::CAPS | reg::STATUS) => {}
            // A table row is written at once.
            (Bar::Registers, reg::TABLE_CMD) => {}
            (Bar::Registers, reg::FENCE) => {
                let mut registers = self.registers();
                registers.insert(reg::FENCE, value);
                registers.insert(reg::FENCE_DONE, value);
            }
            (Bar::Registers, _) => {
                self.registers().insert(offset, value);
            }
            (Bar::Doorbells, doorbell::JOB_TAIL) => {
                self.registers().insert(reg::JOB_DONE, value);
            }
            (Bar::Doorbells, _) => {}
        }
        Ok(())
    }

    /// A job that is pushed is done.
    fn write_block(&self, _: Bar, _: u32, bytes: &[u8]) -> Result<(), TransportError> {
        if let Some(number) = bytes.get(Job::NUMBER_AT..Job::NUMBER_AT + 4) {
            let number = u32::from_le_bytes([number[0], number[1], number[2], number[3]]);
            let done = number.wrapping_add(1);
            self.registers().insert(reg::JOB_DONE, done);
        }
        Ok(())
    }

    fn config_read32(&self, _: u16) -> Result<u32, TransportError> {
        Err(TransportError::Unsupported("configuration space"))
    }

    fn dma_alloc(&self, len: usize) -> Result<DmaBuffer, TransportError> {
        let pages = Pages::new(len).ok_or_else(|| TransportError::Map {
            len,
            reason: "no memory".into(),
        })?;
        let (ptr, len) = (pages.memory().as_ptr(), pages.memory().len());
        let ptr = NonNull::new(ptr).ok_or(TransportError::Unsupported("no memory"))?;
        let iova = self.iova(len);
        // SAFETY: the buffer keeps the pages; nobody refers to them by reference.
        Ok(unsafe { DmaBuffer::new(ptr, iova, len, Box::new(pages)) })
    }

    unsafe fn map(&self, _: NonNull<u8>, len: usize) -> Result<u64, TransportError> {
        // Nobody reaches it but by the driver's own copies.
        Ok(self.iova(len))
    }

    fn unmap(&self, _: u64, _: usize) -> Result<(), TransportError> {
        Ok(())
    }

    fn now(&self) -> u64 {
        monotonic::now()
    }

    fn wait(&self, vector: u16, deadline: Option<u64>) -> Result<bool, TransportError> {
        self.vectors.wait(vector, deadline, None, String::new)
    }

    fn wake(&self, vector: u16) {
        self.vectors.wake(vector);
    }

    fn interrupt_fd(&self, vector: u16) -> Option<BorrowedFd<'_>> {
        self.vectors.fd(vector)
    }

    fn has_card(&self) -> bool {
        false
    }

    fn reset(&self) -> Result<(), TransportError> {
        self.power_on();
        Ok(())
    }

    fn name(&self) -> String {
        "no card".into()
    }
}
