//! What deregistering costs beside many queue pairs that are idle, and beside many regions: `cargo bench -p weft-engine --bench deregister`.

#[path = "../tests/bench/mod.rs"]
mod bench;

use std::time::Instant;

use bench::card::{Card, MEMORY};
use weft_engine::*;

const REGIONS: u32 = 10_000;

fn main() {
    for qps in [0, 200] {
        let config = EngineConfig {
            max_connections: Some(256),
            num_flows: 256,
            num_stags: 1 << 15,
            ..EngineConfig::default()
        };
        let mut card = Card::new(config.mac, config.num_flows, config.num_stags);
        let mut engine = Engine::new(config);
        let pd = engine.alloc_pd();
        let config = QpConfig {
            pd,
            send_depth: 4096,
            recv_depth: 16,
            max_sge: 4,
            rung: None,
        };
        for _ in 0..qps {
            engine.create_qp(&config, &mut card).unwrap();
        }
        let access = Access::LOCAL_WRITE | Access::REMOTE_READ;
        let begin = Instant::now();
        let stags: Vec<u32> = (0..REGIONS)
            .map(|_| {
                let made = engine.register(pd, 0, MEMORY, 4096, access, &mut card);
                made.unwrap()
            })
            .collect();
        let registered = begin.elapsed();
        let begin = Instant::now();
        for stag in stags {
            engine.deregister(0, stag, &mut card).unwrap();
        }
        let deregistered = begin.elapsed();
        let each = |time: std::time::Duration| time.as_secs_f64() * 1e6 / f64::from(REGIONS);
        println!(
            "{qps:3} queue pairs of 4096 sends and 16 receives: {:.2} us to register, {:.2} us to deregister",
            each(registered),
            each(deregistered)
        );
    }
}
