//! The driver's [`Transport`] over a card of a [`World`] in this process.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use weft_card_transport::dma::{page_size, DmaBuffer, Pages, SharedMemory};
use weft_card_transport::{Bar, Transport, TransportError};
use weft_layout::pci;

use crate::card::DOORBELLS;
use crate::threads::Threads;
use crate::world::{Stop, World};

/// A wait lets others into the world after so long.
const STEP_NS: u64 = 2_000;

/// A look at whether one who was called has come, should its call be missed.
const CALLED: Duration = Duration::from_millis(10);

/// A world that several transports share.
pub type SharedWorld = Arc<Mutex<World>>;

/// Locks a world. A panic elsewhere does not take it away: it has no invariant that a panic could break
/// and that a test after the panic relies upon.
pub fn lock(world: &SharedWorld) -> MutexGuard<'_, World> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One card of a world.
///
/// Blocking calls run the world, and several threads may be in them at once. Time goes on in steps, between which
/// the world is everybody's; it stands still while an interrupt is pending for a thread that waits for it;
/// and it leaps over a time in which nothing happens only when every other thread that uses the world
/// waits in it as well, or has left it alone for a while.
#[derive(Clone)]
pub struct SimTransport {
    world: SharedWorld,
    card: usize,
    /// A wait is to end.
    woken: Arc<AtomicBool>,
    threads: Arc<Threads>,
}

impl SimTransport {
    /// The card with this number.
    pub fn new(world: &SharedWorld, card: usize) -> Self {
        let threads = Arc::clone(lock(world).threads());
        Self {
            world: Arc::clone(world),
            card,
            woken: Arc::default(),
            threads,
        }
    }

    /// The world, for one access by this thread.
    fn enter(&self) -> MutexGuard<'_, World> {
        self.threads.enter(&self.world)
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
        self.enter()
            .read(self.card, Self::address(bar, offset))
            .map_err(|e| TransportError::Mmio {
                access: "read",
                bar,
                offset,
                reason: e.to_string(),
            })
    }

    fn write32(&self, bar: Bar, offset: u32, value: u32) -> Result<(), TransportError> {
        self.enter()
            .write(self.card, Self::address(bar, offset), value);
        Ok(())
    }

    fn write_block(&self, bar: Bar, offset: u32, bytes: &[u8]) -> Result<(), TransportError> {
        self.enter()
            .write_block(self.card, Self::address(bar, offset), bytes);
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
        let page = page_size();
        if len == 0 || len % page != 0 || ptr.as_ptr() as usize % page != 0 {
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
        self.enter().now()
    }

    fn wait(&self, vector: u16, deadline: Option<u64>) -> Result<bool, TransportError> {
        let failed = |reason: String| TransportError::Interrupt { vector, reason };
        let mut world = self.enter();
        let asleep = self.threads.sleep(self.card, vector, deadline);
        let mut quiet = None;
        loop {
            if world.take_interrupt(self.card, vector) {
                return Ok(true);
            }
            // Who only looks takes nobody's call away.
            let over = deadline.is_some_and(|at| at <= world.now());
            if over || self.woken.swap(false, Ordering::AcqRel) {
                return Ok(false);
            }
            let waits = asleep.is_another_called(&world)
                || asleep.is_one_driving()
                || asleep.leaves_it_to_others();
            if waits {
                world = asleep.pause(world, CALLED);
                continue;
            }
            let end = deadline.into_iter().chain(asleep.deadline()).min();
            let step = world.now().saturating_add(STEP_NS);
            let stop = world.step(end.map_or(step, |end| end.min(step)));
            match stop.map_err(|e| failed(e.to_string()))? {
                Stop::Interrupt | Stop::Waiting => quiet = None,
                Stop::Deadline => {
                    quiet = None;
                    world = asleep.give_way(&self.world, world);
                }
                // Nothing happens before `end`, or before somebody does something.
                Stop::Quiet | Stop::Asleep(_) => {
                    let leap = end.map(|end| end.saturating_sub(world.now()));
                    let since = *quiet.get_or_insert_with(Instant::now);
                    if let Some(grace) = asleep.grace(leap, since.elapsed()) {
                        world = asleep.pause(world, grace);
                    } else if end.is_some() {
                        quiet = None;
                        world.run(end).map_err(|e| failed(e.to_string()))?;
                    } else {
                        return Err(failed("nothing is left to happen in the simulation".into()));
                    }
                }
            }
        }
    }

    fn wake(&self) {
        // With the lock: a sleeper is then either before its look at the flag, or in a pause.
        let _world = lock(&self.world);
        self.woken.store(true, Ordering::Release);
        self.threads.call();
    }

    fn drives(&self, on: bool) {
        let _world = lock(&self.world);
        self.threads.drive(on);
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
