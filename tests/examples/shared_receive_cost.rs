//! What a message costs its receiver, with a receive queue of its own and with a shared one: simulated time from post to completion, register writes,
//! engine steps, bytes copied. `cargo run -p weft-tests --example shared_receive_cost`, `WEFT_TEST_CARD` says which card.

use std::error::Error;

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{completion, next_event, End};

const MESSAGES: u64 = 32;

fn main() -> Result<(), Box<dyn Error>> {
    println!("| bytes | receive queue | µs | register writes | bytes copied |");
    println!("|---|---|---|---|---|");
    for len in [64u32, 1024, 65_536, 262_144] {
        for shared in [false, true] {
            measure(len, shared)?;
        }
    }
    Ok(())
}

fn measure(len: u32, shared: bool) -> Result<(), Box<dyn Error>> {
    let bench = Bench::new(&Way::Sim, 1)?;
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(&bench);
    let srq = b.pd.create_srq(&SrqInit::default())?;
    let init = match shared {
        true => QpInit::new(&b.cq).srq(&srq),
        false => QpInit::new(&b.cq),
    };
    let client = a.client(&bench, &ConnParam::default());
    let request = next_event(&bench, &b.channel, CmEventType::ConnectRequest);
    request.id.create_qp(&b.pd, &init)?;
    request.id.accept(&ConnParam::default())?;
    next_event(&bench, &a.channel, CmEventType::Established);
    next_event(&bench, &b.channel, CmEventType::Established);
    let (sender, receiver) = (client.qp().ok_or("none")?, request.id.qp().ok_or("none")?);
    let receiving = bench.device(1);
    let (before, engine) = (receiving.host_stats(), receiving.engine_stats());
    let mut spent = 0;
    for n in 0..MESSAGES {
        let wr = RecvWr::new(n).sge(b.mr.sge(0, len));
        match shared {
            true => srq.post_recv(wr)?,
            false => receiver.post_recv(wr)?,
        }
        let posted = receiving.now();
        sender.post_send(SendWr::send(n).sge(a.mr.sge(0, len)).signaled())?;
        completion(&bench, &b.cq);
        spent += receiving.now() - posted;
        completion(&bench, &a.cq);
    }
    let (after, later) = (receiving.host_stats(), receiving.engine_stats());
    println!(
        "| {len} | {} | {:.2} | {:.1} | {} |",
        if shared { "shared" } else { "own" },
        spent as f64 / 1000.0 / MESSAGES as f64,
        (after.mmio_writes - before.mmio_writes) as f64 / MESSAGES as f64,
        (later.bytes_copied - engine.bytes_copied) / MESSAGES,
    );
    Ok(())
}
