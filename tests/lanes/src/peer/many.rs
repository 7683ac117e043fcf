//! A thousand pings in a row, verified at both ends, in both roles: without an RTR and with it; CRC off.

use super::rping::{scenario, siw_is_client, we_are_client, Roles, Run};
use super::{Rtr, Scenario, Siw};

pub(super) fn scenarios() -> Vec<Scenario> {
    let ours: [(&str, Siw, &'static str, Roles); 3] = [
        (
            "we are client: no RTR",
            Siw::STOCK,
            "--peer-to-peer off",
            we_are_client,
        ),
        (
            "we are client: Read RTR",
            Siw::STOCK,
            "--peer-to-peer on --rtr read",
            we_are_client,
        ),
        (
            "we are client: Write RTR",
            Siw::STOCK,
            "--peer-to-peer on --rtr write",
            we_are_client,
        ),
    ];
    let siws: [(&str, Siw, &'static str, Roles); 2] = [
        ("siw is client: no RTR", Siw::STOCK, "", siw_is_client),
        (
            "siw is client: Read RTR",
            Siw::peer_to_peer(Rtr::Read),
            "--peer-to-peer on",
            siw_is_client,
        ),
    ];
    let thousand = ours
        .into_iter()
        .chain(siws)
        .map(|(name, siw, ours, roles)| {
            let run = Run {
                count: 1000,
                size: 100,
                ours: ours.into(),
            };
            scenario(format!("rping x 1000, {name}"), siw, run, roles)
        });
    let others: [(&str, Siw, &'static str, Roles); 2] = [
        (
            "CRC off, we are client",
            Siw::STOCK,
            "--peer-to-peer off --crc off",
            we_are_client,
        ),
        (
            "CRC off, siw is client",
            Siw::STOCK,
            "--crc off",
            siw_is_client,
        ),
    ];
    let others = others.into_iter().map(|(name, siw, ours, roles)| {
        let run = Run {
            count: 100,
            size: 1000,
            ours: ours.into(),
        };
        scenario(format!("rping, {name}"), siw, run, roles)
    });
    thousand.chain(others).collect()
}
