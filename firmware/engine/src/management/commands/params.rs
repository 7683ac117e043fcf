//! What commands of connections say, as the calls take it.

use super::{rtr_kinds, Refusal};
use crate::interface::cm::{AcceptParams, ConnectParams, Endpoint, Revision, Route};
use weft_layout::Command;

/// What a connection is to be like that this command asks for.
pub fn connect_params<'a>(
    command: &Command,
    private_data: &'a [u8],
) -> Result<ConnectParams<'a>, Refusal> {
    Ok(ConnectParams {
        remote: Endpoint {
            ip: command.remote_ip,
            port: command.remote_port,
        },
        local_port: (command.port != 0).then_some(command.port),
        private_data,
        ird: command.ird,
        ord: command.ord,
        peer_to_peer: command.peer_to_peer(),
        rtr: rtr_kinds(command.rtr).ok_or(Refusal::Malformed)?,
        crc: command.crc(),
        markers: command.markers(),
        aligned: command.aligned(),
        revision: match command.revision {
            1 => Revision::Rev1,
            2 => Revision::Rev2,
            _ => return Err(Refusal::Malformed),
        },
        fall_back: command.fall_back(),
        route: command.routed().then_some(Route {
            next_hop: command.next_hop,
            mtu: command.mtu,
        }),
        tos: command.tos,
    })
}

/// How this command accepts.
pub fn accept_params<'a>(
    command: &Command,
    private_data: &'a [u8],
) -> Result<AcceptParams<'a>, Refusal> {
    Ok(AcceptParams {
        private_data,
        ird: command.ird,
        ord: command.ord,
        rtr: rtr_kinds(command.rtr).ok_or(Refusal::Malformed)?,
        crc: command.crc(),
        markers: command.markers(),
        aligned: command.aligned(),
        tos: command.tos,
    })
}
