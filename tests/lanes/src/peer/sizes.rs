//! Every size that rping has, around the borders of segments and FPDUs, at both MTUs: a Read and a Write of so many bytes each,
//! verified. Sends of all sizes by ucmatose, checked by their CRCs.

use crate::steps::NoPass;

use super::pace::{longer_on_card, not_on_card};
use super::rping::{siw_is_client, we_are_client, Roles, Run, READY};
use super::{Capture, Rtr, Scenario, Session, Siw, CARD_IP};

/// rping's smallest and largest, those around siw's and our FPDUs at MTU 1500, and some between.
const SIZES: [u32; 15] = [
    26, 27, 64, 255, 1000, 1427, 1428, 1429, 1442, 1443, 4096, 9001, 16_384, 40_000, 65_535,
];
const SENDS: [u32; 8] = [1, 17, 1424, 1425, 1438, 5000, 20_000, 65_536];

pub(super) fn scenarios() -> Vec<Scenario> {
    let roles: [(&str, &'static str, Roles); 2] = [
        ("we are client", "--peer-to-peer off", we_are_client),
        ("siw is client", "", siw_is_client),
    ];
    let mut all = Vec::new();
    for (name, ours, roles) in roles {
        for jumbo in [false, true] {
            let mtu = if jumbo { 9000 } else { 1500 };
            all.push(Scenario {
                name: format!("all sizes, MTU {mtu}, {name}"),
                siw: Siw::STOCK,
                capture: Capture::Clean,
                run: Box::new(move |session| all_sizes(session, jumbo, ours, roles)),
            });
        }
    }
    all.push(Scenario {
        name: "Sends of all sizes, siw is client".to_owned(),
        siw: Siw::peer_to_peer(Rtr::Read),
        capture: Capture::Clean,
        run: Box::new(all_sends),
    });
    all
}

fn all_sizes(
    session: &mut Session<'_>,
    jumbo: bool,
    ours: &'static str,
    roles: Roles,
) -> Result<String, NoPass> {
    let ours = match (jumbo, ours) {
        (false, ours) => ours,
        (true, "") => "--mtu 9000",
        (true, _) => "--mtu 9000 --peer-to-peer off",
    };
    if jumbo {
        not_on_card("a packet has 1500 bytes at most")?;
        session.bench.set_mtu(9000)?;
    }
    for size in SIZES {
        let run = Run {
            count: 3,
            size,
            ours: ours.into(),
        };
        roles(session, &run).map_err(|why| match why {
            NoPass::Fail(why) => NoPass::Fail(format!("{size} bytes: {why}")),
            skip => skip,
        })?;
    }
    Ok(format!("{} sizes, 3 pings each", SIZES.len()))
}

fn all_sends(session: &mut Session<'_>) -> Result<String, NoPass> {
    for size in SENDS {
        let arguments = format!("-c 2 -C 5 -S {size} --peer-to-peer on");
        let server = session.card.listening("ucmatose", &arguments)?;
        let command = format!("ucmatose -s {CARD_IP} -c 2 -C 5 -S {size}");
        session
            .bench
            .guest
            .must(&command, longer_on_card(READY * 2))?;
        super::card::finish(server, "weft ucmatose", READY)?;
    }
    Ok(format!(
        "{} sizes, 5 Sends each way on 2 connections",
        SENDS.len()
    ))
}
