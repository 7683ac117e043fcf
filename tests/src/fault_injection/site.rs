//! Two cards on a link, and drivers that come and go.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use weft_hostdrv::{Device, DeviceConfig};
use weft_sim::fabric::{ip, mac};
use weft_sim::kind::CardKind;
use weft_sim::link::{Faults, LinkConfig};
use weft_sim::transport::{lock, SharedWorld};
use weft_sim::world::World;

use super::mortal::Mortal;

/// Two cards; each has a driver or has none.
pub struct Site {
    world: SharedWorld,
    drivers: [Option<(Device, Arc<Mortal>)>; 2],
    opened: u64,
    seed: u64,
}

impl Site {
    /// Both cards are up.
    pub fn new(kind: CardKind, seed: u64) -> Self {
        let mut world = World::new(seed);
        for number in [0, 1] {
            world.add_card(kind.build(seed, number));
        }
        world.join(0, 1, LinkConfig::default());
        let mut site = Self {
            world: Arc::new(Mutex::new(world)),
            drivers: [None, None],
            opened: 0,
            seed,
        };
        site.open(0);
        site.open(1);
        site
    }

    /// A new process opens a card. Its timers are short: a quarter of a second without the peer is enough.
    pub fn open(&mut self, side: usize) {
        let ms = Duration::from_millis;
        self.opened += 1;
        let transport = Arc::new(Mortal::new(&self.world, side));
        let seed = self.seed.wrapping_mul(1000) + self.opened;
        let config = DeviceConfig::new(mac(side), ip(side))
            .seed(seed)
            .rung(crate::rungs()[side])
            .rto(ms(1), ms(16))
            .retries(6, 3)
            .mpa_timeout(ms(200))
            .close_timeout(ms(200))
            .time_wait(ms(100))
            .keepalive(Some(ms(20)));
        let device = Device::open(transport.clone(), config).expect("the card comes up");
        self.drivers[side] = Some((device, transport));
    }

    /// The driver of a side.
    pub fn device(&self, side: usize) -> &Device {
        let driver = self.drivers[side].as_ref();
        &driver.expect("the side has a driver").0
    }

    /// The process of a side gets SIGKILL. What it held has to be dropped next.
    pub fn kill(&mut self, side: usize) {
        if let Some((_, transport)) = self.drivers[side].take() {
            transport.kill();
        }
    }

    /// The driver of a side is let go in order. With the device file its interrupts go: what the card has said last, nobody hears.
    pub fn close(&mut self, side: usize) {
        self.drivers[side] = None;
        let mut world = lock(&self.world);
        for vector in 0..u64::BITS as u16 {
            world.take_interrupt(side, vector);
        }
    }

    /// Cuts the link, or mends it.
    pub fn cut(&self, cut: bool) {
        let faults = Faults {
            loss: if cut { 1_000_000 } else { 0 },
            ..Faults::default()
        };
        let config = LinkConfig {
            faults,
            ..LinkConfig::default()
        };
        lock(&self.world).link(0).set_config(config);
    }

    /// Simulated nanoseconds.
    pub fn now(&self) -> u64 {
        lock(&self.world).now()
    }

    /// Mappings of a card.
    pub fn mappings(&self, side: usize) -> usize {
        lock(&self.world).iommu(side).mappings()
    }

    /// DMA accesses that the IOMMU refused.
    pub fn faults(&self) -> usize {
        let mut world = lock(&self.world);
        [0, 1].map(|n| world.iommu(n).faults().len()).iter().sum()
    }

    fn devices(&self) -> impl Iterator<Item = &Device> {
        self.drivers.iter().flatten().map(|(device, _)| device)
    }

    fn progress(&self) -> usize {
        let handled = |d: &Device| d.progress().expect("a living device works");
        self.devices().map(handled).sum()
    }

    fn arm(&self) {
        for device in self.devices() {
            device.wait(Some(0)).expect("a living device works");
        }
    }

    /// Lets cards, drivers and `applications` work until `end`, or until `applications` says that it is enough.
    pub fn run(&self, end: u64, mut applications: impl FnMut() -> bool) -> bool {
        loop {
            while self.progress() > 0 {}
            if applications() {
                return true;
            }
            if self.progress() > 0 {
                continue;
            }
            if self.now() >= end {
                return false;
            }
            let pending = lock(&self.world).interrupt_pending();
            self.arm();
            if pending {
                continue;
            }
            let deadlines = self.devices().filter_map(Device::next_deadline);
            let deadline = deadlines.fold(end, u64::min);
            lock(&self.world)
                .run(Some(deadline))
                .expect("the cards work");
            self.arm();
        }
    }
}
