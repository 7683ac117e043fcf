//! The kernel of our host makes the TCP connection with siw, on the card's interface; then the card has it, and RDMA begins. siw is told nothing.

use super::pace::not_on_card;
use super::rping::{siw_is_client, we_are_client, Roles, Run};
use super::{Capture, Rtr, Scenario, Siw};

pub(super) fn scenarios() -> Vec<Scenario> {
    let roles: [(&str, Siw, &'static str, Roles); 4] = [
        (
            "we are client",
            Siw::STOCK,
            "--hand-over weft0 --peer-to-peer off",
            we_are_client,
        ),
        (
            "we are client, Read RTR",
            Siw::STOCK,
            "--hand-over weft0 --peer-to-peer on --rtr read",
            we_are_client,
        ),
        (
            "siw is client",
            Siw::STOCK,
            "--hand-over weft0",
            siw_is_client,
        ),
        (
            "siw is client, Read RTR",
            Siw::peer_to_peer(Rtr::Read),
            "--hand-over weft0",
            siw_is_client,
        ),
    ];
    let of = |(name, siw, ours, roles): (&str, Siw, &'static str, Roles)| Scenario {
        name: format!("taken out of the kernel: {name}"),
        siw,
        capture: Capture::Clean,
        run: Box::new(move |session| {
            not_on_card("no raw frames are there for the kernel")?;
            session.card.in_a_namespace()?;
            let run = Run {
                count: 100,
                size: 3000,
                ours: ours.into(),
            };
            roles(session, &run)
        }),
    };
    roles.into_iter().map(of).collect()
}
