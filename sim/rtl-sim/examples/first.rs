//! A first test: packets through a FIFO that is whole, or broken when a number is given.

use rtl_sim::axis::{Checker, Sink, Source};
use rtl_sim::{replay, Run, Stall};
use rtl_sim_designs::stream_fifo;
use std::error::Error;

fn packets_arrive(run: &Run, fault: u8) -> Result<(), Box<dyn Error>> {
    let mut rng = run.seed.rng("test");
    let mut sim = run.sim::<stream_fifo::Model>();
    let mut source = Source::<8>::new(Stall::any(&mut rng), run.seed);
    let mut sink = Sink::<8>::new(Stall::any(&mut rng), run.seed);
    let mut checker = Checker::<8>::new("m_axis");

    let packets: Vec<Vec<u8>> = (0..100).map(|n| vec![n; rng.usize(1..200)]).collect();
    packets.iter().for_each(|packet| source.push(packet));
    sim.inputs.fault = fault;
    sim.reset(3);
    for packet in &packets {
        let received = loop {
            sim.step();
            let now = sim.cycle();
            checker.cycle(now, false, &sim.outputs.m_axis, &sim.inputs.m_axis)?;
            source.cycle(&mut sim.inputs.s_axis, &sim.outputs.s_axis);
            sink.cycle(now, &mut sim.inputs.m_axis, &sim.outputs.m_axis);
            if let Some(received) = sink.pop() {
                break received;
            }
            if now > 100_000 {
                return Err("stuck".into());
            }
        };
        if received.data != *packet {
            return Err(format!("packet {} came out wrong", packet[0]).into());
        }
    }
    Ok(())
}

fn main() {
    let fault = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    replay("packets_arrive", 0..100, |run| packets_arrive(run, fault));
    println!("100 seeds passed");
}
