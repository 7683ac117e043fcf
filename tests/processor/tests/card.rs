//! The control processor in the card, beside traffic: it loads, copies and ends again and again, and the flows see nothing of it.
#![cfg(ibex)]

use std::error::Error;
use std::sync::Arc;

use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::processor::{End, Processor, ProcessorError};
use weft_hostdrv::transport::{RegisterAccess, Transport};
use weft_hostdrv::verbs::{SendWr, WcStatus};
use weft_layout::{reg, registers, ProcCommand, ProcCopy};
use weft_processor_tests::firmware;
use weft_sim::fabric::{Fabric, FabricConfig};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::pair::{Operation, Pair};
use weft_sim::transport::SimTransport;

const WATCHDOG: u32 = 20_000;
const SOURCE: usize = 1 << 16;
/// Writes under way at once, and bytes of each.
const WRITES: usize = 8;
const WRITE_BYTES: usize = 6000;
/// Of the processor's copies.
const COPY_BYTES: usize = 1024;

fn fabric(seed: u64, cards: [CardKind; 2]) -> Result<Fabric, Box<dyn Error>> {
    Ok(Fabric::new(&FabricConfig {
        seed,
        cards: cards.to_vec(),
        link: LinkConfig::default(),
        ..FabricConfig::default()
    })?)
}

fn processor_of(fabric: &Fabric, card: usize) -> Result<Processor, ProcessorError> {
    Processor::of(Arc::new(SimTransport::new(fabric.world(), card)))
}

#[test]
fn a_card_without_one_says_so() -> Result<(), Box<dyn Error>> {
    let fabric = fabric(1, [CardKind::Model; 2])?;
    assert_eq!(processor_of(&fabric, 0).err(), Some(ProcessorError::None));
    Ok(())
}

#[test]
fn it_ends_a_hundred_times_in_the_middle_of_traffic() -> Result<(), Box<dyn Error>> {
    // Environment (tests): `WEFT_PROCESSOR_ROUNDS`: how often its firmware ends in traffic. Without it: 100.
    let rounds = std::env::var("WEFT_PROCESSOR_ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok());
    in_traffic(7, rounds.unwrap_or(100))
}

/// The firmware writes and reads rows of a table while the host reads and writes registers and eight Writes go each way: each has what it wrote.
#[test]
fn host_and_firmware_reach_the_cards_registers_at_the_same_time() -> Result<(), Box<dyn Error>> {
    let mut rng = fastrand::Rng::with_seed(11);
    let fabric = fabric(11, [CardKind::Rtl128; 2])?;
    let transport = SimTransport::new(fabric.world(), 0);
    let processor = processor_of(&fabric, 0)?;
    let mut source = vec![0; SOURCE];
    source.fill_with(|| rng.u8(..));
    let params = ConnParam::default();
    let mut pair = Pair::connect(&fabric, 4791, &params, &params, &source, SOURCE)?;
    pair.transfer(Operation::Write, 0, 0, 0, 1)?;
    pair.established()?;
    processor.load(&firmware())?;
    processor.start(0)?;
    processor.command(ProcCommand::Tables, 60)?;
    for end in 0..2 {
        for at in 0..WRITES {
            let (local, remote) = (&pair.ends[end], &pair.ends[1 - end]);
            let write = SendWr::write(3, remote.target.remote().offset((at * WRITE_BYTES) as u64));
            let from = local
                .source
                .sge((at * WRITE_BYTES) as u64, WRITE_BYTES as u32);
            local.qp.post_send(write.signaled().sge(from))?;
        }
    }
    let mut accesses = 0;
    while transport.read(registers::PROC_COMMAND)?.open() {
        let word = rng.u32(..);
        transport.write(registers::SCRATCH, word)?;
        assert_eq!(transport.read(registers::ID)?, reg::ID_RESET);
        assert_eq!(transport.read(registers::SCRATCH)?, word);
        accesses += 1;
    }
    assert!(accesses > 50, "only {accesses} accesses meanwhile");
    let answer = transport.read(registers::PROC_ANSWER)?;
    assert_eq!(answer, 0, "of 60 rows so many came back as others");
    for end in 0..2 {
        for _ in 0..WRITES {
            let done = pair.completion(end, "a Write's completion")?;
            assert_eq!(done.status, WcStatus::Success);
        }
    }
    for end in &pair.ends {
        let bytes = WRITES * WRITE_BYTES;
        assert!(end.target.to_vec(0, bytes)? == source[..bytes]);
    }
    Ok(())
}

#[test]
fn the_firmware_wakes_the_host() -> Result<(), Box<dyn Error>> {
    let fabric = fabric(12, [CardKind::Rtl128; 2])?;
    let transport = SimTransport::new(fabric.world(), 0);
    let processor = processor_of(&fabric, 0)?;
    processor.load(&firmware())?;
    processor.start(0)?;
    let later = |ns| Some(transport.now() + ns);
    assert!(!transport.wait(0, later(200_000))?, "nobody asked");
    assert_eq!(processor.ask(ProcCommand::Raise, 0)?, 0);
    assert!(transport.wait(0, later(10_000))?, "no interrupt");
    assert!(!transport.wait(0, later(10_000))?, "one, and no more");
    Ok(())
}

/// So many ends of the firmware of card 0 while eight Writes go each way.
fn in_traffic(seed: u64, rounds: usize) -> Result<(), Box<dyn Error>> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let fabric = fabric(seed, [CardKind::Rtl128; 2])?;
    let transport = SimTransport::new(fabric.world(), 0);
    let processor = processor_of(&fabric, 0)?;
    // Nanoseconds of so many cycles of the processor.
    let cycles = |count: u64| count * 1_000_000 / u64::from(processor.clock_khz());
    let image = firmware();
    let mut source = vec![0; SOURCE];
    source.fill_with(|| rng.u8(..));
    let mut pair = Pair::connect(
        &fabric,
        4791,
        &ConnParam::default(),
        &ConnParam::default(),
        &source,
        SOURCE,
    )?;
    // The side that initiates sends first.
    pair.transfer(Operation::Write, 0, 0, 0, 1)?;
    pair.established()?;
    let mut targets = [vec![0; SOURCE], vec![0; SOURCE]];
    targets[1][0] = source[0];

    let memory = transport.dma_alloc(4 * COPY_BYTES)?;
    let mut before = vec![0; memory.len()];
    before.fill_with(|| rng.u8(..));
    for round in 0..rounds {
        memory.write(0, &before)?;
        processor.load(&image)?;
        processor.start(WATCHDOG)?;
        assert_eq!(
            processor.ask(ProcCommand::Ping, round as u32)?,
            round as u32 + 1
        );
        let copy = ProcCopy {
            source: memory.iova(),
            destination: memory.iova() + 2 * COPY_BYTES as u64,
        };
        let info = processor.info()?.ok_or("no firmware")?;
        processor.write_memory(info.copy_at, &copy.to_bytes())?;

        for end in 0..2 {
            for _ in 0..WRITES {
                let [from, to] = [0, 1].map(|_| rng.usize(..SOURCE - WRITE_BYTES));
                let (local, remote) = (&pair.ends[end], &pair.ends[1 - end]);
                let write = SendWr::write(3, remote.target.remote().offset(to as u64)).signaled();
                local
                    .qp
                    .post_send(write.sge(local.source.sge(from as u64, WRITE_BYTES as u32)))?;
                targets[1 - end][to..to + WRITE_BYTES]
                    .copy_from_slice(&source[from..from + WRITE_BYTES]);
            }
        }
        processor.command(ProcCommand::Copy, COPY_BYTES as u32)?;
        fabric.run_for(cycles(rng.u64(..2000)))?;
        // Every fourth round the copy is done before; the others end in it, in a way of their own.
        let how = rng.u32(1..=6);
        match round % 4 {
            0 => {
                fabric.run_for(cycles(10_000))?;
                assert_eq!(processor.info()?.ok_or("no firmware")?.copies, 1);
                processor.command(ProcCommand::Crash, how)?;
            }
            1 => processor.stop()?,
            _ => processor.command(ProcCommand::Crash, how)?,
        }
        for end in 0..2 {
            for _ in 0..WRITES {
                let done = pair.completion(end, "a Write's completion")?;
                assert_eq!(done.status, WcStatus::Success);
            }
        }
        fabric.run_for(cycles(4 * u64::from(WATCHDOG)))?;
        let end = processor.state()?.end;
        assert!(end.is_some(), "round {round}: it did not end");
        assert_eq!(
            end == Some(End::Stopped),
            round % 4 == 1,
            "round {round}: {end:?}"
        );
        for (end, target) in pair.ends.iter().zip(&targets) {
            assert!(end.target.to_vec(0, SOURCE)? == *target, "round {round}");
        }
        let mut after = vec![0; memory.len()];
        memory.read(0, &mut after)?;
        let (copied, old) = (
            &before[..COPY_BYTES],
            &before[2 * COPY_BYTES..][..COPY_BYTES],
        );
        let is = &after[2 * COPY_BYTES..][..COPY_BYTES];
        let whole = is.iter().zip(copied).take_while(|(a, b)| a == b).count() / 4 * 4;
        assert!(is[whole..] == old[whole..], "round {round}");
        assert!(whole == COPY_BYTES || round % 4 != 0, "round {round}");
        assert!(after[..2 * COPY_BYTES] == before[..2 * COPY_BYTES]);
        assert!(after[3 * COPY_BYTES..] == before[3 * COPY_BYTES..]);
    }
    Ok(())
}
