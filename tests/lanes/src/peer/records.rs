//! A route record: who has one connects to siw without a question, and so does who has it from the host's resolver.

use std::net::Ipv4Addr;
use std::path::Path;

use weft_tests::markers::read_frames;
use weft_tests::resolvers::Files;
use weft_wire::arp::{Arp, Operation};
use weft_wire::ethernet::{ethertype, EthernetHeader};

use super::rping::{we_are_client, Run};
use super::{Capture, Scenario, Session, Siw, CARD_IP};
use crate::steps::{ensure, NoPass};

pub(super) fn scenarios() -> Vec<Scenario> {
    let scenario = |name: &str, run: fn(&mut Session<'_>) -> Result<String, NoPass>| Scenario {
        name: name.to_owned(),
        siw: Siw::STOCK,
        capture: Capture::Clean,
        run: Box::new(run),
    };
    vec![
        scenario("a route record, then nobody is asked", twice),
        scenario("a resolver, which one process taught", taught),
    ]
}

/// A process that connects by a record, which is found first if the file is not there. Its ARP requests.
fn by_record(session: &mut Session<'_>, record: &Path, capture: &str) -> Result<usize, NoPass> {
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
    questions(&capture)
}

/// The first process finds the way and keeps it in a file, the second one has the file.
fn twice(session: &mut Session<'_>) -> Result<String, NoPass> {
    let record = session.card.logs.join("route");
    // Left over from the run before.
    let _ = std::fs::remove_file(&record);
    let asked = [
        by_record(session, &record, "found.pcapng")?,
        by_record(session, &record, "known.pcapng")?,
    ];
    ensure(
        asked == [1, 0],
        format!("ARP requests of ours, without and with a record: {asked:?}"),
    )?;
    Ok("ARP requests of ours: 1 without, 0 with it".to_owned())
}

/// Each process has a file of its own, so each of them needs the way: the first one has it by ARP and tells the resolver, without a word in
/// the program.
fn taught(session: &mut Session<'_>) -> Result<String, NoPass> {
    let host = Files::new("");
    session.card.set_env("WEFT_RESOLVER", &host.socket);
    let mut asked = Vec::new();
    let report = host.served(|| {
        for (record, capture) in [("first", "taught.pcapng"), ("second", "told.pcapng")] {
            let record = host.table.with_file_name(record);
            asked.push(by_record(session, &record, capture));
        }
    });
    let asked = asked.into_iter().collect::<Result<Vec<_>, _>>()?;
    ensure(
        asked == [1, 0] && (report.announced, report.known) == (1, 1),
        format!("ARP requests of ours, before and after: {asked:?}; {report:?}"),
    )?;
    Ok("ARP requests of ours: 1 of the first process, 0 of the second".to_owned())
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
