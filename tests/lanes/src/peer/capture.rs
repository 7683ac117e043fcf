//! What a scenario wants of its capture, and how a fault of siw's is known in it.

use std::net::Ipv4Addr;
use std::path::Path;

use weft_tests::markers;

use crate::steps::NoPass;
use crate::wire::{self, Seen};

use super::{Capture, CARD_IP};

/// Judges a capture.
pub(super) fn judge(capture: &Path, wanted: Capture) -> Result<Seen, NoPass> {
    let ours: Vec<Ipv4Addr> = CARD_IP.parse().into_iter().collect();
    let seen = wire::judge(capture, &ours)?;
    let missing = match wanted {
        Capture::Clean if seen.report.sum(|direction| direction.fpdus) == 0 => Some("no FPDU"),
        Capture::StartUp if seen.report.connections.is_empty() => Some("no MPA start-up"),
        _ => None,
    };
    match missing {
        None => Ok(seen),
        Some(what) => Err(NoPass::Fail(format!("{what} in {}", capture.display()))),
    }
}

/// siw as responder can lose the first FPDU of a connection: what arrives between its MPA reply and the moment when it
/// hands the socket to its receive side wakes nobody, and stays unread until more comes. The initiator, who was
/// acknowledged by TCP, waits for an answer forever (about one connection in twenty under emulation). Recognised by a
/// connection of ours in which siw sends nothing behind its reply though there was something to answer.
pub(super) fn siw_lost_it(capture: &Path) -> Result<bool, NoPass> {
    let (_, _, segments) = markers::read_segments(capture)?;
    let ours: Ipv4Addr = CARD_IP.parse().unwrap_or(Ipv4Addr::UNSPECIFIED);
    let replies = segments.iter().enumerate().filter(|(_, segment)| {
        *segment.to.ip() == ours && segment.payload.starts_with(b"MPA ID Rep Frame")
    });
    for (at, reply) in replies {
        let behind = |from, to| {
            let later = segments[at + 1..].iter();
            later.filter(move |s| s.from == from && s.to == to && !s.payload.is_empty())
        };
        let asked = behind(reply.to, reply.from).next().is_some();
        if asked && behind(reply.from, reply.to).next().is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}
