//! A card's own capture of a ping, as pcapng: every frame that the link saw, in order, byte for byte.

use std::net::SocketAddrV4;

use weft_debug::capture::{Capture, CaptureConfig};
use weft_sim::fabric::{ip, Fabric, FabricConfig};
use weft_sim::transport::lock;
use weft_tests::{cards, rungs};
use weft_tools::capture::CaptureFile;
use weft_tools::rping::{ClientConfig, RpingClient, RpingServer, ServerConfig, PORT};
use weft_tools::Machine;

#[test]
fn a_ping_as_the_card_saw_it() {
    let fabric = Fabric::new(&FabricConfig {
        cards: cards(),
        rungs: rungs().to_vec(),
        ..FabricConfig::default()
    })
    .expect("two cards");
    lock(fabric.world()).link(0).watch();
    let mut bytes = Vec::new();
    let mut file = CaptureFile::new(&mut bytes, "card 0", 250.0).expect("a vector takes it");
    let mut capture =
        Capture::start(fabric.device(0), CaptureConfig::default()).expect("it has a capture ring");
    let mut server =
        RpingServer::start(fabric.device(1), ServerConfig::default(), None).expect("listens");
    let config = ClientConfig {
        count: 3,
        size: 3000,
        ..ClientConfig::new(SocketAddrV4::new(ip(1), PORT))
    };
    let mut client = RpingClient::start(fabric.device(0), config, None).expect("connects");
    let (mut c, mut s) = (None, None);
    fabric
        .run_until("a ping", 60_000_000_000, || {
            file.drain(&mut capture).expect("written");
            c = c.take().or_else(|| client.poll());
            s = s.take().or_else(|| server.poll());
            (c.is_some() && s.is_some()).then_some(())
        })
        .expect("both end");
    // The last acknowledgment is still on its way.
    fabric.run_for(1_000_000).expect("runs");
    file.drain(&mut capture).expect("written");
    let captured = file.captured();
    let seen = lock(fabric.world()).link(0).take_seen();
    let sent = seen.iter().filter(|frame| frame.from == 0).count() as u64;
    assert_eq!(
        (captured.sent, captured.received),
        (sent, seen.len() as u64 - sent)
    );
    assert_eq!(
        (captured.lost, captured.bad_fcs, captured.truncated),
        (0, 0, 0),
        "{captured:?}"
    );
    let all: u64 = seen.iter().map(|frame| frame.frame.len() as u64).sum();
    assert_eq!(captured.bytes, all);
    drop((file, capture));

    // Each frame stands in the file as the link saw it; those of one direction in their order.
    let mut reader = pcap_file::pcapng::PcapNgReader::new(bytes.as_slice()).expect("pcapng");
    let mut of = [Vec::new(), Vec::new()];
    while let Some(block) = reader.next_block() {
        if let pcap_file::pcapng::Block::EnhancedPacket(packet) = block.expect("sound") {
            let outbound = packet.options.iter().any(|option| {
                use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption::Flags;
                matches!(option, Flags(2))
            });
            of[usize::from(!outbound)].push(packet.data.to_vec());
        }
    }
    for (end, frames) in of.iter().enumerate() {
        let on_link: Vec<_> = seen
            .iter()
            .filter(|f| f.from == end)
            .map(|f| f.frame.clone())
            .collect();
        assert!(*frames == on_link, "frames sent by card {end} differ");
    }
}
