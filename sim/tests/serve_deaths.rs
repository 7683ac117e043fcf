//! Clients that die: in the middle of a message, of DMA, of anything. The card is usable at once by the next one.

use crate::serve_support;

use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};
use std::time::Duration;

use rand::Rng;
use serve_support::raw::{bytes, payload, Field, Manner, Raw};
use serve_support::{
    be_master, frame, read32, serve, serve_two, stats_when, write32, Driver, Shared, MEMORY,
    REGISTERS,
};
use vfio_user::Client;
use weft_layout::reg;
use weft_sim::seed::{generator, Stream};
use weft_sim::serve::Served;

const IOVA: u64 = 0x7_0000_0000;
const SOCKET: &str = "WEFT_TEST_SOCKET";

/// A card that another client has just left works as on the first day.
fn works(served: &Served, seed: u64) {
    let mut client = Client::new(&served.sockets()[0]).unwrap();
    assert_eq!(
        read32(&mut client, REGISTERS, reg::SCRATCH),
        0,
        "seed {seed}: not reset"
    );
    assert_eq!(served.stats().cards[0].mappings, 0, "seed {seed}");
    let mut memory = Shared::new(MEMORY);
    client
        .dma_map(0, IOVA, MEMORY, memory.0.as_raw_fd())
        .unwrap();
    be_master(&mut client);
    let mut driver = Driver::new(&mut client, IOVA, true);
    driver.send(&mut client, &mut memory, &frame(70, seed as u8));
    let got = driver.receive(&mut client, &mut memory);
    assert_eq!(got, frame(70, seed as u8), "seed {seed}");
}

#[test]
fn a_client_that_stops_anywhere_leaves_nothing_behind() {
    let served = serve_two();
    let mut neighbour = Raw::greet(&served.sockets()[1], 4096);
    write32(&mut neighbour, REGISTERS, reg::SCRATCH, 0x600d);
    for seed in 0..60 {
        let mut rng = generator(seed, Stream::Application);
        let mut raw = Raw::greet(&served.sockets()[0], 64);
        raw.share(IOVA, MEMORY);
        be_master(&mut raw);
        let mut driver = Driver::new(&mut raw, IOVA, true);
        let mut memory = raw.memory.clone();
        write32(&mut raw, REGISTERS, reg::SCRATCH, 7);
        let mut lent = serve_support::raw::Lent(&mut memory, IOVA);
        driver.send(&mut raw, &mut lent, &frame(1000, 1));
        raw.memory = memory;
        // Some of the DMA messages are answered, then no more.
        let answered = rng.random_range(0..20);
        raw.manner = Manner::Properly;
        for _ in 0..answered {
            raw.attend(Duration::from_micros(rng.random_range(1..300)));
        }
        // The last thing is a part of a message.
        let read = payload(&[Field::L(0), Field::W(0), Field::W(4)]);
        let last = bytes(9, 9, 0, &read);
        raw.send(&last[..rng.random_range(0..=last.len())]);
        drop(raw);
        works(&served, seed);
        assert_eq!(read32(&mut neighbour, REGISTERS, reg::SCRATCH), 0x600d);
    }
}

#[test]
fn a_process_that_is_killed_leaves_nothing_behind() {
    let served = serve();
    let mut transfers = 0;
    for seed in 0..25 {
        let mut rng = generator(seed, Stream::Application);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "serve_deaths::the_one_that_is_killed",
                "--ignored",
            ])
            .env(SOCKET, &served.sockets()[0])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // It is there, and at work, unless it is to die earlier.
        if rng.random_bool(0.8) {
            let before = served.stats().cards[0].dma_written_bytes;
            stats_when(&served, "work", |s| s.cards[0].dma_written_bytes > before);
            transfers += 1;
        }
        std::thread::sleep(Duration::from_micros(rng.random_range(0..5000)));
        child.kill().unwrap();
        child.wait().unwrap();
        works(&served, seed);
    }
    assert!(transfers > 10);
    let stats = served.stop().unwrap();
    assert_eq!(stats.cards[0].dma_refused, 0);
}

/// Not a test: the process of the test above.
#[test]
#[ignore = "another test starts it, and kills it"]
fn the_one_that_is_killed() {
    let Some(socket) = std::env::var_os(SOCKET) else {
        return;
    };
    let mut client = Client::new(std::path::Path::new(&socket)).unwrap();
    let mut memory = Shared::new(MEMORY);
    client
        .dma_map(0, IOVA, MEMORY, memory.0.as_raw_fd())
        .unwrap();
    be_master(&mut client);
    client
        .region_write(REGISTERS, u64::from(reg::SCRATCH), &[7, 0, 0, 0])
        .unwrap();
    let mut driver = Driver::new(&mut client, IOVA, true);
    for n in 0u32.. {
        driver.send(&mut client, &mut memory, &frame(1000, n as u8));
        driver.receive(&mut client, &mut memory);
    }
}
