//! The control processor and its firmware, by the driver's own code: loads, commands, copies, ends of every kind, and what is left of them.
#![cfg(ibex)]

use std::error::Error;
use std::sync::Arc;

use rtl_sim::{replay, Run};
use weft_hostdrv::processor::{End, Image, Processor, ProcessorError};
use weft_hostdrv::transport::Transport;
use weft_layout::{proc_crash, ProcCommand, ProcCopy};
use weft_processor_tests::{
    firmware, Card128, Card128Slow, Card512, Card512Slow, HOST, HOST_BYTES,
};

/// Longer than any command of these tests takes.
const WATCHDOG: u32 = 20_000;

/// A write of the [`ProcCopy`], then the command.
fn copy(processor: &Processor, from: u64, to: u64, bytes: u32) -> Result<u32, ProcessorError> {
    prepare(processor, from, to)?;
    processor.ask(ProcCommand::Copy, bytes)
}

fn prepare(processor: &Processor, from: u64, to: u64) -> Result<(), ProcessorError> {
    let info = processor.info()?.expect("a firmware is loaded");
    let copy = ProcCopy {
        source: from,
        destination: to,
    };
    processor.write_memory(info.copy_at, &copy.to_bytes())
}

/// Loads and starts it, and waits until it answers.
fn up(processor: &Processor, image: &Image) -> Result<(), ProcessorError> {
    processor.load(image)?;
    processor.start(WATCHDOG)?;
    assert_eq!(processor.ask(ProcCommand::Ping, 41)?, 42);
    Ok(())
}

macro_rules! tests {
    ($width:ident, $card:ident) => {
        mod $width {
            use super::*;

            /// So many cycles of the processor's clock.
            fn pass(card: &$card, cycles: u64) {
                card.pass($card::DIV * cycles);
            }

            fn bring_up(run: &Run) -> Result<(Arc<$card>, Processor, Image), Box<dyn Error>> {
                let card = Arc::new($card::new(run));
                let processor = Processor::of(Arc::clone(&card) as _)?;
                Ok((card, processor, firmware()))
            }

            #[test]
            fn it_says_who_it_is_and_sleeps() {
                replay("it_says_who_it_is", 0..4, |run| {
                    let (card, processor, image) = bring_up(run)?;
                    assert_eq!(processor.state()?.end, Some(End::Stopped));
                    assert_eq!(u64::from(processor.clock_khz()), 250_000 / $card::DIV);
                    up(&processor, &image)?;
                    let info = processor.info()?.ok_or("it says nothing")?;
                    assert_eq!(
                        (info.version, info.build),
                        (image.info().version, image.info().build)
                    );
                    let build = std::str::from_utf8(&info.build)?;
                    assert_eq!(
                        processor.log()?,
                        format!("weft firmware {} {build}\n", env!("CARGO_PKG_VERSION"))
                    );
                    let (used, size) = processor.stack()?.ok_or("it has no stack")?;
                    assert!((1..size).contains(&used), "{used} of {size} bytes of stack");
                    // Asleep nothing happens: no cycle is counted, and a simulation may leave all of them out.
                    pass(&card, 200);
                    let before = processor.state()?;
                    assert!(before.status.asleep());
                    pass(&card, 40);
                    assert_eq!(card.pass(10_000), 10_000);
                    let after = processor.state()?;
                    assert_eq!((after.awake, after.beat), (before.awake, before.beat));
                    Ok(())
                });
            }

            #[test]
            fn what_was_not_loaded_whole_does_not_run() {
                replay("not_loaded_whole", 0..6, |run| {
                    let mut rng = run.seed.rng("test");
                    let (card, processor, image) = bring_up(run)?;
                    assert_eq!(processor.start(0), Err(ProcessorError::NotLoaded));
                    let mut bytes = image.bytes().to_vec();
                    let bit = rng.usize(..8 * bytes.len());
                    bytes[bit / 8] ^= 1 << (bit % 8);
                    let wrong = processor.load_bytes(&bytes, image.checksum());
                    assert!(
                        matches!(wrong, Err(ProcessorError::Checksum { .. })),
                        "bit {bit}: {wrong:?}"
                    );
                    assert_eq!(processor.start(0), Err(ProcessorError::NotLoaded));
                    pass(&card, 100);
                    assert_eq!(processor.state()?.awake, 0);
                    // What is right runs, once: a firmware changes its memory.
                    up(&processor, &image)?;
                    processor.stop()?;
                    assert_eq!(processor.start(0), Err(ProcessorError::NotLoaded));
                    // A word that is written behind the check is not what was checked.
                    processor.load(&image)?;
                    processor.write_memory(0x200, &[0; 4])?;
                    assert_eq!(processor.start(0), Err(ProcessorError::NotLoaded));
                    up(&processor, &image)?;
                    Ok(())
                });
            }

            #[test]
            fn copies_are_exact() {
                replay("copies_are_exact", 0..10, |run| {
                    let mut rng = run.seed.rng("test");
                    let (card, processor, image) = bring_up(run)?;
                    up(&processor, &image)?;
                    let mut expected = vec![0; HOST_BYTES];
                    expected.fill_with(|| rng.u8(..));
                    card.host(|host| host.ram.bytes.copy_from_slice(&expected));
                    for _ in 0..12 {
                        let bytes = [4 * rng.usize(0..=256), rng.usize(0..=1024)][rng.usize(..2)];
                        let offset = rng.usize(..4);
                        let room = (HOST_BYTES / 2 - bytes) / 4 - 1;
                        let [from, to] = [0, 1]
                            .map(|half| half * HOST_BYTES / 2 + 4 * rng.usize(..room) + offset);
                        let answer = copy(
                            &processor,
                            HOST + from as u64,
                            HOST + to as u64,
                            bytes as u32,
                        )?;
                        assert_eq!(answer, 0);
                        expected.copy_within(from..from + bytes, to);
                        card.host(|host| {
                            assert!(
                                host.ram.bytes == expected,
                                "{bytes} bytes from {from:#x} to {to:#x}"
                            )
                        });
                    }
                    // What host memory refuses is told, and it goes on.
                    let behind = HOST + HOST_BYTES as u64;
                    assert_eq!(copy(&processor, behind, HOST, 64)?, 1);
                    assert_eq!(copy(&processor, HOST, behind, 64)?, 1);
                    assert!(processor.state()?.status.dma_error());
                    assert_eq!(processor.log()?.matches("answered in error").count(), 2);
                    assert_eq!(copy(&processor, HOST, HOST, 64)?, 0);
                    card.host(|host| assert!(host.ram.bytes == expected));
                    Ok(())
                });
            }

            #[test]
            fn the_timer_wakes_it() {
                replay("the_timer_wakes_it", 0..4, |run| {
                    let mut rng = run.seed.rng("test");
                    let (card, processor, image) = bring_up(run)?;
                    up(&processor, &image)?;
                    for count in 1..4 {
                        let cycles = $card::DIV as u32 * rng.u32(2000..8000);
                        processor.ask(ProcCommand::Alarm, cycles)?;
                        let early = processor.info()?.ok_or("no firmware")?.alarms;
                        assert_eq!(early, count - 1);
                        // A simulation may leave out all cycles up to the one that is told, and none from there on.
                        pass(&card, 60);
                        let at = card.alarm().ok_or("none is to come")?;
                        let left = at.checked_sub(card.now() / 4 + 1);
                        let left = left.ok_or("it is over")?;
                        assert!(left < cycles.into(), "{left} of {cycles} cycles");
                        assert_eq!(card.pass(left), left);
                        assert!(card.pass(100 * $card::DIV) < 95 * $card::DIV);
                        assert_eq!(card.alarm(), None);
                        assert_eq!(processor.info()?.ok_or("no firmware")?.alarms, count);
                    }
                    Ok(())
                });
            }

            #[test]
            fn every_end_is_told_with_a_dump() {
                replay("every_end_is_told", 0..3, |run| {
                    let (card, processor, image) = bring_up(run)?;
                    let functions = weft_processor_tests::functions();
                    let ends = [
                        (proc_crash::ASSERT, End::Assert, "rust_begin_unwind"),
                        (proc_crash::ILLEGAL, End::Trap(2), "commands::crash"),
                        (proc_crash::FAULT, End::Trap(5), "commands::crash"),
                        (proc_crash::STACK, End::Stack, "commands::deeper"),
                        (proc_crash::SPIN, End::Watchdog, "commands::spin"),
                        (proc_crash::DEAF, End::Hung, ""),
                    ];
                    for (how, end, function) in ends {
                        up(&processor, &image)?;
                        processor.command(ProcCommand::Crash, how.into())?;
                        pass(&card, 3 * u64::from(WATCHDOG));
                        let state = processor.state()?;
                        assert_eq!(state.end, Some(end));
                        assert!(!state.status.running());
                        assert_eq!(
                            state.status.watchdog(),
                            matches!(end, End::Watchdog | End::Hung)
                        );
                        let refused = processor.ask(ProcCommand::Ping, 1);
                        assert_eq!(refused, Err(ProcessorError::Stopped(end)));
                        let dump = processor.dump()?;
                        if end == End::Hung {
                            // The jump to itself, or what was fetched behind it.
                            assert!(dump.is_none() && [0x7c, 0x80].contains(&state.pc));
                            continue;
                        }
                        let dump = dump.ok_or("it left no dump")?;
                        let (name, _) = functions
                            .function_at(dump.pc)
                            .ok_or("it ended in no function")?;
                        assert!(name.contains(function), "{end}: in {name}");
                        assert_eq!(
                            dump.command,
                            u32::from(how) << 8 | u32::from(ProcCommand::Crash.raw())
                        );
                        let info = processor.info()?.ok_or("no firmware")?;
                        let stack = processor.stack()?.ok_or("no stack")?;
                        match end {
                            End::Assert => assert!(
                                processor.log()?.contains("asked for"),
                                "{}",
                                processor.log()?
                            ),
                            End::Trap(5) => assert_eq!(dump.value, 0x2000_0000),
                            End::Stack => {
                                assert!(
                                    (info.stack_low - 256..info.stack_low).contains(&dump.value)
                                );
                                assert!(stack.0 + 256 > stack.1, "{stack:?}");
                            }
                            _ => {}
                        }
                        if end != End::Stack {
                            assert!(
                                (info.stack_low..info.stack_high).contains(&dump.sp),
                                "{dump:?}"
                            );
                        }
                    }
                    up(&processor, &image)?;
                    Ok(())
                });
            }

            #[test]
            fn it_ends_a_hundred_times_in_copies_and_harms_nothing() {
                replay("ends_in_copies", 0..2, |run| {
                    let mut rng = run.seed.rng("test");
                    let (card, processor, image) = bring_up(run)?;
                    let (first, source, target) = (0, 0x1000, 0x2000);
                    let mut before = vec![0; HOST_BYTES];
                    before.fill_with(|| rng.u8(..));
                    for round in 0..100 {
                        card.host(|host| host.ram.bytes.copy_from_slice(&before));
                        up(&processor, &image)?;
                        prepare(&processor, HOST + source, HOST + target)?;
                        processor.command(ProcCommand::Copy, 1024)?;
                        pass(&card, rng.u64(..2500));
                        match round % 3 {
                            0 => processor.stop()?,
                            1 => {
                                // A command in the middle of another one: the firmware takes it when it is done.
                                processor.command(ProcCommand::Crash, rng.u32(1..=5))?;
                                pass(&card, 4 * u64::from(WATCHDOG));
                                assert_ne!(processor.state()?.end, None);
                            }
                            _ => {
                                card.hold(true);
                                pass(&card, 2000);
                                assert!(card.is_stopped());
                                card.hold(false);
                                assert_eq!(processor.state()?.end, Some(End::Stopped));
                            }
                        }
                        pass(&card, 2000);
                        assert!(card.is_bus_idle());
                        card.host(|host| {
                            let after = &host.ram.bytes;
                            assert!(
                                after[first..target as usize] == before[first..target as usize]
                            );
                            assert!(
                                after[target as usize + 1024..] == before[target as usize + 1024..]
                            );
                            // Of the copy there is a first part, whole words, and the rest is as it was.
                            let (copied, old) = (
                                &before[source as usize..][..1024],
                                &before[target as usize..][..1024],
                            );
                            let is = &after[target as usize..][..1024];
                            let whole =
                                is.iter().zip(copied).take_while(|(a, b)| a == b).count() / 4 * 4;
                            assert!(
                                is[whole..] == old[whole..],
                                "round {round}: after {whole} bytes"
                            );
                        });
                    }
                    up(&processor, &image)?;
                    Ok(())
                });
            }
        }
    };
}

tests!(at_128, Card128);
tests!(at_512, Card512);
tests!(at_128_slow, Card128Slow);
tests!(at_512_slow, Card512Slow);
