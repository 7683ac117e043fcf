//! The seam to a card: everything the driver needs of whatever stands between it and the hardware.
//!
//! A transport reaches one PCIe function: its two BARs, its DMA window, its interrupt vectors. Kernel
//! VFIO, vfio-user, a serial line and the in-process simulator are transports; everything above is one code.

mod address;
mod borrowed;
mod by_port;
pub mod descriptors;
pub mod dma;
mod exchange;
pub mod fork;
mod interface;
mod iova;
pub mod joined;
pub mod listening;
mod monotonic;
mod no_card;
mod of_process;
mod open;
mod open_error;
pub mod queue_memory;
mod registers;
mod serial;
mod spec;
mod still;
pub mod turns;
mod vectors;
pub mod vfio;
mod vfio_user;

use std::fmt;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::Arc;

use thiserror::Error;

use crate::dma::DmaBuffer;
use crate::turns::Turns;

pub use self::address::PciAddress;
pub use self::borrowed::{Bell, BorrowedCard, CardLender, LentMemory, MOST_PARTS};
pub use self::by_port::{ByPort, VECTOR};
pub use self::interface::{Interface, INTERFACE_VARIABLE};
pub use self::iova::IovaAllocator;
pub use self::no_card::NoCard;
pub use self::of_process::OfProcess;
pub use self::open::open;
pub use self::open_error::{Neighbour, OpenError};
pub use self::registers::RegisterAccess;
pub use self::serial::{SerialTransport, BAUD as SERIAL_BAUD};
pub use self::spec::{Spec, VfioOptions};
pub use self::vfio::{list, Found};
pub use self::vfio_user::{wire as vfio_user_wire, VfioUserTransport};

/// An address space of the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bar {
    /// BAR0: registers (`weft_layout::reg`).
    Registers,
    /// BAR2: doorbells (`weft_layout::doorbell`).
    Doorbells,
}

impl Bar {
    /// Its number in PCI configuration space.
    pub const fn index(self) -> u8 {
        match self {
            Bar::Registers => 0,
            Bar::Doorbells => 2,
        }
    }
}

impl fmt::Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BAR{}", self.index())
    }
}

/// What a transport could not do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TransportError {
    /// A register or doorbell access did not happen.
    #[error("{access} of {bar}+{offset:#06x} failed: {reason}; is the device still there?")]
    Mmio {
        /// "read" or "write".
        access: &'static str,
        /// The address space.
        bar: Bar,
        /// Byte offset in it.
        offset: u32,
        /// What the layer below said.
        reason: String,
    },
    /// A configuration space access did not happen.
    #[error("read of configuration space at {offset:#05x} failed: {reason}")]
    Config {
        /// Byte offset.
        offset: u16,
        /// What the layer below said.
        reason: String,
    },
    /// No DMA memory, or the memory could not be mapped.
    #[error("cannot map {len} bytes for DMA: {reason}")]
    Map {
        /// Bytes asked for.
        len: usize,
        /// What the layer below said.
        reason: String,
    },
    /// Memory that this transport maps nowhere: other memory may do.
    #[error("cannot map these {len} bytes for DMA: {reason}")]
    Unmappable {
        /// Bytes asked for.
        len: usize,
        /// What is wrong with where they are.
        reason: String,
    },
    /// A mapping was not there.
    #[error("cannot unmap {len} bytes at IOVA {iova:#x}: {reason}")]
    Unmap {
        /// Start of the mapping.
        iova: u64,
        /// Its bytes.
        len: usize,
        /// What the layer below said.
        reason: String,
    },
    /// Waiting for an interrupt failed.
    #[error("cannot wait for interrupt vector {vector}: {reason}")]
    Interrupt {
        /// The vector.
        vector: u16,
        /// What the layer below said.
        reason: String,
    },
    /// The function could not be reset.
    #[error("reset failed: {0}")]
    Reset(String),
    /// The process that opened the device is the one that this one was forked from.
    #[error("{device} was opened by the parent of this process: a child has no part in it, and opens a device of its own")]
    Inherited {
        /// Where it is.
        device: String,
    },
    /// This transport has no such thing.
    #[error("{0} is not supported by this transport")]
    Unsupported(&'static str),
}

/// One card as the driver reaches it.
///
/// All methods take `&self`: a transport is shared by everything that lives on the card, and locks
/// inside if it must. No method calls back into the driver.
///
/// # Ordering
/// A `write32` must reach the card after all earlier stores of this thread to DMA memory that were
/// followed by [`dma::publish`], and after earlier `write32`s (PCIe posted
/// writes of one function stay in order; a write-combining mapping is not allowed). A `read32` must
/// reach the card after earlier `write32`s.
pub trait Transport: Send + Sync {
    /// Reads a 32-bit register; `offset` is a multiple of 4. A card that does not answer reads as all ones.
    fn read32(&self, bar: Bar, offset: u32) -> Result<u32, TransportError>;

    /// Writes a 32-bit register or doorbell.
    fn write32(&self, bar: Bar, offset: u32, value: u32) -> Result<(), TransportError>;

    /// Writes whole words of 64 bits one behind the other, each as wide as the transport can; `offset` is a multiple of 8. They come in this
    /// order, and behind stores to DMA memory as `write32`s do; for the doorbells' push window, which is not ordered with other registers.
    fn write_block(&self, bar: Bar, offset: u32, bytes: &[u8]) -> Result<(), TransportError> {
        for (word, at) in bytes.chunks_exact(4).zip((offset..).step_by(4)) {
            let value = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            self.write32(bar, at, value)?;
        }
        Ok(())
    }

    /// Reads a word of PCI configuration space.
    fn config_read32(&self, offset: u16) -> Result<u32, TransportError>;

    /// New zeroed memory, mapped for the card to read and write, of at least `len` bytes (whole
    /// pages ([`dma::page_size`]), both addresses page-aligned; a multiple
    /// of the length's next power of two up to 2 MiB is welcome and not required). Unmapped and
    /// freed when the buffer is dropped.
    fn dma_alloc(&self, len: usize) -> Result<DmaBuffer, TransportError>;

    /// Maps existing memory for the card to read and write and answers its IOVA. `ptr` and `len` are
    /// multiples of the page size.
    ///
    /// # Safety
    /// The memory is valid for reads and writes and stays so until [`unmap`](Self::unmap): the card
    /// may change it at any time. While mapped, it is accessed only through raw pointers; during this call and that of
    /// `unmap` by nobody (a transport may exchange the pages behind the addresses, with the same bytes in them).
    unsafe fn map(&self, ptr: NonNull<u8>, len: usize) -> Result<u64, TransportError>;

    /// The same of all pages of a file, which another process may have mapped as well: `ptr` is a shared mapping of it, and its pages are never exchanged.
    ///
    /// # Safety
    /// As for [`map`](Self::map).
    unsafe fn map_file(
        &self,
        ptr: NonNull<u8>,
        len: usize,
        file: BorrowedFd<'_>,
    ) -> Result<u64, TransportError> {
        let _ = file;
        // SAFETY: the caller vouches.
        unsafe { self.map(ptr, len) }
    }

    /// Maps pages that stay in use: whatever is in them goes on being read and written by anybody, during this call too, and they may be mapped
    /// already, wholly or in part. They are never exchanged, but by a [`BorrowedCard`]. As [`map`](Self::map) otherwise, which does it where that exchanges nothing.
    ///
    /// # Safety
    /// The memory is valid for reads and writes and stays so until [`unmap`](Self::unmap): the card may change it at any time.
    unsafe fn lend(&self, ptr: NonNull<u8>, len: usize) -> Result<u64, TransportError> {
        // SAFETY: the caller vouches; nothing is exchanged.
        unsafe { self.map(ptr, len) }
    }

    /// Ends a mapping made by [`map`](Self::map) or [`lend`](Self::lend). When it returns, the card can no longer reach the memory.
    fn unmap(&self, iova: u64, len: usize) -> Result<(), TransportError>;

    /// Monotonic time in nanoseconds (simulated time in the simulator).
    fn now(&self) -> u64;

    /// Waits until interrupt `vector` was asked for since the last call that answered `true`, or
    /// until `now() >= deadline`. Answers whether there was an interrupt. Interrupts are counted as one
    /// between calls; one that came before the call ends it at once. `None`: no time limit. It also ends,
    /// with `false`, by [`wake`](Self::wake), and with an error when no interrupt will come any more
    /// ([`lost`](Self::lost)). One thread at a time waits for a vector.
    fn wait(&self, vector: u16, deadline: Option<u64>) -> Result<bool, TransportError>;

    /// Ends the [`wait`](Self::wait) for this vector that another thread is in, or else the next one. Cheap, and never blocks.
    fn wake(&self, vector: u16);

    /// The calling thread works for the card by itself from now on, and not for long between its [`wait`](Self::wait)s; `false`: no longer, or it waits
    /// for other threads. Simulated time stands still while such a thread is awake.
    fn drives(&self, on: bool) {
        let _ = on;
    }

    /// How threads of a simulated world wait for one another. `None`: as the system has it.
    fn turns(&self) -> Option<Arc<dyn Turns>> {
        None
    }

    /// Why the card is out of reach for good; `None`: it is not, as far as is known without asking the card. A
    /// system call at most: it is for programs that poll and never wait.
    fn lost(&self) -> Option<String> {
        None
    }

    /// A file that is readable from the moment on when [`lost`](Self::lost) has an answer. `None`: this
    /// transport has none.
    fn lost_fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// A file that is readable while an interrupt of `vector` is there that [`wait`](Self::wait) has
    /// not told of: for callers who wait for other files as well. `wait` makes it unreadable again.
    /// `None`: this transport has none.
    fn interrupt_fd(&self, vector: u16) -> Option<BorrowedFd<'_>> {
        let _ = vector;
        None
    }

    /// Is there a card, and a network behind it? If not, only peers inside the host are reached.
    fn has_card(&self) -> bool {
        true
    }

    /// Resets the function: registers as at power-on, nothing in flight.
    fn reset(&self) -> Result<(), TransportError>;

    /// Where the card is, for messages ("simulated card A", "0000:3b:00.0").
    fn name(&self) -> String;
}
