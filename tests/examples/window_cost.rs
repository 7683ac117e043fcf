//! What a key for each use costs beside one that stays: rping's ping by a region's STag, by windows of type 2, by fast registrations: simulated time of a
//! ping, and register writes of who binds. `cargo run -p weft-tests --example window_cost`, `WEFT_TEST_CARD` says which card.

use std::error::Error;
use std::net::SocketAddrV4;

use weft_sim::fabric::{ip, Fabric, FabricConfig};
use weft_tests::cards;
use weft_tools::rping::{ClientConfig, Keys, RpingClient, RpingServer, ServerConfig, PORT};
use weft_tools::Machine;

const PINGS: u64 = 50;
const LIMIT: u64 = 1_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    println!("| bytes | keys | a ping, µs | register writes of a ping |");
    println!("|---|---|---|---|");
    for size in [64, 4096] {
        for keys in [Keys::Region, Keys::Window, Keys::FastRegistered] {
            measure(size, keys)?;
        }
    }
    Ok(())
}

fn measure(size: usize, keys: Keys) -> Result<(), Box<dyn Error>> {
    let config = FabricConfig {
        seed: 1,
        cards: cards(),
        ..FabricConfig::default()
    };
    let fabric = Fabric::new(&config)?;
    let config = ClientConfig {
        count: PINGS,
        size,
        keys,
        ..ClientConfig::new(SocketAddrV4::new(ip(1), PORT))
    };
    let mut server = RpingServer::start(fabric.device(1), ServerConfig::default(), None)?;
    let before = fabric.device(0).host_stats().mmio_writes;
    let mut client = RpingClient::start(fabric.device(0), config, None)?;
    let (mut ours, mut theirs) = (None, None);
    fabric.run_until("the end of rping", LIMIT, || {
        ours = ours.take().or_else(|| client.poll());
        theirs = theirs.take().or_else(|| server.poll());
        (ours.is_some() && theirs.is_some()).then_some(())
    })?;
    let writes = fabric.device(0).host_stats().mmio_writes - before;
    let report = ours.ok_or("no report")?;
    let latency = report.latency.filter(|_| report.passed());
    let latency = latency.ok_or_else(|| format!("{report:?}"))?;
    println!(
        "| {size} | {keys:?} | {:.2} | {:.1} |",
        latency.median_ns as f64 / 1000.0,
        writes as f64 / PINGS as f64,
    );
    Ok(())
}
