//! Ports of served cards: another card, datagram sockets, files; links that are cut; captures.

use crate::serve_support;

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::{Duration, SystemTime};

use pcap_file::pcapng::{Block, PcapNgReader};
use serve_support::{
    be_master, eventually, frame, serve_ports, serve_two, stats_when, Driver, Shared, MEMORY,
    STATION,
};
use vfio_user::Client;
use weft_sim::serve::port::PortSpec;
use weft_sim::serve::Served;

const IOVA: u64 = 0x7_0000_0000;

/// A driver at a card.
struct End {
    client: Client,
    memory: Shared,
    driver: Driver,
}

impl End {
    fn new(served: &Served, card: usize) -> Self {
        let mut client = Client::new(&served.sockets()[card]).unwrap();
        let memory = Shared::new(MEMORY);
        client
            .dma_map(0, IOVA, MEMORY, memory.0.as_raw_fd())
            .unwrap();
        be_master(&mut client);
        let driver = Driver::new(&mut client, IOVA, false);
        Self {
            client,
            memory,
            driver,
        }
    }

    fn send(&mut self, frame: &[u8]) {
        self.driver.send(&mut self.client, &mut self.memory, frame);
    }

    fn receive(&mut self) -> Vec<u8> {
        self.driver.receive(&mut self.client, &mut self.memory)
    }

    fn try_receive(&mut self) -> Option<Vec<u8>> {
        self.driver.try_receive(&mut self.client, &mut self.memory)
    }
}

/// The frames of a capture, with their times.
fn frames(path: &Path) -> Vec<(Duration, Vec<u8>)> {
    let mut reader = PcapNgReader::new(File::open(path).unwrap()).unwrap();
    let mut frames = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap() {
            frames.push((packet.timestamp, packet.data.into_owned()));
        }
    }
    frames
}

#[test]
fn two_cards_are_joined_and_the_link_can_be_cut() {
    let served = serve_two();
    let capture = served.sockets()[0].with_file_name("port0.pcapng");
    let (mut a, mut b) = (End::new(&served, 0), End::new(&served, 1));
    for n in 0..10 {
        a.send(&frame(64 + n, 1));
        assert_eq!(b.receive(), frame(64 + n, 1));
        b.send(&frame(164 + n, 2));
        assert_eq!(a.receive(), frame(164 + n, 2));
    }
    served.set_link(1, false);
    a.send(&frame(99, 3));
    let quiet = std::time::Instant::now() + Duration::from_millis(50);
    while std::time::Instant::now() < quiet {
        assert!(b.try_receive().is_none(), "a frame over a link that is cut");
    }
    served.set_link(1, true);
    a.send(&frame(100, 4));
    assert_eq!(b.receive(), frame(100, 4));
    let before = SystemTime::now();
    served.stop().unwrap();
    let captured = frames(&capture);
    assert_eq!(captured.len(), 22);
    let now = before
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let stamp = captured[0].0.as_secs();
    assert!(
        (now - 600..=now).contains(&stamp),
        "no time of day: {stamp}"
    );
}

#[test]
fn frames_go_through_datagram_sockets() {
    let folder = tempfile::tempdir().unwrap();
    let (local, remote) = (folder.path().join("card"), folder.path().join("peer"));
    let peer = UnixDatagram::bind(&remote).unwrap();
    peer.set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let served = serve_ports(&[PortSpec::Datagram {
        local: local.clone(),
        peer: Some(remote),
    }]);
    let mut end = End::new(&served, 0);
    let mut buffer = vec![0; 10_000];
    for n in 0..20 {
        end.send(&frame(40 + 70 * n, 1));
        let len = peer.recv(&mut buffer).unwrap();
        assert_eq!(len, (40 + 70 * n).max(60), "a MAC pads to 60 bytes");
        peer.send_to(&frame(42 + 70 * n, 2), &local).unwrap();
        let got = end.receive();
        assert_eq!(got.len(), (42 + 70 * n).max(60));
        assert_eq!(got[..42 + 70 * n], frame(42 + 70 * n, 2));
    }
    let port = served.stats().cards[0].port.unwrap();
    assert_eq!((port.received, port.sent, port.dropped), (20, 20, 0));
    drop(served);
    assert!(!local.exists(), "the socket was left behind");
}

#[test]
fn a_capture_is_replayed_once_the_driver_receives() {
    // A first run makes the capture, a second one plays it.
    let folder = tempfile::tempdir().unwrap();
    let (local, first) = (
        folder.path().join("card"),
        folder.path().join("first.pcapng"),
    );
    let served = serve_ports(&[PortSpec::Datagram { local, peer: None }]);
    let mut end = End::new(&served, 0);
    for n in 0..12 {
        end.send(&frame(60 + n, n as u8));
        stats_when(&served, "the frame's leaving", |s| {
            s.cards[0].port.unwrap().dropped == n as u64 + 1
        });
    }
    let capture = served.sockets()[0].with_file_name("port0.pcapng");
    served.stop().unwrap();
    std::fs::copy(capture, &first).unwrap();

    let second = folder.path().join("second.pcapng");
    let served = serve_ports(&[PortSpec::Replay {
        input: first,
        output: Some(second.clone()),
    }]);
    for round in 0..2 {
        let mut end = End::new(&served, 0);
        for n in 0..12 {
            assert_eq!(end.receive(), frame(60 + n, n as u8), "round {round}");
        }
        end.send(&frame(77, 7));
        stats_when(&served, "the frame", |s| {
            s.cards[0].port.unwrap().sent == round + 1
        });
        drop(end);
        // The next driver gets all of it again.
        stats_when(&served, "the parting", |s| !s.cards[0].connected);
    }
    served.stop().unwrap();
    let written = frames(&second);
    assert_eq!(written.len(), 2);
    assert_eq!(written[0].1, frame(77, 7));
}

#[test]
fn ports_that_cannot_be_are_refused() {
    use weft_sim::kind::CardKind;
    use weft_sim::link::LinkConfig;
    use weft_sim::serve::{start, CardConfig, ServeConfig, ServeError};

    let folder = tempfile::tempdir().unwrap();
    let config = |ports: &[&str]| ServeConfig {
        cards: ports
            .iter()
            .enumerate()
            .map(|(n, port)| CardConfig {
                kind: CardKind::Model,
                port: port.parse().unwrap(),
                socket: folder.path().join(format!("{n}")),
                capture: None,
            })
            .collect(),
        seed: 1,
        link: LinkConfig::default(),
    };
    for ports in [
        &["card:0"][..],
        &["card:1"],
        &["card:1", "none"],
        &["card:1", "card:2", "card:0"],
    ] {
        let refused = start(&config(ports));
        assert!(matches!(refused, Err(ServeError::Ends { .. })), "{ports:?}");
    }
    let nowhere = start(&config(&["dgram:/no/such/folder/socket"]));
    assert!(matches!(nowhere, Err(ServeError::Port { .. })));
    let nothing = start(&config(&["pcap:/no/such/file"]));
    assert!(matches!(nothing, Err(ServeError::Port { .. })));
    assert!(matches!(start(&config(&[])), Err(ServeError::NoCards)));
    // A socket in use is not taken over.
    let served = start(&config(&["none"])).unwrap();
    assert!(matches!(
        start(&config(&["none"])),
        Err(ServeError::Socket { .. })
    ));
    drop(served);
    eventually("the socket", || start(&config(&["none"])).ok());
    assert_eq!(STATION.len(), 6);
}
