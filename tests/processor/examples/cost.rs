//! What the firmware's work costs: cycles awake, bytes of stack. `make processor` says how it is built; then
//! `cargo run -p weft-processor-tests --example cost`.

#[cfg(not(ibex))]
fn main() {
    eprintln!("built without the processor's core: see `make processor`");
}

#[cfg(ibex)]
macro_rules! cost {
    ($card:ident) => {
        rtl_sim::replay("cost", 1..2, |run| {
            use rtl_sim::axi::Timing;
            use rtl_sim::Stall;
            use std::sync::Arc;
            use weft_hostdrv::processor::Processor;
            use weft_layout::{ProcCommand, ProcCopy};
            use weft_processor_tests::{firmware, HOST};

            let card = Arc::new(weft_processor_tests::$card::with(
                run,
                Stall::Never,
                Timing::latency(100),
            ));
            let pass = |cycles| card.pass(weft_processor_tests::$card::DIV * cycles);
            let processor = Processor::of(Arc::clone(&card) as _)?;
            println!(
                "the card's clock is 250 MHz, the processor's {} MHz",
                f64::from(processor.clock_khz()) / 1e3
            );
            let before = card.pass(0);
            processor.load(&firmware())?;
            let loaded = weft_hostdrv::transport::Transport::now(card.as_ref()) / 4 - before;
            println!(
                "{:<44} {loaded:>7} cycles of the card",
                format!("load of {} bytes", firmware().bytes().len())
            );
            processor.start(0)?;
            pass(20_000);
            println!(
                "{:<44} {:>7} cycles awake",
                "start, until it sleeps",
                processor.state()?.awake
            );
            let info = processor.info()?.ok_or("no firmware")?;
            let copy = ProcCopy {
                source: HOST,
                destination: HOST + 0x1000,
            };
            processor.write_memory(info.copy_at, &copy.to_bytes())?;
            let works = [
                ("a command that does nothing", ProcCommand::Ping, 0),
                (
                    "a copy of 64 bytes, reads of 100 cycles",
                    ProcCommand::Copy,
                    64,
                ),
                (
                    "a copy of 1024 bytes, reads of 100 cycles",
                    ProcCommand::Copy,
                    1024,
                ),
            ];
            for (what, command, argument) in works {
                pass(2000);
                let awake = processor.state()?.awake;
                processor.ask(command, argument)?;
                pass(2000);
                println!(
                    "{what:<44} {:>7} cycles awake",
                    processor.state()?.awake - awake
                );
            }
            let (used, size) = processor.stack()?.ok_or("no stack")?;
            println!("{:<44} {used:>7} of {size} bytes", "stack, at most");
            Ok(())
        })
    };
}

#[cfg(ibex)]
fn main() {
    cost!(Card512);
    cost!(Card512Slow);
}
