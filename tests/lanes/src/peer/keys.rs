//! What siw reads and writes by is a window of ours, or a fast registration: made for each ping, and invalidated behind it. And siw's Sends, all
//! into one shared receive queue of ours.

use super::card::finish;
use super::pace::{fewer_on_card, longer_on_card};
use super::rping::{scenario, we_are_client, Run, READY};
use super::{Capture, Rtr, Scenario, Session, Siw, CARD_IP};
use crate::steps::NoPass;

/// More than an STag has keys.
const PINGS: u32 = 300;

pub(super) fn scenarios() -> Vec<Scenario> {
    let of = |keys: &str, ours: &'static str| {
        let run = Run {
            count: PINGS,
            size: 2000,
            ours: ours.into(),
        };
        let name = format!("keys, we are client: {keys}");
        scenario(name, Siw::STOCK, run, we_are_client)
    };
    vec![
        of("a window for each ping", "--peer-to-peer off --keys window"),
        of(
            "a fast registration for each ping",
            "--peer-to-peer off --keys fast",
        ),
        Scenario {
            name: "shared receives, siw is client".to_owned(),
            siw: Siw::peer_to_peer(Rtr::Read),
            capture: Capture::Clean,
            run: Box::new(shared_receives),
        },
    ]
}

fn shared_receives(session: &mut Session<'_>) -> Result<String, NoPass> {
    let (connections, sends) = fewer_on_card((12, 20), (4, 5));
    let load = format!("-c {connections} -C {sends} -S 3000");
    let server = session
        .card
        .listening("ucmatose", &format!("{load} --srq --peer-to-peer on"))?;
    session.bench.guest.must(
        &format!("ucmatose -s {CARD_IP} {load}"),
        longer_on_card(READY * 2),
    )?;
    finish(server, "weft ucmatose", READY)?;
    Ok(format!(
        "{sends} Sends of 3000 bytes each way on {connections} connections, received by one queue"
    ))
}
