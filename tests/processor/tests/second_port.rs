//! One card with two owners: a device on the host by its first port, and by its second one a device whose engine is on the card's processor. So queue pairs of
//! rung `firmware` and of others are on it at the same time.
#![cfg(ibex)]

use std::error::Error;
use std::sync::{Arc, Mutex};

use weft_hostdrv::processor::{End as FirmwareEnd, ProcessorError};
use weft_hostdrv::verbs::{AsyncEvent, QpInit, VerbsError, WcStatus};
use weft_hostdrv::{Device, DeviceConfig, DeviceError, Rung, RungError};
use weft_layout::{proc_crash, ProcCommand};
use weft_processor_tests::connection::{connect, until, End};
use weft_processor_tests::firmware_with_engine;
use weft_sim::fabric::{ip, mac};
use weft_sim::kind::CardKind;
use weft_sim::link::{Faults, LinkConfig};
use weft_sim::transport::{lock, SimTransport};
use weft_sim::world::World;

type Outcome = Result<(), Box<dyn Error>>;

const BYTES: usize = 1 << 14;
const WRITES: usize = 8;
const LEN: usize = BYTES / WRITES;

struct Site {
    world: Arc<Mutex<World>>,
    /// On card 0, by its ports; on card 1.
    first: Device,
    second: Device,
    peer: Device,
}

fn config(number: usize, seed: u64) -> DeviceConfig {
    let config = DeviceConfig::new(mac(number), ip(number));
    config.seed(seed).keepalive(None)
}

/// What the second device is to be.
fn on_card(seed: u64) -> DeviceConfig {
    let image = Arc::new(firmware_with_engine());
    config(0, seed).rung(Rung::Firmware).firmware(image)
}

impl Site {
    fn new(seed: u64, rung: Rung, loss: u32) -> Result<Self, Box<dyn Error>> {
        let mut world = World::new(seed);
        for (number, kind) in [CardKind::Rtl128, CardKind::Model].into_iter().enumerate() {
            world.add_card(kind.build(seed, number as u32));
        }
        let faults = Faults {
            loss,
            ..Faults::default()
        };
        let link = LinkConfig {
            faults,
            ..LinkConfig::default()
        };
        world.join(0, 1, link);
        let world = Arc::new(Mutex::new(world));
        let transport = |number| Arc::new(SimTransport::new(&world, number));
        let first = Device::open(transport(0), config(0, seed).rung(rung).share_card())?;
        let second = first.second_port(on_card(seed + 1))?;
        let peer = Device::open(transport(1), config(1, seed + 2))?;
        Ok(Self {
            world,
            first,
            second,
            peer,
        })
    }

    fn all(&self) -> [&Device; 3] {
        [&self.first, &self.second, &self.peer]
    }
}

/// Bytes that are nobody else's.
fn bytes(of: u8) -> Vec<u8> {
    let byte = |at: usize| (at * 7 % 251) as u8 ^ of.wrapping_mul(37);
    (0..BYTES).map(byte).collect()
}

/// Writes on all of these at the same time, both ways; each byte compared.
fn write_all(all: &[&Device], pairs: &[[End; 2]], round: u8) -> Outcome {
    for (number, pair) in pairs.iter().enumerate() {
        for (side, end) in pair.iter().enumerate() {
            let of = round * 16 + 2 * number as u8 + side as u8;
            end.source.write(0, &bytes(of))?;
        }
    }
    for at in 0..WRITES {
        for [a, b] in pairs {
            a.write(b, at * LEN, LEN)?;
            b.write(a, at * LEN, LEN)?;
        }
    }
    for (number, pair) in pairs.iter().enumerate() {
        for (side, end) in pair.iter().enumerate() {
            for _ in 0..WRITES {
                let what = format!("a Write of pair {number}, side {side}");
                let done = until(all, &what, || end.done())?;
                assert_eq!(done.status, WcStatus::Success, "pair {number}, side {side}");
            }
        }
    }
    for (number, pair) in pairs.iter().enumerate() {
        for (side, end) in pair.iter().enumerate() {
            let of = round * 16 + 2 * number as u8 + 1 - side as u8;
            let there = end.target.to_vec(0, BYTES)?;
            assert!(there == bytes(of), "pair {number}, side {side}");
        }
    }
    Ok(())
}

fn both_at_once(seed: u64, rung: Rung, loss: u32) -> Outcome {
    let site = Site::new(seed, rung, loss)?;
    let all = site.all();
    let Site {
        first,
        second,
        peer,
        ..
    } = &site;
    // Each of them asks, and is asked.
    let pairs = [
        connect(&all, [first, peer], 4791, BYTES)?,
        connect(&all, [second, peer], 4792, BYTES)?,
        connect(&all, [peer, second], 4793, BYTES)?,
        connect(&all, [peer, first], 4794, BYTES)?,
    ];
    let rungs = pairs.iter().flatten().map(|end| end.qp.query());
    let rungs: Vec<_> = rungs
        .map(|qp| qp.map(|qp| qp.rung))
        .collect::<Result<_, _>>()?;
    let (on_card, usual) = (Rung::Firmware, Rung::Placement);
    let wanted = [rung, usual, on_card, usual, usual, on_card, usual, rung];
    assert_eq!(rungs, wanted);
    for round in 0..3 {
        write_all(&all, &pairs, round)?;
    }
    // Each hears that connections are up, and of nothing else.
    for device in [first, second] {
        while let Some(event) = device.get_async_event() {
            assert!(
                matches!(event, AsyncEvent::CommEstablished { .. }),
                "{event:?}"
            );
        }
    }
    Ok(())
}

#[test]
fn firmware_beside_placement() -> Outcome {
    both_at_once(61, Rung::Placement, 0)
}

#[test]
fn firmware_beside_host() -> Outcome {
    both_at_once(62, Rung::Host, 0)
}

#[test]
fn firmware_beside_crc_with_losses() -> Outcome {
    both_at_once(63, Rung::Crc, 5_000)
}

/// The firmware ends in the middle of traffic of both: the first device does all its work, and the second one can be opened again.
#[test]
fn its_end_is_the_second_devices_alone() -> Outcome {
    let Site {
        world,
        first,
        mut second,
        peer,
    } = Site::new(64, Rung::Placement, 0)?;
    let now = || lock(&world).now();
    let mut rng = fastrand::Rng::with_seed(64);
    let beside = connect(&[&first, &second, &peer], [&first, &peer], 4791, BYTES)?;
    for round in 0..4 {
        let all = [&first, &second, &peer];
        let active = round % 2 == 0;
        let ends = if active {
            [&second, &peer]
        } else {
            [&peer, &second]
        };
        let ends = connect(&all, ends, 4792, BYTES)?;
        for end in &ends {
            end.source.write(0, &bytes(round))?;
        }
        for at in 0..WRITES {
            ends[0].write(&ends[1], at * LEN, LEN)?;
            ends[1].write(&ends[0], at * LEN, LEN)?;
        }
        let moment = now() + rng.u64(..400_000);
        until(&all, "the moment", || Ok((now() >= moment).then_some(())))?;
        let how = [proc_crash::ASSERT, proc_crash::FAULT][usize::from(round / 2)];
        let processor = second.processor().ok_or("no processor")?;
        processor.command(ProcCommand::Crash, how.into())?;
        let fatal = || {
            let mut told = std::iter::from_fn(|| second.get_async_event());
            Ok(told.find(|event| matches!(event, AsyncEvent::DeviceFatal(_))))
        };
        let told = until(&all, "a report", fatal)?;
        let right = |end: FirmwareEnd| match how {
            proc_crash::ASSERT => end == FirmwareEnd::Assert,
            _ => end == FirmwareEnd::Trap(5),
        };
        match told {
            AsyncEvent::DeviceFatal(DeviceError::Processor(ProcessorError::Stopped(end)))
                if right(end) => {}
            other => return Err(format!("round {round}: {other:?}").into()),
        }
        // Its peer goes on writing to what nobody answers for, and the first device has all of the card.
        write_all(&all, std::slice::from_ref(&beside), round)?;
        let failed = std::iter::from_fn(|| first.get_async_event());
        let failed = failed.filter(|event| matches!(event, AsyncEvent::DeviceFatal(_)));
        assert_eq!(failed.count(), 0, "round {round}");
        for end in &ends {
            let there = end.target.to_vec(0, BYTES)?;
            let sent = bytes(round);
            let right = |(is, sent): (&u8, &u8)| *is == 0 || is == sent;
            assert!(there.iter().zip(&sent).all(right), "round {round}");
        }
        drop(ends);
        drop(processor);
        drop(second);
        second = first.second_port(on_card(u64::from(round) + 70))?;
    }
    let all = [&first, &second, &peer];
    let pairs = [connect(&all, [&second, &peer], 4795, BYTES)?, beside];
    write_all(&all, &pairs, 9)
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() -> Outcome {
    let site = Site::new(65, Rung::Placement, 0)?;
    let why = |refused: Result<Device, DeviceError>| match refused {
        Err(DeviceError::SecondPort { why }) => why,
        other => panic!("{:?}", other.map(|device| device.name().to_owned())),
    };
    for another in [on_card(1), config(0, 1)] {
        assert_eq!(why(site.first.second_port(another)), "it is open");
    }
    let whole = site.peer.second_port(on_card(1));
    assert!(why(whole).contains("share_card"));
    // A card with one port.
    let mut world = World::new(1);
    world.add_card(CardKind::Model.build(1, 0));
    let world = Arc::new(Mutex::new(world));
    let transport = Arc::new(SimTransport::new(&world, 0));
    let one = Device::open(transport, config(0, 1).share_card());
    assert_eq!(why(one), "the card has one port");
    // A queue pair is of the device whose rung it has.
    let pd = site.first.alloc_pd()?;
    let cq = site.first.create_cq(16, None)?;
    let qp = pd.create_qp(&QpInit::new(&cq).rung(Rung::Firmware)).err();
    let reason = VerbsError::Rung {
        rung: Rung::Firmware,
        why: RungError::NoProcessor,
    };
    assert_eq!(qp, Some(reason));
    // A port is one's.
    for (one, other, port) in [
        (&site.first, &site.second, 4801),
        (&site.second, &site.first, 4802),
    ] {
        let address = std::net::SocketAddrV4::new(ip(0), port);
        let channels = [one, other].map(Device::create_event_channel);
        let [mine, taken] = [0, 1].map(|n: usize| channels[n].create_id());
        mine.bind_addr(address)?;
        mine.listen(4)?;
        taken.bind_addr(address)?;
        let refused = taken.listen(4).expect_err("it is taken").to_string();
        assert!(refused.contains(&port.to_string()), "{refused}");
        drop(mine);
        until(&site.all(), "the port", || {
            Ok(taken.listen(4).is_ok().then_some(()))
        })?;
    }
    Ok(())
}
