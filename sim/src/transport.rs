//! The driver's [`Transport`] over a card of a [`World`] in this process.

use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_hostdrv::dma::{DmaBuffer, Pages, SharedMemory, PAGE_SIZE};
use weft_hostdrv::transport::{Bar, Transport, TransportError};
use weft_layout::pci;

use crate::card::DOORBELLS;
use crate::world::{Stop, World};

/// A world that several transports share.
pub type SharedWorld = Arc<Mutex<World>>;

/// Locks a world. A panic elsewhere does not take it away: it has no invariant that a panic could break
/// and that a test after the panic relies upon.
pub fn lock(world: &SharedWorld) -> MutexGuard<'_, World> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One card of a world.
#[derive(Clone)]
pub struct SimTransport {
    world: SharedWorld,
    card: usize,
}

impl SimTransport {
    /// The card with this number.
    pub fn new(world: &SharedWorld, card: usize) -> Self {
        Self {
            world: Arc::clone(world),
            card,
        }
    }

    fn address(bar: Bar, offset: u32) -> u32 {
        match bar {
            Bar::Registers => offset & (DOORBELLS - 1),
            Bar::Doorbells => DOORBELLS | (offset & (DOORBELLS - 1)),
        }
    }
}

/// Memory of [`Transport::dma_alloc`]: unmapped, then freed.
struct Mapped {
    world: SharedWorld,
    card: usize,
    iova: u64,
    _pages: Arc<Pages>,
}

impl Drop for Mapped {
    fn drop(&mut self) {
        lock(&self.world).iommu(self.card).unmap(self.iova);
    }
}

impl Transport for SimTransport {
    fn read32(&self, bar: Bar, offset: u32) -> Result<u32, TransportError> {
        lock(&self.world)
            .read(self.card, Self::address(bar, offset))
            .map_err(|e| TransportError::Mmio {
                access: "read",
                bar,
                offset,
                reason: e.to_string(),
            })
    }

    fn write32(&self, bar: Bar, offset: u32, value: u32) -> Result<(), TransportError> {
        lock(&self.world).write(self.card, Self::address(bar, offset), value);
        Ok(())
    }

    fn config_read32(&self, offset: u16) -> Result<u32, TransportError> {
        // No capabilities.
        Ok(match offset & !3 {
            0x00 => u32::from(pci::DEVICE) << 16 | u32::from(pci::VENDOR),
            0x08 => pci::CLASS << 8 | u32::from(pci::REVISION),
            _ => 0,
        })
    }

    fn dma_alloc(&self, len: usize) -> Result<DmaBuffer, TransportError> {
        let no_memory = || TransportError::Map {
            len,
            reason: "no memory".into(),
        };
        let pages = Pages::new(len).ok_or_else(no_memory)?;
        let pages = Arc::new(pages);
        let (ptr, bytes) = (pages.memory().as_ptr(), pages.memory().len());
        let ptr = NonNull::new(ptr).ok_or_else(no_memory)?;
        let iova = lock(&self.world).iommu(self.card).map(Arc::clone(&pages));
        let owner = Mapped {
            world: Arc::clone(&self.world),
            card: self.card,
            iova,
            _pages: pages,
        };
        // SAFETY: `owner` holds the pages, which nothing refers to by reference.
        Ok(unsafe { DmaBuffer::new(ptr, iova, bytes, Box::new(owner)) })
    }

    unsafe fn map(&self, ptr: NonNull<u8>, len: usize) -> Result<u64, TransportError> {
        if len == 0 || len % PAGE_SIZE != 0 || ptr.as_ptr() as usize % PAGE_SIZE != 0 {
            return Err(TransportError::Map {
                len,
                reason: "not whole pages".into(),
            });
        }
        // SAFETY: the caller vouches for the memory until `unmap`.
        let memory = unsafe { SharedMemory::new(ptr, len) };
        Ok(lock(&self.world).iommu(self.card).map_foreign(memory))
    }

    fn unmap(&self, iova: u64, len: usize) -> Result<(), TransportError> {
        if lock(&self.world).iommu(self.card).unmap(iova) {
            return Ok(());
        }
        Err(TransportError::Unmap {
            iova,
            len,
            reason: "no such mapping".into(),
        })
    }

    fn now(&self) -> u64 {
        lock(&self.world).now()
    }

    fn wait(&self, vector: u16, deadline: Option<u64>) -> Result<bool, TransportError> {
        let mut world = lock(&self.world);
        let failed = |reason: String| TransportError::Interrupt { vector, reason };
        loop {
            if world.take_interrupt(self.card, vector) {
                return Ok(true);
            }
            match world.run(deadline).map_err(|e| failed(e.to_string()))? {
                Stop::Interrupt | Stop::Waiting => {}
                Stop::Deadline => return Ok(false),
                Stop::Quiet => {
                    return Err(failed("nothing is left to happen in the simulation".into()))
                }
            }
        }
    }

    fn reset(&self) -> Result<(), TransportError> {
        lock(&self.world).reset(self.card);
        Ok(())
    }

    fn name(&self) -> String {
        let mut world = lock(&self.world);
        format!(
            "simulated card {} ({})",
            self.card,
            world.card(self.card).name()
        )
    }
}
