//! draft
use std::error::Error;
use weft_hostdrv::Congestion;
use weft_tests::goodput::{measure, Run};
fn main() -> Result<(), Box<dyn Error>> {
    for (name, every) in [
        ("both 1", [1000; 2]),
        ("both 20", [20_000; 2]),
        ("sender 20", [20_000, 1000]),
        ("receiver 20", [1000, 20_000]),
        ("both 100", [100_000; 2]),
        ("sender 100", [100_000, 1000]),
        ("receiver 100", [1000, 100_000]),
        ("20/28", [20_000, 28_000]),
        ("both 3000", [3_000_000; 2]),
        ("sender 3000", [3_000_000, 1000]),
        ("receiver 3000", [1000, 3_000_000]),
    ] {
        for congestion in [Congestion::Cubic, Congestion::Delay] {
            let run = Run {
                congestion,
                bytes: 1 << 16,
                writes: 400,
                depth: 32,
                look_ns: Some(every),
                ..Run::default()
            };
            let g = measure(&run)?;
            println!(
                "{name} {}: {:.2} Gb/s longest {} us timeouts {} probes {} retx {}",
                congestion.name(),
                g.gbps,
                g.longest_ns / 1000,
                g.sender.timeouts,
                g.sender.tail_probes,
                g.sender.retransmits
            );
        }
    }
    Ok(())
}
