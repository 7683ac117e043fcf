//! The firmware ends again and again in the middle of its device's traffic: one report each time, the other device of the host as ever, and a new start.
#![cfg(ibex)]

use std::error::Error;
use std::sync::{Arc, Mutex};

use weft_hostdrv::processor::{End, ProcessorError};
use weft_hostdrv::verbs::{AsyncEvent, WcStatus};
use weft_hostdrv::{Device, DeviceConfig, DeviceError, Rung};
use weft_layout::{proc_crash, ProcCommand};
use weft_processor_tests::connection::{connect, until};
use weft_processor_tests::firmware_with_engine;
use weft_sim::fabric::{ip, mac};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::transport::{lock, SimTransport};
use weft_sim::world::World;

const BYTES: usize = 1 << 13;
const WRITES: usize = 8;
const LEN: usize = BYTES / WRITES;
/// Its end comes so long after the posts at most: some of them are done by then, some not.
const MOMENT_NS: u64 = 400_000;

/// That the device failed, among what it tells.
fn fatal(device: &Device) -> Option<AsyncEvent> {
    let mut told = std::iter::from_fn(|| device.get_async_event());
    told.find(|event| matches!(event, AsyncEvent::DeviceFatal(_)))
}

/// `WEFT_PROCESSOR_ROUNDS` ends, 6 without.
#[test]
fn it_ends_in_the_middle_of_its_devices_traffic() -> Result<(), Box<dyn Error>> {
    let rounds = std::env::var("WEFT_PROCESSOR_ROUNDS");
    let rounds = rounds.ok().and_then(|text| text.parse().ok()).unwrap_or(6);
    let seed = 51;
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut world = World::new(seed);
    let kinds = [
        CardKind::Rtl128,
        CardKind::Model,
        CardKind::Model,
        CardKind::Model,
    ];
    for (number, kind) in kinds.into_iter().enumerate() {
        world.add_card(kind.build(seed, number as u32));
    }
    world.join(0, 1, LinkConfig::default());
    world.join(2, 3, LinkConfig::default());
    let world = Arc::new(Mutex::new(world));
    let image = Arc::new(firmware_with_engine());
    let open = |number, seed| {
        let config = DeviceConfig::new(mac(number), ip(number))
            .seed(seed)
            .keepalive(None);
        let config = match number {
            0 => config.rung(Rung::Firmware).firmware(image.clone()),
            _ => config,
        };
        Device::open(Arc::new(SimTransport::new(&world, number)), config)
    };
    let now = || lock(&world).now();
    let (peer, other, its_peer) = (open(1, 1)?, open(2, 2)?, open(3, 3)?);
    let mut device = open(0, 0)?;
    let bytes: Vec<u8> = (0..BYTES).map(|at| (1 + at * 7 % 251) as u8).collect();
    let beside = connect(
        &[&other, &its_peer, &peer, &device],
        [&other, &its_peer],
        4792,
        BYTES,
    )?;
    beside[0].source.write(0, &bytes)?;
    let (mut noticed, mut recovered) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let all = [&peer, &device, &other, &its_peer];
        let ends = connect(&all, [&device, &peer], 4791, BYTES)
            .map_err(|error| format!("round {round}: {error}"))?;
        for end in &ends {
            end.source.write(0, &bytes)?;
        }
        beside[1].target.write(0, &[0; BYTES])?;
        for at in 0..WRITES {
            ends[0].write(&ends[1], at * LEN, LEN)?;
            ends[1].write(&ends[0], at * LEN, LEN)?;
            beside[0].write(&beside[1], at * LEN, LEN)?;
        }
        let moment = now() + rng.u64(..MOMENT_NS);
        until(&all, "the moment", || Ok((now() >= moment).then_some(())))?;
        let how = rng.u8(proc_crash::ASSERT..=proc_crash::STACK);
        let processor = device.processor().ok_or("no processor")?;
        let began = now();
        processor.command(ProcCommand::Crash, how.into())?;

        // One report, with the reason, and it is an end of the kind that was asked for.
        let told = until(&all, "a report", || Ok(fatal(&device)))?;
        noticed.push(now() - began);
        let right = |end| match how {
            proc_crash::ASSERT => end == End::Assert,
            proc_crash::ILLEGAL => end == End::Trap(2),
            proc_crash::FAULT => end == End::Trap(5),
            _ => end == End::Stack,
        };
        match &told {
            AsyncEvent::DeviceFatal(DeviceError::Processor(ProcessorError::Stopped(end)))
                if right(*end) => {}
            _ => return Err(format!("round {round}: crash {how}: {told:?}").into()),
        }
        assert_eq!(fatal(&device), None, "round {round}: told twice");
        // The other device of this host has done all its work, and knows nothing.
        for _ in 0..WRITES {
            let done = until(&all, "a Write beside", || beside[0].done())?;
            assert_eq!(done.status, WcStatus::Success, "round {round}");
        }
        assert!(beside[1].target.to_vec(0, BYTES)? == bytes, "round {round}");
        assert_eq!((fatal(&other), fatal(&its_peer)), (None, None));
        // Of what was written to either end some lies there, and nothing else.
        for end in &ends {
            let there = end.target.to_vec(0, BYTES)?;
            let right = there
                .iter()
                .zip(&bytes)
                .all(|(is, sent)| *is == 0 || is == sent);
            assert!(right, "round {round}: other bytes");
        }
        drop(ends);
        let began = now();
        drop(processor);
        drop(device);
        device = open(0, round + 1)?;
        recovered.push(now() - began);
    }
    let all = [&peer, &device, &other, &its_peer];
    let ends = connect(&all, [&device, &peer], 4791, BYTES)?;
    ends[0].source.write(0, &bytes)?;
    ends[0].write(&ends[1], 0, BYTES)?;
    let done = until(&all, "a Write", || ends[0].done())?;
    assert_eq!(done.status, WcStatus::Success);
    assert!(ends[1].target.to_vec(0, BYTES)? == bytes);
    for (what, mut times) in [("noticed", noticed), ("opened anew", recovered)] {
        times.sort_unstable();
        let (least, most) = (times.first(), times.last());
        println!(
            "{rounds} ends, {what} after {} to {} us, {} in the middle",
            least.unwrap_or(&0) / 1000,
            most.unwrap_or(&0) / 1000,
            times[times.len() / 2] / 1000
        );
    }
    Ok(())
}
