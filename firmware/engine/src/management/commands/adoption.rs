//! A connection of another stack, and the way from bytes to RDMA, as records.

use weft_layout::{Command, CommandOpcode, StreamState as Record};

use super::requests::{of_conn, of_qp, with_params};
use crate::interface::cm::{ConnId, StartMpa, StreamHandover};
use crate::interface::verbs::{QpId, Sge};
use weft_tcp::handover::{Handover, Impossible, Timestamps};

/// A stream's state as the private data of [`adopt`], without its bytes.
pub fn stream_record(tcp: &Handover) -> [u8; Record::SIZE] {
    let (peer_scale, own_scale) = tcp.scales.unwrap_or_default();
    let clock = tcp.timestamps;
    let recent = clock.and_then(|clock| clock.recent);
    let record = Record {
        snd_una: tcp.snd_una,
        snd_nxt: tcp.snd_nxt,
        snd_wnd: tcp.snd_wnd,
        snd_wnd_max: tcp.snd_wnd_max,
        snd_wl1: tcp.snd_wl1,
        rcv_nxt: tcp.rcv_nxt,
        rcv_edge: tcp.rcv_edge,
        mss: tcp.mss,
        ts_now: clock.map_or(0, |clock| clock.now),
        ts_recent: recent.unwrap_or(0),
        unacknowledged: tcp.unacknowledged.len().try_into().unwrap_or(u32::MAX),
        unread: tcp.unread.len().try_into().unwrap_or(u32::MAX),
        peer_scale,
        own_scale,
        ..Record::default()
    };
    record
        .with_scaled(tcp.scales.is_some())
        .with_sack(tcp.sack)
        .with_timestamps(clock.is_some())
        .with_has_ts_recent(recent.is_some())
        .with_ecn(tcp.ecn)
        .with_peer_closed(tcp.peer_closed)
        .to_bytes()
}

/// The state of a record, without its bytes, and how many there are of them: not acknowledged, not read.
pub(crate) fn stream_of(record: &Record) -> (Handover, u32, u32) {
    let recent = record.has_ts_recent().then_some(record.ts_recent);
    let tcp = Handover {
        snd_una: record.snd_una,
        snd_nxt: record.snd_nxt,
        snd_wnd: record.snd_wnd,
        snd_wnd_max: record.snd_wnd_max,
        snd_wl1: record.snd_wl1,
        rcv_nxt: record.rcv_nxt,
        rcv_edge: record.rcv_edge,
        mss: record.mss,
        scales: record
            .scaled()
            .then_some((record.peer_scale, record.own_scale)),
        sack: record.sack(),
        timestamps: record.timestamps().then_some(Timestamps {
            now: record.ts_now,
            recent,
        }),
        ecn: record.ecn(),
        peer_closed: record.peer_closed(),
        ..Handover::default()
    };
    (tcp, record.unacknowledged, record.unread)
}

/// Makes a stream of a TCP connection of another stack: [`Answer::conn`](super::Answer::conn). Its [`stream_record`] goes beside it; the
/// bytes not acknowledged lie at the begin of the ring, those not read behind them.
pub fn adopt(qp: QpId, ring: &Sge, state: &StreamHandover) -> Command {
    Command {
        stag: ring.stag,
        base_to: ring.to,
        region_length: ring.length.into(),
        port: state.local.port,
        remote_ip: state.remote.ip,
        remote_port: state.remote.port,
        ..of_qp(CommandOpcode::Adopt, qp)
    }
}

/// Ends a stream's plain bytes. If this side begins the start-up, its private data go beside it.
pub fn start_mpa(conn: ConnId, how: &StartMpa<'_>) -> Command {
    let start = of_conn(CommandOpcode::StartMpa, conn);
    match how {
        StartMpa::Active(params) => with_params(start, params),
        StartMpa::Passive => start.with_passive(true),
        StartMpa::Past(agreed) => Command {
            ird: agreed.ird,
            ord: agreed.ord,
            revision: agreed.revision,
            ..start
        }
        .with_past_start_up(true)
        .with_crc(agreed.crc)
        .with_markers(agreed.markers_received)
        .with_markers_sent(agreed.markers_sent)
        .with_aligned(agreed.aligned),
    }
}

const IMPOSSIBLE: [Impossible; 5] = [
    Impossible::Sent,
    Impossible::Edge,
    Impossible::Window,
    Impossible::Mss,
    Impossible::TooLong,
];

pub(super) fn impossible_number(why: Impossible) -> u32 {
    let at = IMPOSSIBLE.iter().position(|known| *known == why);
    at.map_or(u32::MAX, |at| at as u32)
}

pub(super) fn impossible(number: u32) -> Option<Impossible> {
    IMPOSSIBLE.get(number as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_comes_back_as_it_was() {
        let clock = |recent| Some(Timestamps { now: 7, recent });
        for (scales, timestamps) in [
            (None, None),
            (Some((7, 14)), clock(None)),
            (None, clock(Some(9))),
        ] {
            let state = Handover {
                snd_una: 1,
                snd_nxt: 2,
                snd_wnd: 3,
                snd_wnd_max: 4,
                snd_wl1: 5,
                rcv_nxt: 6,
                rcv_edge: 7,
                mss: 8,
                scales,
                sack: scales.is_some(),
                timestamps,
                ecn: scales.is_none(),
                peer_closed: timestamps.is_none(),
                ..Handover::default()
            };
            let record = Record::from_bytes(&stream_record(&state));
            assert_eq!(stream_of(&record), (state, 0, 0));
        }
    }
}
