//! Events as records.

use weft_layout::{
    ConnectFailure as FailureNumber, DisconnectReason as ReasonNumber, EventEntry, EventKind,
};
use weft_wire::mpa::RtrKinds;
use weft_wire::terminate::TerminateCode;

use super::{rtr_bits, rtr_kinds, same};
use crate::interface::cm::{
    Agreed, ConnId, ConnectFailure, DisconnectReason, Endpoint, Event, PrivateData,
    MAX_PRIVATE_DATA,
};
use crate::interface::verbs::{QpId, SrqId};

same!(ConnectFailure, FailureNumber, failure_number, failure:
    Unreachable Refused TimedOut Closed InvalidReply NoMatchingRtr InsufficientReads NoResources NoRtr
    UnsupportedRevision SegmentTooSmall NoXrc);
same!(DisconnectReason, ReasonNumber, reason_number, reason: Local Peer Reset TimedOut Aborted Terminated);

fn entry(kind: EventKind) -> EventEntry {
    EventEntry {
        kind: kind as u8,
        ..EventEntry::default()
    }
}

fn of_conn(kind: EventKind, conn: ConnId) -> EventEntry {
    EventEntry {
        conn: conn.number(),
        ..entry(kind)
    }
}

/// What the peer said of Reads.
fn with_reads(entry: EventEntry, ird: Option<u16>, ord: Option<u16>) -> EventEntry {
    EventEntry {
        ird: ird.unwrap_or(0),
        ord: ord.unwrap_or(0),
        ..entry
    }
    .with_has_ird(ird.is_some())
    .with_has_ord(ord.is_some())
}

fn with_rtr(entry: EventEntry, rtr: Option<RtrKinds>) -> EventEntry {
    EventEntry {
        rtr: rtr_bits(rtr.unwrap_or_default()),
        ..entry
    }
    .with_has_rtr(rtr.is_some())
}

/// An event as a record, and the private data that go with it.
pub fn entry_of(event: &Event) -> (EventEntry, &[u8]) {
    match event {
        Event::ConnectRequest {
            conn,
            port,
            remote,
            private_data,
            ird,
            ord,
            rtr,
            revision,
            xrc,
        } => {
            let request = EventEntry {
                port: *port,
                remote_ip: remote.ip,
                remote_port: remote.port,
                revision: *revision,
                ..of_conn(EventKind::ConnectRequest, *conn)
            }
            .with_xrc(*xrc);
            (
                with_rtr(with_reads(request, *ird, *ord), *rtr),
                private_data,
            )
        }
        Event::Established {
            conn,
            qp,
            private_data,
            agreed,
            ird,
            ord,
        } => {
            let established = EventEntry {
                qp: qp.number(),
                revision: agreed.revision,
                peer_ird: ird.unwrap_or(0),
                peer_ord: ord.unwrap_or(0),
                ..of_conn(EventKind::Established, *conn)
            }
            .with_has_peer_ird(ird.is_some())
            .with_has_peer_ord(ord.is_some())
            .with_crc(agreed.crc)
            .with_markers_sent(agreed.markers_sent)
            .with_markers_received(agreed.markers_received)
            .with_aligned(agreed.aligned);
            let reads = with_reads(established, Some(agreed.ird), Some(agreed.ord));
            (with_rtr(reads, agreed.rtr), private_data)
        }
        Event::StreamRequest { conn, port, remote } => {
            let request = EventEntry {
                port: *port,
                remote_ip: remote.ip,
                remote_port: remote.port,
                ..of_conn(EventKind::StreamRequest, *conn)
            };
            (request, &[])
        }
        Event::StreamEstablished { conn, qp } => {
            let established = EventEntry {
                qp: qp.number(),
                ..of_conn(EventKind::StreamEstablished, *conn)
            };
            (established, &[])
        }
        Event::StreamClosed { conn, qp, reason } => {
            let end = EventEntry {
                qp: qp.number(),
                reason: reason_number(*reason),
                ..of_conn(EventKind::StreamClosed, *conn)
            };
            (end, &[])
        }
        Event::Rejected {
            conn,
            private_data,
            ird,
            ord,
        } => {
            let rejected = of_conn(EventKind::Rejected, *conn);
            (with_reads(rejected, *ird, *ord), private_data)
        }
        Event::ConnectError { conn, reason } => {
            let error = EventEntry {
                failure: failure_number(*reason),
                ..of_conn(EventKind::ConnectError, *conn)
            };
            (error, &[])
        }
        Event::Disconnected { conn, qp, reason } => {
            let end = EventEntry {
                qp: qp.number(),
                reason: reason_number(*reason),
                ..of_conn(EventKind::Disconnected, *conn)
            };
            (end, &[])
        }
        Event::QpFatal {
            qp,
            terminate,
            received,
        } => {
            let fatal = EventEntry {
                qp: qp.number(),
                terminate: terminate.map_or(0, |terminate| terminate.0),
                ..entry(EventKind::QpFatal)
            }
            .with_has_terminate(terminate.is_some())
            .with_received(*received);
            (fatal, &[])
        }
        Event::SrqLimit { srq } => {
            let limit = EventEntry {
                srq: srq.number(),
                ..entry(EventKind::SrqLimit)
            };
            (limit, &[])
        }
        Event::LastWqe { qp } => {
            let last = EventEntry {
                qp: qp.number(),
                ..entry(EventKind::LastWqe)
            };
            (last, &[])
        }
        Event::Forgotten { conn } => (of_conn(EventKind::Forgotten, *conn), &[]),
        Event::Moved { conn } => (of_conn(EventKind::Moved, *conn), &[]),
    }
}

/// The event of a record and its private data; `None`: it is none.
pub fn event_of(entry: &EventEntry, private_data: &[u8]) -> Option<Event> {
    if private_data.len() > MAX_PRIVATE_DATA {
        return None;
    }
    let private_data = || PrivateData::new(private_data);
    let ird = entry.has_ird().then_some(entry.ird);
    let ord = entry.has_ord().then_some(entry.ord);
    let rtr = match entry.has_rtr() {
        true => Some(rtr_kinds(entry.rtr)?),
        false => None,
    };
    let qp = QpId::from_number(entry.qp);
    let conn = || ConnId::from_number(entry.conn);
    Some(match entry.kind().ok()? {
        EventKind::ConnectRequest => Event::ConnectRequest {
            conn: conn()?,
            port: entry.port,
            remote: Endpoint {
                ip: entry.remote_ip,
                port: entry.remote_port,
            },
            private_data: private_data(),
            ird,
            ord,
            rtr,
            revision: entry.revision,
            xrc: entry.xrc(),
        },
        EventKind::Established => Event::Established {
            conn: conn()?,
            qp,
            private_data: private_data(),
            agreed: Agreed {
                revision: entry.revision,
                crc: entry.crc(),
                markers_sent: entry.markers_sent(),
                markers_received: entry.markers_received(),
                ird: ird?,
                ord: ord?,
                rtr,
                aligned: entry.aligned(),
            },
            ird: entry.has_peer_ird().then_some(entry.peer_ird),
            ord: entry.has_peer_ord().then_some(entry.peer_ord),
        },
        EventKind::StreamRequest => Event::StreamRequest {
            conn: conn()?,
            port: entry.port,
            remote: Endpoint {
                ip: entry.remote_ip,
                port: entry.remote_port,
            },
        },
        EventKind::StreamEstablished => Event::StreamEstablished { conn: conn()?, qp },
        EventKind::StreamClosed => Event::StreamClosed {
            conn: conn()?,
            qp,
            reason: reason(entry.reason)?,
        },
        EventKind::Rejected => Event::Rejected {
            conn: conn()?,
            private_data: private_data(),
            ird,
            ord,
        },
        EventKind::ConnectError => Event::ConnectError {
            conn: conn()?,
            reason: failure(entry.failure)?,
        },
        EventKind::Disconnected => Event::Disconnected {
            conn: conn()?,
            qp,
            reason: reason(entry.reason)?,
        },
        EventKind::QpFatal => Event::QpFatal {
            qp,
            terminate: entry
                .has_terminate()
                .then_some(TerminateCode(entry.terminate)),
            received: entry.received(),
        },
        EventKind::SrqLimit => Event::SrqLimit {
            srq: SrqId::from_number(entry.srq),
        },
        EventKind::LastWqe => Event::LastWqe { qp },
        EventKind::Forgotten => Event::Forgotten { conn: conn()? },
        EventKind::Moved => Event::Moved { conn: conn()? },
    })
}
