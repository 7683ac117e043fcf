//! Storms: many connections at a time, a few messages on each, all closed, again and again.

use std::time::Duration;

use crate::steps::{ensure, NoPass};

use super::card::finish;
use super::pace::{fewer_on_card, longer_on_card, seconds};
use super::rping::READY;
use super::{Capture, Rtr, Scenario, Session, Siw, CARD_IP, GUEST_IP};

/// A storm: so many rounds, of so many connections each. At `firmware` a few: siw waits ten seconds for an answer to its MPA request.
fn size() -> (u32, u32) {
    fewer_on_card((20, 12), (3, 6))
}

const ROUND: Duration = Duration::from_secs(60);

pub(super) fn scenarios() -> Vec<Scenario> {
    let storm = |name: &str, siw, run: fn(&mut Session<'_>) -> Result<String, NoPass>| Scenario {
        name: format!("storm, {name}"),
        siw,
        capture: Capture::Clean,
        run: Box::new(run),
    };
    vec![
        storm(
            "siw is client, Read RTR",
            Siw::peer_to_peer(Rtr::Read),
            siw_is_client,
        ),
        storm(
            "siw is client, Write RTR",
            Siw::peer_to_peer(Rtr::Write),
            siw_is_client,
        ),
        // An RTR that siw as responder misses would leave its connection, and its kernel, for good.
        storm("we are client, no RTR", Siw::STOCK, |session| {
            we_are_client(session, "--peer-to-peer off")
        }),
        // As responder of revision 1 siw has an ORD of 0: its rping cannot read, but Sends it can.
        storm("we are client, MPA revision 1", Siw::STOCK, |session| {
            we_are_client(session, "--mpa-rev 1")
        }),
    ]
}

/// ucmatose's server speaks first: that takes an RTR, since our side waits for it.
fn siw_is_client(session: &mut Session<'_>) -> Result<String, NoPass> {
    let (rounds, connections) = size();
    let arguments = format!("-c {connections} -C 4 -S 700 --storm {rounds}");
    let server = session.card.listening("ucmatose", &arguments)?;
    let client = format!("ucmatose -s {CARD_IP} -c {connections} -C 4 -S 700");
    let command = format!("for n in $(seq {rounds}); do {client} >/dev/null || exit; done");
    let storm = session
        .bench
        .guest
        .run(&command, longer_on_card(ROUND * 2))?;
    ensure(
        storm.status.success(),
        format!(
            "{client}: {}\n{}\n--- weft ucmatose:\n{}",
            storm.status,
            storm.stderr,
            server.output()
        ),
    )?;
    let said = finish(server, "weft ucmatose", READY)?;
    Ok(line(&said, "rounds"))
}

/// siw's application speaks first, right behind the reply.
fn we_are_client(session: &mut Session<'_>, ours: &str) -> Result<String, NoPass> {
    let ((rounds, connections), patience) = (size(), seconds(15));
    let mut failures = Vec::new();
    for round in 0..rounds {
        let guest = &mut session.bench.guest;
        let command = format!("ucmatose -b {GUEST_IP} -c {connections} -C 4 -S 700");
        let server = guest.spawn(&command)?;
        // It listens soon; it says nothing of it.
        guest.must(
            "until ss -ltn 2>/dev/null | grep -q :7471; do sleep 0.02; done",
            READY,
        )?;
        let arguments =
            format!("-s {GUEST_IP} -c {connections} -C 4 -S 700 --timeout {patience} {ours}");
        let said = session
            .card
            .must("ucmatose", &arguments, longer_on_card(ROUND))?;
        let ended = session.bench.guest.wait(&server, READY)?;
        if !ended.status.success() || !said.contains("passed") {
            failures.push(format!("round {round}: {}\n{}", ended.status, ended.stderr));
        }
    }
    ensure(failures.is_empty(), failures.join("\n"))?;
    Ok(format!("{rounds} rounds of {connections} connections"))
}

fn line(said: &str, word: &str) -> String {
    let mut lines = said.lines();
    let found = lines.find(|line| line.contains(word));
    found.unwrap_or_default().trim().to_owned()
}
