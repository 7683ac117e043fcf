//! The clocks of two or more hosts on a fabric: who may do something now, and what it is charged.

use rand::Rng;
use serde::Serialize;
use weft_hostdrv::Device;

use super::steps::EMPTY_LOOK;
use super::{CostName, Done, HostConfig, Waits, CORES};
use crate::fabric::{Fabric, FabricError};
use crate::seed::{generator, Stream};
use crate::transport::lock;
use crate::world::Stop;

/// The cores of hosts begin within so many nanoseconds of each other, as the seed says: seeds differ where nothing is lost as well.
const PHASES_NS: u64 = 2000;

/// What a host was used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HostUse {
    /// What was done.
    pub done: Done,
    /// Instructions that were charged, looks that found nothing left out.
    pub instructions: f64,
    /// Time that was charged, in nanoseconds, likewise.
    pub busy_ns: f64,
    /// Looks that found nothing, of those that were made.
    pub empty_looks: u64,
    /// Wake-ups of a sleeper.
    pub wake_ups: u64,
}

impl HostUse {
    /// Of two hosts.
    pub fn and(self, other: Self) -> Self {
        Self {
            done: self.done.and(other.done),
            instructions: self.instructions + other.instructions,
            busy_ns: self.busy_ns + other.busy_ns,
            empty_looks: self.empty_looks + other.empty_looks,
            wake_ups: self.wake_ups + other.wake_ups,
        }
    }
}

/// One host.
struct Host {
    /// When each core is free.
    free: [u64; CORES],
    /// The card has written since the last look.
    is_told: bool,
    is_asleep: bool,
    /// It has slept, and the interrupt that may have woken it is not taken.
    has_slept: bool,
    used: HostUse,
}

/// Who does a step.
#[derive(Clone, Copy)]
enum Core {
    /// This thread of it.
    Program(usize),
    Device,
}

/// Hosts of a fabric's devices, from now on. When it is dropped they are free again.
pub struct Hosts<'a> {
    fabric: &'a Fabric,
    config: HostConfig,
    hosts: Vec<Host>,
}

impl<'a> Hosts<'a> {
    /// All of this kind; each core of one whose software takes time begins when the seed says.
    pub fn new(fabric: &'a Fabric, config: HostConfig) -> Self {
        let now = fabric.now();
        let mut world = lock(fabric.world());
        let host = |number| {
            world.watch(number, config.waits == Waits::Polling);
            let mut rng = generator(world.seed(), Stream::Host(number as u32));
            let free = match config.is_free() {
                true => [now; CORES],
                false => [now; CORES].map(|now| now + rng.random_range(0..PHASES_NS)),
            };
            Host {
                free,
                is_told: true,
                is_asleep: false,
                has_slept: false,
                used: HostUse::default(),
            }
        };
        let hosts = (0..fabric.devices().len()).map(host).collect();
        Self {
            fabric,
            config,
            hosts,
        }
    }

    /// What a host was used for so far.
    pub fn used(&self, number: usize) -> HostUse {
        self.hosts[number].used
    }

    fn core(&self, core: Core) -> usize {
        match core {
            Core::Program(thread) => thread,
            Core::Device if self.config.cores > 1 => self.config.threads(),
            Core::Device => 0,
        }
    }

    /// Threads of a program.
    pub fn threads(&self) -> usize {
        self.config.threads()
    }

    /// Whether this thread of a host's program may do something now.
    pub fn is_program_free(&self, number: usize, thread: usize) -> bool {
        let host = &self.hosts[number];
        let at = self.core(Core::Program(thread));
        let sleeps = host.is_asleep && self.core(Core::Device) == at;
        !sleeps && host.free[at] <= self.fabric.now()
    }

    /// A step of this thread of a host's program. It answers what it did beside what the device counts: posts and polls. A completion that is
    /// taken outside of a step leaves the core free: a host of one core that sleeps may then fall asleep beside others.
    pub fn program<T, E>(
        &mut self,
        number: usize,
        thread: usize,
        step: impl FnOnce() -> Result<(T, Done), E>,
    ) -> Result<T, E> {
        self.step(number, Core::Program(thread), step)
    }

    fn step<T, E>(
        &mut self,
        number: usize,
        core: Core,
        step: impl FnOnce() -> Result<(T, Done), E>,
    ) -> Result<T, E> {
        let device = self.fabric.device(number);
        let before = self.fabric.looks().apart(|| {
            let mut world = lock(self.fabric.world());
            world.begin_step(number);
            Done {
                mappings: world.iommu(number).mapped(),
                ..Done::of(device)
            }
        });
        let result = step();
        self.fabric.looks().apart(|| {
            let after = Done {
                mappings: lock(self.fabric.world()).iommu(number).mapped(),
                ..Done::of(device)
            };
            let seen = after.since(before);
            let done = match &result {
                Ok((_, own)) => seen.and(*own),
                Err(_) => seen,
            };
            let ns = done.time_ns(&self.config);
            let mut world = lock(self.fabric.world());
            let end = world.now() + ns.round() as u64;
            world.end_step(number, end);
            let at = self.core(core);
            let host = &mut self.hosts[number];
            host.free[at] = end;
            if done != Done::default() {
                host.used.done = host.used.done.and(done);
                host.used.instructions += done.instructions();
                host.used.busy_ns += ns;
            }
        });
        result.map(|(value, _)| value)
    }

    /// The time of a look that finds nothing, which a poller makes again and again.
    fn look_ns(&self) -> u64 {
        self.config.instructions_ns(EMPTY_LOOK).ceil() as u64
    }

    /// A turn of each device whose core is free and that has something to do; whether there was one.
    pub fn turns(&mut self) -> Result<bool, FabricError> {
        let mut any = false;
        for number in 0..self.hosts.len() {
            any |= self.turn(number)?;
        }
        Ok(any)
    }

    fn turn(&mut self, number: usize) -> Result<bool, FabricError> {
        let device = self.fabric.device(number);
        let now = self.fabric.looks().apart(|| self.look(number, device));
        let at = self.core(Core::Device);
        let host = &mut self.hosts[number];
        if host.is_asleep || !host.is_told || host.free[at] > now {
            return Ok(false);
        }
        host.is_told = false;
        let has_slept = std::mem::take(&mut host.has_slept);
        let looks = self.fabric.looks().clone();
        let found = self.step(number, Core::Device, || {
            if has_slept {
                device.wait(Some(0))?;
            }
            let nothing = |handled: &Result<usize, _>| matches!(handled, Ok(0));
            let handled = looks.look(|| device.progress(), nothing)?;
            let turns = u64::from(handled > 0);
            let done = Done {
                turns,
                ..Done::default()
            };
            Ok::<_, FabricError>((handled > 0, done))
        })?;
        let look_ns = self.look_ns();
        let host = &mut self.hosts[number];
        match found {
            true => host.is_told = true,
            false => {
                host.used.empty_looks += 1;
                host.free[at] += look_ns;
                if self.config.waits == Waits::Sleeping {
                    self.fall_asleep(number)?;
                }
            }
        }
        Ok(true)
    }

    /// What has changed for a host; the time.
    fn look(&mut self, number: usize, device: &Device) -> u64 {
        let period = self.look_ns().max(1);
        let at = self.core(Core::Device);
        let mut world = lock(self.fabric.world());
        let (now, written) = (world.now(), world.take_written(number));
        let interrupted = world.pending(number) != 0;
        drop(world);
        let due = device.next_deadline().is_some_and(|at| at <= now);
        let costs = self.config.costs;
        let host = &mut self.hosts[number];
        let is_news = !host.is_told && (written || due);
        host.is_told |= written || due;
        if host.is_asleep {
            if interrupted || due {
                let wake_up_ns = costs.ns(CostName::WakeUp);
                let ns = match interrupted {
                    true => costs.ns(CostName::Interrupt) + wake_up_ns,
                    false => wake_up_ns,
                };
                (host.is_asleep, host.has_slept) = (false, true);
                host.is_told = true;
                host.free[at] = host.free[at].max(now + ns);
                host.used.wake_ups += 1;
                host.used.busy_ns += wake_up_ns as f64;
            }
        } else if is_news {
            // The poller has gone on looking: the next look begins when the one that goes on ends.
            let behind = now.saturating_sub(host.free[at]);
            host.free[at] += behind.div_ceil(period) * period;
        }
        now
    }

    /// Asks for an interrupt, and sleeps.
    fn fall_asleep(&mut self, number: usize) -> Result<(), FabricError> {
        let device = self.fabric.device(number);
        let interrupts = || self.fabric.looks().apart(|| device.host_stats().interrupts);
        let before = interrupts();
        self.step(number, Core::Device, || {
            device.wait(Some(0))?;
            Ok::<_, FabricError>(((), Done::default()))
        })?;
        // One that was there already has been taken, and its device is disarmed: it looks once more.
        let is_asleep = interrupts() == before;
        let host = &mut self.hosts[number];
        (host.is_asleep, host.is_told) = (is_asleep, !is_asleep);
        Ok(())
    }

    /// Lets time go on until one of the hosts may have something to do, or `end` has come.
    pub fn rest(&mut self, end: u64) -> Result<Stop, FabricError> {
        self.fabric.looks().apart(|| {
            let now = self.fabric.now();
            let mut next = end;
            for (number, host) in self.hosts.iter().enumerate() {
                let device = self.fabric.device(number);
                let free = host.free.into_iter().filter(|at| *at > now);
                let due = device.next_deadline().filter(|at| *at > now);
                next = free.chain(due).fold(next, u64::min);
            }
            Ok(lock(self.fabric.world()).run(Some(next))?)
        })
    }
}

impl Drop for Hosts<'_> {
    fn drop(&mut self) {
        let mut world = lock(self.fabric.world());
        for number in 0..self.hosts.len() {
            world.watch(number, false);
        }
    }
}
