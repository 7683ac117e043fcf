//! The driver's [`Transport`] over a card of a [`World`] in this process.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use weft_card_transport::dma::{page_size, DmaBuffer, Pages, SharedMemory};
use weft_card_transport::turns::{KeepsTurn, Turns};
use weft_card_transport::{Bar, Transport, TransportError};
use weft_layout::pci;

use crate::card::DOORBELLS;
use crate::threads::{Call, Threads};
use crate::world::{bit, Stop, World};

/// A wait lets others into the world after so long.
const STEP_NS: u64 = 2_000;

/// A look at whether one who was called has come, should its call be missed.
const CALLED: Duration = Duration::from_millis(10);

/// Why an access is refused.
const STRANGER: &str =
    "this thread takes no turns in a world where others do: spawn it by the scope, or register it";
/// Why a wait has no end.
const NOTHING_LEFT: &str = "nothing is left to happen in the simulation";

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
    /// Vectors for which a wait is to end, a bit each.
    woken: Arc<AtomicU64>,
    threads: Arc<Threads>,
}

impl SimTransport {
    /// The card with this number.
    pub fn new(world: &SharedWorld, card: usize) -> Self {
        let threads = Arc::clone(lock(world).threads());
        threads.turns.are_of(world);
        Self {
            world: Arc::clone(world),
            card,
            woken: Arc::default(),
            threads,
        }
    }

    /// The world, for one access by this thread.
    fn enter(&self) -> MutexGuard<'_, World> {
        match self.threads.turns.me() {
            Some(_) => lock(&self.world),
            None => self.threads.unregistered.enter(&self.world),
        }
    }

    /// Fails for a thread that takes no turns where others do.
    fn check_turns(&self) -> Result<(), String> {
        match self.threads.turns.is_stranger() {
            true => Err(STRANGER.into()),
            false => Ok(()),
        }
    }

    /// An access by this thread. Its errors are told as those of the register.
    fn access<T>(
        &self,
        (access, bar, offset): (&'static str, Bar, u32),
        work: impl FnOnce(&mut World, u32) -> Result<T, String>,
    ) -> Result<T, TransportError> {
        let address = Self::address(bar, offset);
        let done = self.check_turns();
        let done = done.and_then(|()| work(&mut self.enter(), address));
        done.map_err(|reason| TransportError::Mmio {
            access,
            bar,
            offset,
            reason,
        })
    }

    /// One that was called takes it, or sees that its time is over; `None`: neither.
    fn has_come(&self, world: &mut World, vector: u16, deadline: Option<u64>) -> Option<bool> {
        if world.take_interrupt(self.card, vector) {
            return Some(true);
        }
        // Who only looks takes nobody's call away.
        let over = deadline.is_some_and(|at| at <= world.now());
        let woken = || self.woken.fetch_and(!bit(vector), Ordering::AcqRel) & bit(vector) != 0;
        (over || woken()).then_some(false)
    }

    /// The wait of a thread that takes turns.
    fn wait_in_turn(&self, me: u64, vector: u16, deadline: Option<u64>) -> Result<bool, String> {
        loop {
            let mut world = lock(&self.world);
            if let Some(interrupt) = self.has_come(&mut world, vector, deadline) {
                return Ok(interrupt);
            }
            if KeepsTurn::is_kept() {
                // It holds a lock that another thread may want.
                if world.run(deadline).map_err(|e| e.to_string())? == Stop::Quiet {
                    return Err(NOTHING_LEFT.into());
                }
                continue;
            }
            drop(world);
            let call = Call::Interrupt {
                card: self.card,
                vector,
                deadline,
                woken: Arc::clone(&self.woken),
            };
            let waited = self.threads.turns.wait(me, call);
            waited.map_err(|stuck| stuck.to_string())?;
        }
    }

    /// The wait of a thread that no scope has spawned.
    fn wait_unregistered(&self, vector: u16, deadline: Option<u64>) -> Result<bool, String> {
        let mut world = self.enter();
        let asleep = self.threads.unregistered.sleep(self.card, vector, deadline);
        let mut quiet = None;
        loop {
            if let Some(interrupt) = self.has_come(&mut world, vector, deadline) {
                return Ok(interrupt);
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
            match stop.map_err(|e| e.to_string())? {
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
                        world.run(end).map_err(|e| e.to_string())?;
                    } else {
                        return Err(NOTHING_LEFT.into());
                    }
                }
            }
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
        self.access(("read", bar, offset), |world, address| {
            let read = world.read(self.card, address);
            read.map_err(|e| e.to_string())
        })
    }

    fn write32(&self, bar: Bar, offset: u32, value: u32) -> Result<(), TransportError> {
        self.access(("write", bar, offset), |world, address| {
            world.write(self.card, address, value);
            Ok(())
        })
    }

    fn write_block(&self, bar: Bar, offset: u32, bytes: &[u8]) -> Result<(), TransportError> {
        self.access(("write", bar, offset), |world, address| {
            world.write_block(self.card, address, bytes);
            Ok(())
        })
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
        self.check_turns().map_err(failed)?;
        let waited = match self.threads.turns.me() {
            Some(me) => self.wait_in_turn(me, vector, deadline),
            None => self.wait_unregistered(vector, deadline),
        };
        waited.map_err(failed)
    }

    fn wake(&self, vector: u16) {
        // With the lock: a sleeper is then either before its look at the flag, or in a pause.
        let _world = lock(&self.world);
        self.woken.fetch_or(bit(vector), Ordering::Release);
        self.threads.unregistered.call();
    }

    fn drives(&self, on: bool) {
        if self.threads.turns.me().is_some() {
            return;
        }
        let _world = lock(&self.world);
        self.threads.unregistered.drive(on);
    }

    fn turns(&self) -> Option<Arc<dyn Turns>> {
        Some(Arc::clone(&self.threads.turns) as Arc<_>)
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
