//! A `Device` whose engine is on the card (rung `firmware`): the verbs and connections of any other, against the usual engine on other cards.
#![cfg(ibex)]

use std::error::Error;
use std::net::SocketAddrV4;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

use weft_debug::capture::{Capture, CaptureConfig};
use weft_hostdrv::cm::{ConnParam, LoopbackHost};
use weft_hostdrv::device::RawConfig;
use weft_hostdrv::dma::DmaBuffer;
use weft_hostdrv::processor::ProcessorError;
use weft_hostdrv::transport::{Bar, Transport, TransportError};
use weft_hostdrv::verbs::{QpInit, SrqInit, VerbsError};
use weft_hostdrv::{Device, DeviceConfig, DeviceError, Rung, RungError};
use weft_processor_tests::{firmware, firmware_with_engine};
use weft_sim::fabric::{ip, mac, Fabric, FabricConfig};
use weft_sim::kind::CardKind;
use weft_sim::link::{Faults, LinkConfig};
use weft_sim::pair::{Operation, Pair};
use weft_sim::transport::SimTransport;
use weft_sim::world::World;

const PORT: u16 = 4791;

/// Two devices, of these rungs: where the first one's is `firmware`, the second card is the functional model.
fn fabric(
    seed: u64,
    cards: [CardKind; 2],
    rungs: [Rung; 2],
    loss: u32,
    replay: bool,
) -> Result<Fabric, Box<dyn Error>> {
    // What is wrong with the firmware is better said here.
    let _ = firmware_with_engine();
    Ok(Fabric::new(&FabricConfig {
        seed,
        cards: cards.to_vec(),
        rungs: rungs.to_vec(),
        replay,
        link: LinkConfig {
            faults: Faults {
                loss,
                ..Faults::default()
            },
            ..LinkConfig::default()
        },
        ..FabricConfig::default()
    })?)
}

/// Random operations both ways, each byte of both targets compared.
fn transfers(
    pair: &mut Pair<'_>,
    source: &[u8],
    targets: &mut [Vec<u8>; 2],
    sizes: &[usize],
    rng: &mut fastrand::Rng,
) -> Result<(), Box<dyn Error>> {
    for &len in sizes {
        for from in 0..2 {
            for operation in Operation::ALL {
                let at = rng.usize(..=source.len() - len);
                let to = rng.usize(..=targets[0].len() - len);
                pair.transfer(operation, from, at, to, len)?;
                let bytes = &source[at..at + len];
                pair.check_target(operation, 1 - from, &mut targets[1 - from], to, bytes)?;
            }
        }
    }
    Ok(())
}

/// Moves messages of all kinds between two devices of these rungs.
fn talk(
    seed: u64,
    cards: [CardKind; 2],
    rungs: [Rung; 2],
    loss: u32,
    replay: bool,
) -> Result<(), Box<dyn Error>> {
    const BYTES: usize = 1 << 14;
    // All sizes by each operation: what comes to an end.
    const COMES: u32 = 67_575;
    let mut rng = fastrand::Rng::with_seed(seed);
    let fabric = fabric(seed, cards, rungs, loss, replay)?;
    let mut source = vec![0; BYTES];
    source.fill_with(|| rng.u8(..));
    let params = ConnParam::default();
    let mut pair = Pair::connect(&fabric, PORT, &params, &params, &source, BYTES)?;
    for (end, rung) in pair.ends.iter().zip(rungs) {
        assert_eq!(end.qp.query()?.rung, rung);
    }
    let mut targets = [vec![0; BYTES], vec![0; BYTES]];
    let sizes = [0, 1, 64, 1460, 5000, 16_000];
    transfers(&mut pair, &source, &mut targets, &sizes, &mut rng)?;
    pair.established()?;
    for (number, rung) in rungs.into_iter().enumerate() {
        let stats = fabric.device(number).engine_stats();
        let here = rung != Rung::Firmware;
        assert_eq!(stats.fpdus_card + stats.bytes_copied > 0, here, "{stats:?}");
        // The cards place all of it. A peer whose software takes no time sends before the firmware has seen the receive, and sends on while it tries to
        // attach the card again: that stays in its slots until the card has walked over it. Between two of them there is none.
        if let Some(processor) = fabric.device(number).processor() {
            let info = processor.info()?.ok_or("no firmware")?;
            let told = [info.copied, info.checked, info.again];
            println!("end {number}, copied, checked, sent again: {told:?}");
            let alone = rungs != [Rung::Firmware; 2] || loss > 0;
            assert_eq!(info.checked > 0, alone, "{told:?}");
            assert!(info.copied > info.checked, "{told:?}");
            if replay {
                assert!(info.copied < 16_000, "of {COMES} bytes: {told:?}");
            } else {
                assert!(info.copied > COMES / 2, "of {COMES} bytes: {told:?}");
            }
            assert!(loss > 0 || info.again == 0, "{told:?}");
        }
    }
    Ok(pair.disconnect()?)
}

#[test]
fn firmware_talks_to_placement() -> Result<(), Box<dyn Error>> {
    talk(
        31,
        [CardKind::Rtl128, CardKind::Model],
        [Rung::Firmware, Rung::Placement],
        0,
        true,
    )
}

#[test]
fn host_talks_to_firmware() -> Result<(), Box<dyn Error>> {
    talk(
        32,
        [CardKind::Model, CardKind::Rtl128],
        [Rung::Host, Rung::Firmware],
        0,
        true,
    )
}

/// And copies what comes while its flow is detached, as it is told to.
#[test]
fn firmware_talks_to_crc() -> Result<(), Box<dyn Error>> {
    talk(
        33,
        [CardKind::Rtl128, CardKind::Model],
        [Rung::Firmware, Rung::Crc],
        0,
        false,
    )
}

#[test]
fn firmware_talks_to_firmware() -> Result<(), Box<dyn Error>> {
    talk(34, [CardKind::Rtl128; 2], [Rung::Firmware; 2], 0, true)
}

/// One frame of fifty is lost each way: what is missing is sent again, and the engine on the card copies what the card cannot place.
#[test]
fn firmware_recovers_from_losses() -> Result<(), Box<dyn Error>> {
    talk(
        35,
        [CardKind::Rtl128, CardKind::Model],
        [Rung::Firmware, Rung::Placement],
        20_000,
        true,
    )
}

/// What there is not with the engine on the card, each refused with a reason; then it is as good as before.
#[test]
fn what_there_is_not_is_refused_with_the_reason() -> Result<(), Box<dyn Error>> {
    let mut world = World::new(36);
    for (number, kind) in [CardKind::Rtl128, CardKind::Model].into_iter().enumerate() {
        world.add_card(kind.build(36, number as u32));
    }
    let world = Arc::new(Mutex::new(world));
    let transport = |number| Arc::new(SimTransport::new(&world, number));
    let config = || {
        let image = Arc::new(firmware_with_engine());
        let config = DeviceConfig::new(mac(0), ip(0)).rung(Rung::Firmware);
        config.keepalive(None).firmware(image)
    };
    let open = |card, config| Device::open(transport(card), config);

    let none = open(1, config()).err();
    assert_eq!(none, Some(DeviceError::Processor(ProcessorError::None)));
    let other = config().firmware(Arc::new(firmware()));
    let none = open(0, other).err();
    assert_eq!(none, Some(DeviceError::Processor(ProcessorError::NoEngine)));
    let large = config().receive_window(1 << 21);
    for (config, what) in [(config().mtu(9000), "9000"), (large, "receive window")] {
        let refused = open(0, config).err();
        let why = refused
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default();
        assert!(
            matches!(
                refused,
                Some(DeviceError::Processor(ProcessorError::NotOnCard(_)))
            ) && why.contains(what),
            "{why}"
        );
    }

    let device = open(0, config())?;
    let (pd, cq) = (device.alloc_pd()?, device.create_cq(64, None)?);
    let says = |error: String, what: &str| assert!(error.contains(what), "{error}: {what}");
    let of_verbs = |made: Option<VerbsError>, what| {
        says(made.map_or_else(String::new, |e| e.to_string()), what)
    };
    let of_device = |made: Option<DeviceError>, what| {
        says(made.map_or_else(String::new, |e| e.to_string()), what)
    };
    let long = SrqInit {
        max_wr: 513,
        ..SrqInit::default()
    };
    of_verbs(pd.create_srq(&long).err(), "1 to 512");
    // All queues together: 1024.
    let half = SrqInit {
        max_wr: 512,
        ..long
    };
    let halves = [pd.create_srq(&half)?, pd.create_srq(&half)?];
    of_verbs(pd.create_srq(&SrqInit::default()).err(), "memory");
    of_verbs(pd.create_qp(&QpInit::new(&cq)).err(), "memory");
    drop(halves);
    let shareable = QpInit {
        shareable: true,
        ..QpInit::new(&cq)
    };
    of_verbs(pd.create_qp(&shareable).err(), "lending");
    of_verbs(device.create_shareable_control().err(), "lending");
    of_device(device.raw(RawConfig::default()).err(), "raw frames");
    let captures = [(); 2].map(|()| Capture::start(&device, CaptureConfig::default()));
    assert!(captures[0].is_ok(), "{captures:?}");
    assert!(
        matches!(captures[1], Err(DeviceError::CaptureRunning)),
        "{captures:?}"
    );
    let joined = LoopbackHost::new().join(&device).err();
    says(joined.map_or_else(String::new, |e| e.to_string()), "loop");
    for rung in [Rung::Host, Rung::Crc, Rung::Placement] {
        let refused = pd.create_qp(&QpInit::new(&cq).rung(rung)).err();
        let why = VerbsError::Rung {
            rung,
            why: RungError::OnCard,
        };
        assert_eq!(refused, Some(why));
    }
    let rungs = device.extensions().rungs;
    assert_eq!(rungs, 1 << 3, "of all rungs it has firmware");
    assert_eq!(
        pd.create_qp(&QpInit::new(&cq))?.query()?.rung,
        Rung::Firmware
    );
    assert_eq!(device.get_async_event(), None);
    Ok(())
}

/// A card whose host's clock goes so much faster than its own: as one that is simulated behind a socket, and more so.
struct Slow(SimTransport);

const FASTER: u64 = 1_000_000;

impl Transport for Slow {
    fn read32(&self, bar: Bar, offset: u32) -> Result<u32, TransportError> {
        self.0.read32(bar, offset)
    }

    fn write32(&self, bar: Bar, offset: u32, value: u32) -> Result<(), TransportError> {
        self.0.write32(bar, offset, value)
    }

    fn write_block(&self, bar: Bar, offset: u32, bytes: &[u8]) -> Result<(), TransportError> {
        self.0.write_block(bar, offset, bytes)
    }

    fn config_read32(&self, offset: u16) -> Result<u32, TransportError> {
        self.0.config_read32(offset)
    }

    fn dma_alloc(&self, len: usize) -> Result<DmaBuffer, TransportError> {
        self.0.dma_alloc(len)
    }

    unsafe fn map(&self, ptr: NonNull<u8>, len: usize) -> Result<u64, TransportError> {
        // SAFETY: the caller's promise is the one asked for.
        unsafe { self.0.map(ptr, len) }
    }

    fn unmap(&self, iova: u64, len: usize) -> Result<(), TransportError> {
        self.0.unmap(iova, len)
    }

    fn now(&self) -> u64 {
        self.0.now() * FASTER
    }

    fn wait(&self, vector: u16, deadline: Option<u64>) -> Result<bool, TransportError> {
        let deadline = deadline.map(|at| at.div_ceil(FASTER));
        self.0.wait(vector, deadline)
    }

    fn wake(&self, vector: u16) {
        self.0.wake(vector);
    }

    fn reset(&self) -> Result<(), TransportError> {
        self.0.reset()
    }

    fn name(&self) -> String {
        self.0.name()
    }
}

/// Firmware that works is not silent, however long that takes by its host's clock.
#[test]
fn a_slow_card_is_waited_for() -> Result<(), Box<dyn Error>> {
    let mut world = World::new(37);
    world.add_card(CardKind::Rtl128.build(37, 0));
    let world = Arc::new(Mutex::new(world));
    let config = DeviceConfig::new(mac(0), ip(0)).rung(Rung::Firmware);
    let config = config
        .keepalive(None)
        .firmware(Arc::new(firmware_with_engine()));
    let device = Device::open(Arc::new(Slow(SimTransport::new(&world, 0))), config)?;
    let began = device.now();
    let (pd, cq) = (device.alloc_pd()?, device.create_cq(64, None)?);
    pd.create_qp(&QpInit::new(&cq))?;
    let listener = device.create_event_channel().create_id();
    listener.bind_addr(SocketAddrV4::new(ip(0), PORT))?;
    listener.listen(4)?;
    // Each of its commands took more than the second in which others have answered.
    assert!(
        device.now() - began > 3_000_000_000,
        "{}",
        device.now() - began
    );
    Ok(())
}
