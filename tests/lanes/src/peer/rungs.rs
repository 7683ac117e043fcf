//! The rungs of the partition ladder that software does more at: a peer sees nothing of them. (All scenarios at one: `WEFT_RUNG`.)

use super::rping::{scenario, siw_is_client, we_are_client, Roles, Run};
use super::{Rtr, Scenario, Siw};

pub(super) fn scenarios() -> Vec<Scenario> {
    let roles: [(&str, &str, Roles); 2] = [
        ("we are client", " --rtr read", we_are_client),
        ("siw is client", "", siw_is_client),
    ];
    let mut all = Vec::new();
    for rung in ["host", "crc-send", "crc"] {
        for (name, more, roles) in roles {
            let run = Run {
                count: 100,
                size: 5000,
                ours: format!("--rung {rung} --peer-to-peer on{more}").into(),
            };
            let siw = Siw::peer_to_peer(Rtr::Read);
            all.push(scenario(format!("rung {rung}: {name}"), siw, run, roles));
        }
    }
    all
}
