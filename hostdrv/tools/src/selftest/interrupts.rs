//! Interrupts: vector 0, the only one that this interface has a source for.

use weft_layout::{registers, Job};

use super::bench::{plain_frame, Bench};
use super::{Context, Failure};
use crate::Latency;
use weft_card_transport::dma::PAGE_SIZE;

/// Without an interrupt for so long, it is lost.
const LIMIT_NS: u64 = 3_000_000_000;
/// How long an interrupt that should not come is waited for.
const QUIET_NS: u64 = 2_000_000;
const ROUNDS: u32 = 32;

pub(super) fn on_request(c: &mut Context) -> Result<(), Failure> {
    let mut bench = Bench::new(c)?;
    let memory = bench.dma(PAGE_SIZE)?;
    let frame = plain_frame(c, 64);
    memory.write(0, &frame)?;
    let mut latencies = Vec::new();
    // What came before does not count.
    while c.transport.wait(0, Some(bench.now()))? {}
    let mut asked = bench.read(registers::MSIX_COUNT)?;
    for round in 0..ROUNDS {
        let send = |bench: &mut Bench| -> Result<(), Failure> {
            let mut job = Bench::raw_job(memory.iova(), frame.len());
            // A job report, whether the frame comes back or not.
            job.flags = Job::NOTIFY;
            bench.post(&job)?;
            bench.ring()
        };
        // Not asked for: none.
        send(&mut bench)?;
        let until = bench.now() + QUIET_NS;
        let came = c.transport.wait(0, Some(until))?;
        c.equal(0, u8::from(came), || {
            format!("round {round}: a report was written while REPORT_ARM had not been rung; interrupts")
        })?;
        while bench.take()?.is_some() {}
        // Asked for: one, with the next report.
        let start = bench.now();
        bench.card.arm(1)?;
        send(&mut bench)?;
        let came = c.transport.wait(0, Some(start + LIMIT_NS))?;
        let (count, tail) = (
            bench.read(registers::MSIX_COUNT)?,
            bench.read(registers::REPORT_TAIL)?,
        );
        if !came {
            return Err(Failure::differs(
                format!("round {round}: REPORT_ARM was rung, then a job was posted"),
                "an interrupt on vector 0",
                format!("none for {} ms; the card says that it asked {} times since (MSIX_COUNT), REPORT_TAIL is {tail}", LIMIT_NS / 1_000_000, count.wrapping_sub(asked)),
            ));
        }
        latencies.push(bench.now() - start);
        asked = asked.wrapping_add(1);
        c.equal(asked, count, || {
            format!("round {round}: MSIX_COUNT after one interrupt")
        })?;
        // And no second one.
        let until = bench.now() + QUIET_NS;
        let again = c.transport.wait(0, Some(until))?;
        c.equal(0, u8::from(again), || {
            format!("round {round}: interrupts after the one that was asked for")
        })?;
        // A report that is there already is worth one at once. (The tail was not told to be taken yet.)
        bench.card.arm(1)?;
        let until = bench.now() + LIMIT_NS;
        let came = c.transport.wait(0, Some(until))?;
        c.equal(1, u8::from(came), || {
            format!("round {round}: REPORT_ARM was rung with a report not yet taken; interrupts")
        })?;
        asked = asked.wrapping_add(1);
        while bench.take()?.is_some() {}
    }
    if let Some(latency) = Latency::of(&mut latencies) {
        c.notes
            .push(format!("from doorbell to interrupt: {latency}"));
    }
    Ok(())
}
