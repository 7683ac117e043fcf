//! What two owners of one card cost each other: Writes of a device on the host by the first port, of one on the card's processor by the second, each alone and
//! both at once; and what the host does for a connection, with the card to itself and with a second owner.
//!
//!     cargo run -p weft-processor-tests --example shared        # WEFT_IBEX and WEFT_FIRMWARE_ENGINE as `make processor` sets them

#[cfg(ibex)]
mod measured {
    use std::error::Error;
    use std::sync::{Arc, Mutex};

    use weft_hostdrv::{Device, DeviceConfig, Rung};
    use weft_processor_tests::connection::{connect, until, End};
    use weft_processor_tests::firmware_with_engine;
    use weft_sim::fabric::{ip, mac};
    use weft_sim::kind::CardKind;
    use weft_sim::link::LinkConfig;
    use weft_sim::transport::{lock, SimTransport};
    use weft_sim::world::World;

    const SEED: u64 = 81;
    const BYTES: usize = 1 << 14;

    struct Site {
        world: Arc<Mutex<World>>,
        first: Device,
        second: Option<Device>,
        peer: Device,
    }

    impl Site {
        fn new(shared: bool) -> Result<Self, Box<dyn Error>> {
            let mut world = World::new(SEED);
            for (number, kind) in [CardKind::Rtl128, CardKind::Model].into_iter().enumerate() {
                world.add_card(kind.build(SEED, number as u32));
            }
            world.join(0, 1, LinkConfig::default());
            let world = Arc::new(Mutex::new(world));
            let transport = |number| Arc::new(SimTransport::new(&world, number));
            let config = |number| {
                let config = DeviceConfig::new(mac(number), ip(number));
                config.seed(SEED + number as u64).keepalive(None)
            };
            let image = Arc::new(firmware_with_engine());
            let of_first = if shared {
                config(0).share_card()
            } else {
                config(0)
            };
            let first = Device::open(transport(0), of_first)?;
            let second = if shared {
                let config = config(0).rung(Rung::Firmware).firmware(image);
                Some(first.second_port(config)?)
            } else {
                None
            };
            let peer = Device::open(transport(1), config(1))?;
            Ok(Self {
                world,
                first,
                second,
                peer,
            })
        }

        fn now(&self) -> u64 {
            lock(&self.world).now()
        }

        fn all(&self) -> Vec<&Device> {
            let devices = [Some(&self.first), self.second.as_ref(), Some(&self.peer)];
            devices.into_iter().flatten().collect()
        }

        /// Posts so many Writes of `len` bytes of each end at once; nanoseconds until those of each are done.
        fn write(&self, ends: &[(&[End; 2], usize, usize)]) -> Result<Vec<u64>, Box<dyn Error>> {
            let begin = self.now();
            for (pair, count, len) in ends {
                for at in 0..*count {
                    pair[0].write(&pair[1], at * len % BYTES, *len)?;
                }
            }
            let mut left: Vec<usize> = ends.iter().map(|(_, count, _)| *count).collect();
            let mut took = vec![0; ends.len()];
            until(&self.all(), "the Writes", || {
                for (number, (pair, ..)) in ends.iter().enumerate() {
                    while left[number] > 0 && pair[0].done()?.is_some() {
                        left[number] -= 1;
                        took[number] = self.now() - begin;
                    }
                }
                Ok(left.iter().all(|left| *left == 0).then_some(()))
            })?;
            Ok(took)
        }
    }

    pub fn main() -> Result<(), Box<dyn Error>> {
        const FIRST: (usize, usize) = (32, 4096);
        const SECOND: (usize, usize) = (16, 64);
        let connection = |site: &Site| {
            let before = site.first.host_stats();
            let pair = connect(&site.all(), [&site.first, &site.peer], 4791, BYTES);
            let after = site.first.host_stats();
            let mmio = |reads: u64, writes: u64| (reads, writes);
            let before = mmio(before.mmio_reads, before.mmio_writes);
            let after = mmio(after.mmio_reads, after.mmio_writes);
            pair.map(|pair| (pair, after.0 - before.0, after.1 - before.1))
        };
        let alone = Site::new(false)?;
        let (pair, reads, writes) = connection(&alone)?;
        let took = alone.write(&[(&pair, FIRST.0, FIRST.1)])?[0];
        println!("the card to itself: a connection {reads} MMIO reads, {writes} writes; 32 Writes of 4 KiB {took} ns");
        let site = Site::new(true)?;
        let (pair, reads, writes) = connection(&site)?;
        println!("with a second owner: a connection {reads} MMIO reads, {writes} writes");
        let second = site.second.as_ref().ok_or("no second device")?;
        let on_card = connect(&site.all(), [second, &site.peer], 4792, BYTES)?;
        let first = (&pair, FIRST.0, FIRST.1);
        let other = (&on_card, SECOND.0, SECOND.1);
        for round in 0..2 {
            let one = site.write(&[first])?[0];
            let two = site.write(&[other])?[0];
            let both = site.write(&[other, first])?;
            println!("round {round}: 32 Writes of 4 KiB {one} ns, beside the processor's {}; its 16 of 64 bytes {two} ns, beside the host's {}", both[1], both[0]);
        }
        Ok(())
    }
}

#[cfg(ibex)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    measured::main()
}

#[cfg(not(ibex))]
fn main() {
    println!("built without WEFT_IBEX: there is no processor");
}
