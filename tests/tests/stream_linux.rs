//! The engine's TCP judged by Linux': echo, discard and chargen on a card, and the kernel of this machine for a peer, in a namespace of
//! its own with an interface on another card. What is between them loses frames if it is told to.
//!
//! `WEFT_TEST_CARD` chooses the cards (`model` by default here, since the kernel's timers do not wait for Verilator).

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::rc::Rc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use weft_sim::fabric::{self, Fabric, FabricConfig};
use weft_sim::kind::CardKind;
use weft_sim::link::Faults;
use weft_tests::namespace::Namespace;
use weft_tests::traffic::bytes;
use weft_tests::{left_out_on_card, rungs};
use weft_tools::interface::NetInterface;
use weft_tools::stream::{chargen, StreamConfig, StreamServer};
use weft_tools::Machine;

/// No step of a test takes as long, not even with the RTL.
const PATIENCE: Duration = Duration::from_secs(120);

/// Linux in a namespace, and a server of streams.
struct Meeting {
    fabric: Rc<Fabric>,
    space: Namespace,
    interface: NetInterface,
    server: StreamServer,
}

impl Meeting {
    /// `None`: skipped.
    fn new(seed: u64, faults: Faults) -> Option<Self> {
        let space = Namespace::new()?;
        let card = std::env::var("WEFT_TEST_CARD").unwrap_or_else(|_| "model".into());
        let card: CardKind = card.parse().expect("WEFT_TEST_CARD");
        let mut config = FabricConfig {
            seed,
            cards: vec![card; 2],
            rungs: rungs().to_vec(),
            ..FabricConfig::default()
        };
        config.link.faults = faults;
        let fabric = Rc::new(Fabric::new(&config).expect("bring-up"));
        let device = fabric.device(0).clone();
        let interface = space.run(move || NetInterface::open(&device, "weft0", Some(24)));
        let services = StreamConfig {
            echo: 7.try_into().ok(),
            discard: 9.try_into().ok(),
            chargen: 19.try_into().ok(),
            at_a_time: 4,
        };
        let server = StreamServer::start(fabric.device(1), &services).expect("the server");
        Some(Self {
            interface: interface.expect("the interface"),
            fabric,
            space,
            server,
        })
    }

    /// A client in the namespace, in a thread of its own.
    fn client<T: Send + 'static>(
        &self,
        port: u16,
        work: impl FnOnce(TcpStream) -> T + Send + 'static,
    ) -> JoinHandle<T> {
        let to: SocketAddr = (fabric::ip(1), port).into();
        self.space.spawn(move || {
            let stream = TcpStream::connect_timeout(&to, PATIENCE).expect("connect");
            stream.set_read_timeout(Some(PATIENCE)).expect("set");
            stream.set_write_timeout(Some(PATIENCE)).expect("set");
            work(stream)
        })
    }

    fn until<T>(&mut self, what: &str, mut condition: impl FnMut(&Self) -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            let mut moved = self.interface.progress().expect("the interface");
            moved += self.fabric.device(1).progress().expect("the device");
            assert!(self.server.poll().is_none(), "the server has ended");
            self.fabric.run_for(20_000).expect("the fabric");
            if let Some(found) = condition(self) {
                return found;
            }
            let stats = self.fabric.device(1).engine_stats();
            assert!(start.elapsed() < PATIENCE, "{what}: {stats:?}");
            if moved == 0 {
                thread::sleep(Duration::from_micros(50));
            }
        }
    }

    fn finish<T>(&mut self, what: &str, thread: JoinHandle<T>) -> T {
        self.until(what, |_| thread.is_finished().then_some(()));
        match thread.join() {
            Ok(answer) => answer,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    fn idle(&mut self) {
        self.until("the end of all streams", |meeting| {
            (meeting.server.streams() == 0).then_some(())
        });
    }
}

/// Sends bytes, closes its half, and takes all of them back.
fn echo(mut stream: TcpStream, seed: u64, length: usize) {
    let mut out = stream.try_clone().expect("a file more");
    let sender = thread::spawn(move || {
        // Pieces of all sizes.
        let data = bytes(seed, length);
        let mut rest = data.as_slice();
        while !rest.is_empty() {
            let piece = 1 + usize::from(rest[0]) * usize::from(rest[rest.len() / 2]);
            let (now, later) = rest.split_at(piece.min(rest.len()));
            out.write_all(now).expect("send");
            rest = later;
        }
        out.shutdown(Shutdown::Write).expect("close");
    });
    let mut received = Vec::new();
    stream.read_to_end(&mut received).expect("receive");
    assert!(received == bytes(seed, length), "other bytes came back");
    sender.join().expect("the sender");
}

#[test]
fn echo_of_megabytes_several_at_a_time() {
    if left_out_on_card(
        "echo_of_megabytes_several_at_a_time",
        "no raw frames are there",
    ) {
        return;
    }
    let Some(mut meeting) = Meeting::new(1, Faults::default()) else {
        return;
    };
    let clients: Vec<_> = (1..=3)
        .map(|seed| meeting.client(7, move |stream| echo(stream, seed, 1 << 20)))
        .collect();
    for client in clients {
        meeting.finish("the echo", client);
    }
    meeting.idle();
    let stats = meeting.fabric.device(1).engine_stats();
    assert_eq!(stats.resets_sent + stats.resets_received, 0, "{stats:?}");
    assert_eq!(stats.challenge_acks, 0, "{stats:?}");
}

#[test]
fn echo_over_a_link_that_loses_reorders_and_duplicates() {
    if left_out_on_card(
        "echo_over_a_link_that_loses_reorders_and_duplicates",
        "no raw frames are there",
    ) {
        return;
    }
    let faults = Faults {
        loss: 10_000,
        duplicate: 10_000,
        reorder: 20_000,
        resegment: 20_000,
        ..Faults::default()
    };
    let Some(mut meeting) = Meeting::new(2, faults) else {
        return;
    };
    for seed in 1..=3 {
        let client = meeting.client(7, move |stream| echo(stream, seed, 300_000));
        meeting.finish("the echo", client);
    }
    meeting.idle();
    let stats = meeting.fabric.device(1).engine_stats();
    assert!(stats.retransmits > 0, "{stats:?}");
    // A segment of the peer's that comes again when the stream is over is nobody's, and answered by RST (RFC 9293 §3.10.7.1).
    assert_eq!(stats.resets_received, 0, "{stats:?}");
}

#[test]
fn discard_takes_everything_and_closes() {
    if left_out_on_card(
        "discard_takes_everything_and_closes",
        "no raw frames are there",
    ) {
        return;
    }
    let Some(mut meeting) = Meeting::new(3, Faults::default()) else {
        return;
    };
    let client = meeting.client(9, |mut stream| {
        stream.write_all(&bytes(1, 2 << 20)).expect("send");
        stream.shutdown(Shutdown::Write).expect("close");
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).expect("the end");
        assert!(rest.is_empty());
    });
    meeting.finish("the end", client);
    meeting.idle();
    assert_eq!(meeting.server.counts().read, 2 << 20);
}

/// The client reads nothing for a while, so that its window closes, then much, then it goes without reading the rest: RST.
#[test]
fn chargen_waits_goes_on_and_is_reset() {
    if left_out_on_card(
        "chargen_waits_goes_on_and_is_reset",
        "no raw frames are there",
    ) {
        return;
    }
    let Some(mut meeting) = Meeting::new(4, Faults::default()) else {
        return;
    };
    let client = meeting.client(19, |mut stream| {
        thread::sleep(Duration::from_secs(1));
        let mut at = 0;
        let mut buffer = [0; 10_000];
        while at < 3 << 20 {
            let count = stream.read(&mut buffer).expect("characters");
            for byte in &buffer[..count] {
                assert_eq!(*byte, chargen(at), "number {at}");
                at += 1;
            }
        }
    });
    meeting.finish("the characters", client);
    meeting.idle();
    let stats = meeting.fabric.device(1).engine_stats();
    assert_eq!(stats.resets_received, 1, "{stats:?}");
}
