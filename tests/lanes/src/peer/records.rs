//! A route record: who has one connects to siw without a question.

use std::net::Ipv4Addr;
use std::path::Path;

use weft_tests::markers::read_frames;
use weft_wire::arp::{Arp, Operation};
use weft_wire::ethernet::{ethertype, EthernetHeader};

use super::rping::{we_are_client, Run};
use super::{Capture, Scenario, Session, Siw, CARD_IP};
use crate::steps::{ensure, NoPass};

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![Scenario {
        name: "a route record, then nobody is asked".to_owned(),
        siw: Siw::STOCK,
        capture: Capture::Clean,
        run: Box::new(twice),
    }]
}

/// The first process finds the way and keeps it in a file, the second one has the file.
fn twice(session: &mut Session<'_>) -> Result<String, NoPass> {
    let record = session.card.logs.join("route");
    // Left over from the run before.
    let _ = std::fs::remove_file(&record);
    let mut asked = Vec::new();
    for capture in ["found.pcapng", "known.pcapng"] {
        let capture = session.card.logs.join(capture);
        let ours = format!(
            "--peer-to-peer off --record {} --capture {}",
            record.display(),
            capture.display()
        );
        let run = Run {
            count: 10,
            size: 64,
            ours: ours.into(),
        };
        we_are_client(session, &run)?;
        asked.push(questions(&capture)?);
    }
    ensure(
        asked == [1, 0],
        format!("ARP requests of ours, without and with a record: {asked:?}"),
    )?;
    Ok("ARP requests of ours: 1 without, 0 with it".to_owned())
}

/// Our ARP requests.
fn questions(capture: &Path) -> Result<usize, NoPass> {
    let card: Ipv4Addr = CARD_IP.parse()?;
    let frames = read_frames(capture)?;
    let ours = frames.iter().filter(|frame| {
        let Some((header, payload)) = EthernetHeader::parse(frame) else {
            return false;
        };
        let arp = (header.ethertype == ethertype::ARP).then(|| Arp::parse(payload));
        arp.flatten().is_some_and(|arp| {
            arp.operation == Operation::Request && Ipv4Addr::from(arp.sender_ip) == card
        })
    });
    Ok(ours.count())
}
