//! A transport whose process can be killed: from then on the driver reaches nothing, and what the kernel would clean up is.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use weft_hostdrv::dma::DmaBuffer;
use weft_hostdrv::transport::{Bar, Transport, TransportError};
use weft_sim::transport::{lock, SharedWorld, SimTransport};

/// A card of a world, for one process.
pub struct Mortal {
    inner: SimTransport,
    world: SharedWorld,
    card: usize,
    dead: AtomicBool,
}

impl Mortal {
    /// The card with this number.
    pub fn new(world: &SharedWorld, card: usize) -> Self {
        Self {
            inner: SimTransport::new(world, card),
            world: world.clone(),
            card,
            dead: AtomicBool::new(false),
        }
    }

    /// SIGKILL. The driver does nothing more; the kernel resets the function when the device file closes, and only
    /// then lets go of the mappings (here: when the driver's buffers are dropped).
    pub fn kill(&self) {
        self.dead.store(true, Ordering::Relaxed);
        self.inner.wake(0);
        lock(&self.world).reset(self.card);
    }

    fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    fn mmio(&self, access: &'static str, bar: Bar, offset: u32) -> Result<(), TransportError> {
        if self.is_dead() {
            return Err(TransportError::Mmio {
                access,
                bar,
                offset,
                reason: "the process is dead".into(),
            });
        }
        Ok(())
    }
}

impl Transport for Mortal {
    fn read32(&self, bar: Bar, offset: u32) -> Result<u32, TransportError> {
        self.mmio("read", bar, offset)?;
        self.inner.read32(bar, offset)
    }

    fn write32(&self, bar: Bar, offset: u32, value: u32) -> Result<(), TransportError> {
        self.mmio("write", bar, offset)?;
        self.inner.write32(bar, offset, value)
    }

    fn write_block(&self, bar: Bar, offset: u32, bytes: &[u8]) -> Result<(), TransportError> {
        self.mmio("write", bar, offset)?;
        self.inner.write_block(bar, offset, bytes)
    }

    fn config_read32(&self, offset: u16) -> Result<u32, TransportError> {
        self.inner.config_read32(offset)
    }

    fn dma_alloc(&self, len: usize) -> Result<DmaBuffer, TransportError> {
        self.inner.dma_alloc(len)
    }

    unsafe fn map(&self, ptr: NonNull<u8>, len: usize) -> Result<u64, TransportError> {
        // SAFETY: the caller's promise is the one asked for.
        unsafe { self.inner.map(ptr, len) }
    }

    fn unmap(&self, iova: u64, len: usize) -> Result<(), TransportError> {
        self.inner.unmap(iova, len)
    }

    fn now(&self) -> u64 {
        self.inner.now()
    }

    fn wait(&self, vector: u16, deadline: Option<u64>) -> Result<bool, TransportError> {
        if self.is_dead() {
            return Err(TransportError::Interrupt {
                vector,
                reason: "the process is dead".into(),
            });
        }
        self.inner.wait(vector, deadline)
    }

    fn wake(&self, vector: u16) {
        self.inner.wake(vector);
    }

    fn lost(&self) -> Option<String> {
        self.is_dead().then(|| "the process is dead".to_owned())
    }

    fn reset(&self) -> Result<(), TransportError> {
        if self.is_dead() {
            return Err(TransportError::Reset("the process is dead".into()));
        }
        self.inner.reset()
    }

    fn name(&self) -> String {
        self.inner.name()
    }
}
