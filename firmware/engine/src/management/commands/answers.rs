//! Answers as records: errors, and what was asked for.

use core::fmt;

use weft_layout::{Answer, CommandStatus};

use super::adoption::{impossible, impossible_number};
use super::{
    congestion, congestion_number, rtr_bits, rtr_kinds, rung, rung_number, state, state_number,
};
use crate::interface::cm::{Agreed, ConnId, Endpoint};
use crate::interface::error::Error;
use crate::interface::rung::{Rung, RungError};
use crate::interface::verbs::QpState;
use crate::management::conn_info::ConnInfo;
use crate::queues::srq::SrqState;

/// Why a command was refused. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// By the engine.
    Engine(Error),
    /// A queue pair does not go from the state that it is in to the one asked for because somebody commands it.
    NoTransition {
        /// Its state.
        from: QpState,
    },
    /// Nobody understands the command.
    Malformed,
    /// Nobody understands the answer, or there is none.
    NoAnswer,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Engine(error)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Engine(error) => error.fmt(f),
            Refusal::NoTransition { from } => {
                write!(
                    f,
                    "a queue pair in state {from:?} is not moved there by command"
                )
            }
            Refusal::Malformed => f.write_str("the command was not understood"),
            Refusal::NoAnswer => f.write_str("the command has no answer that is one"),
        }
    }
}

impl core::error::Error for Refusal {}

/// The answer to a command that was refused.
pub fn refused(refusal: Refusal) -> Answer {
    use CommandStatus as S;
    let mut answer = Answer::default();
    let status = match refusal {
        Refusal::Malformed | Refusal::NoAnswer => S::Malformed,
        Refusal::NoTransition { from } => {
            answer.state = state_number(from);
            S::NoTransition
        }
        Refusal::Engine(error) => match error {
            Error::UnknownPd => S::UnknownPd,
            Error::UnknownQp => S::UnknownQp,
            Error::UnknownConnection => S::UnknownConnection,
            Error::UnknownStag(stag) => {
                answer.stag = stag;
                S::UnknownStag
            }
            Error::InvalidRegion => S::InvalidRegion,
            Error::NoStags => S::NoStags,
            Error::NoFlows => S::NoFlows,
            Error::NoFlowKey => S::NoFlowKey,
            Error::NoConnections => S::NoConnections,
            Error::NoMemory => S::NoMemory,
            Error::NoPorts => S::NoPorts,
            Error::InvalidQpConfig => S::InvalidQpConfig,
            Error::WrongQpState => S::WrongQpState,
            Error::WrongConnectionState => S::WrongConnectionState,
            Error::UnknownXrcd => S::UnknownXrcd,
            Error::WrongQpKind => S::WrongQpKind,
            Error::UnknownSrq => S::UnknownSrq,
            Error::InvalidSrq => S::InvalidSrq,
            Error::InUse => S::InUse,
            Error::PortInUse(port) => {
                answer.port = port;
                S::PortInUse
            }
            Error::PrivateDataTooLong { given, limit } => {
                answer.given = given.try_into().unwrap_or(u32::MAX);
                answer.limit = limit.try_into().unwrap_or(u32::MAX);
                S::PrivateDataTooLong
            }
            Error::InvalidReadDepth(depth) => {
                answer.given = depth.into();
                S::InvalidReadDepth
            }
            Error::InvalidPeerToPeer => S::InvalidPeerToPeer,
            Error::InvalidAligned => S::InvalidAligned,
            Error::InvalidAddress => S::InvalidAddress,
            Error::Rung(rung, why) => {
                answer.rung = rung_number(rung);
                match why {
                    RungError::NoProcessor => S::RungNoProcessor,
                    RungError::OnCard => S::RungOnCard,
                    RungError::NoFastPath => S::RungNoFastPath,
                    RungError::NoSendBuffer => S::RungNoSendBuffer,
                }
            }
            // Of work requests: no command ends like that.
            Error::WrongPd(_)
            | Error::OutOfBounds { .. }
            | Error::NeedsLocalWrite(_)
            | Error::NeedsReadSink(_)
            | Error::QueueFull
            | Error::HasSrq
            | Error::NotBindable(_)
            | Error::NeedsRight(_)
            | Error::AtomicPayload
            | Error::TooManySges(_)
            | Error::InlineTooLong(_)
            | Error::InlineRead
            | Error::NoPayloadAllowed
            | Error::MessageTooLong
            | Error::NoReadsAllowed => S::Malformed,
            Error::InvalidHandover(why) => {
                answer.given = impossible_number(why);
                S::InvalidHandover
            }
        },
    };
    Answer {
        status: status as u8,
        ..answer
    }
}

/// What became of a command: done, or refused.
pub fn outcome(answer: &Answer) -> Result<(), Refusal> {
    use CommandStatus as S;
    let status = answer.status().map_err(|_| Refusal::NoAnswer)?;
    Err(Refusal::Engine(match status {
        S::Done => return Ok(()),
        S::Malformed => return Err(Refusal::Malformed),
        S::NoTransition => {
            return Err(Refusal::NoTransition {
                from: state_of(answer)?,
            })
        }
        S::UnknownPd => Error::UnknownPd,
        S::UnknownQp => Error::UnknownQp,
        S::UnknownConnection => Error::UnknownConnection,
        S::UnknownStag => Error::UnknownStag(answer.stag),
        S::InvalidRegion => Error::InvalidRegion,
        S::NoStags => Error::NoStags,
        S::NoFlows => Error::NoFlows,
        S::NoFlowKey => Error::NoFlowKey,
        S::NoConnections => Error::NoConnections,
        S::NoMemory => Error::NoMemory,
        S::NoPorts => Error::NoPorts,
        S::InvalidQpConfig => Error::InvalidQpConfig,
        S::WrongQpState => Error::WrongQpState,
        S::WrongConnectionState => Error::WrongConnectionState,
        S::UnknownXrcd => Error::UnknownXrcd,
        S::WrongQpKind => Error::WrongQpKind,
        S::UnknownSrq => Error::UnknownSrq,
        S::InvalidSrq => Error::InvalidSrq,
        S::InUse => Error::InUse,
        S::PortInUse => Error::PortInUse(answer.port),
        S::PrivateDataTooLong => Error::PrivateDataTooLong {
            given: answer.given as usize,
            limit: answer.limit as usize,
        },
        S::InvalidReadDepth => Error::InvalidReadDepth(answer.given as u16),
        S::InvalidPeerToPeer => Error::InvalidPeerToPeer,
        S::InvalidAligned => Error::InvalidAligned,
        S::InvalidAddress => Error::InvalidAddress,
        S::RungNoProcessor => Error::Rung(rung_of(answer)?, RungError::NoProcessor),
        S::RungOnCard => Error::Rung(rung_of(answer)?, RungError::OnCard),
        S::RungNoFastPath => Error::Rung(rung_of(answer)?, RungError::NoFastPath),
        S::RungNoSendBuffer => Error::Rung(rung_of(answer)?, RungError::NoSendBuffer),
        S::InvalidHandover => {
            Error::InvalidHandover(impossible(answer.given).ok_or(Refusal::NoAnswer)?)
        }
    }))
}

/// How a shared receive queue stands that was asked for.
pub fn srq_state_of(answer: &Answer) -> SrqState {
    SrqState {
        limit: answer.srq_limit,
        waiting: answer.srq_waiting,
    }
}

/// The state of a queue pair that was asked for.
pub fn state_of(answer: &Answer) -> Result<QpState, Refusal> {
    state(answer.state).ok_or(Refusal::NoAnswer)
}

/// The rung of a queue pair that was asked for.
pub fn rung_of(answer: &Answer) -> Result<Rung, Refusal> {
    rung(answer.rung).ok_or(Refusal::NoAnswer)
}

/// Tells of a queue pair's state, rung and connection.
pub(crate) fn describe(state: QpState, rung: Rung, connection: Option<ConnInfo>) -> Answer {
    let answer = Answer {
        state: state_number(state),
        rung: rung_number(rung),
        ..Answer::default()
    };
    let Some(info) = connection else {
        return answer;
    };
    let agreed = info.agreed.unwrap_or_default();
    Answer {
        conn: info.conn.number(),
        local_ip: info.local.ip,
        local_port: info.local.port,
        remote_ip: info.remote.ip,
        remote_port: info.remote.port,
        next_hop: info.next_hop,
        revision: agreed.revision,
        rtr: rtr_bits(agreed.rtr.unwrap_or_default()),
        ird: agreed.ird,
        ord: agreed.ord,
        congestion: congestion_number(info.congestion),
        round_trip: info.round_trip.unwrap_or(0),
        timeout: info.timeout,
        recoveries: info.recoveries,
        segment: info.segment,
        congestion_window: info.congestion_window,
        peer_window: info.peer_window,
        in_flight: info.in_flight,
        ..answer
    }
    .with_has_connection(true)
    .with_agreed(info.agreed.is_some())
    .with_has_rtr(agreed.rtr.is_some())
    .with_crc(agreed.crc)
    .with_markers_sent(agreed.markers_sent)
    .with_markers_received(agreed.markers_received)
    .with_aligned(agreed.aligned)
    .with_ecn(info.ecn)
    .with_has_round_trip(info.round_trip.is_some())
}

/// The connection of a queue pair that was asked for, if it has one.
pub fn connection_of(answer: &Answer) -> Result<Option<ConnInfo>, Refusal> {
    let nonsense = Refusal::NoAnswer;
    if !answer.has_connection() {
        return Ok(None);
    }
    let rtr = rtr_kinds(answer.rtr).ok_or(nonsense)?;
    let agreed = Agreed {
        revision: answer.revision,
        crc: answer.crc(),
        markers_sent: answer.markers_sent(),
        markers_received: answer.markers_received(),
        ird: answer.ird,
        ord: answer.ord,
        rtr: answer.has_rtr().then_some(rtr),
        aligned: answer.aligned(),
    };
    Ok(Some(ConnInfo {
        conn: ConnId::from_number(answer.conn).ok_or(nonsense)?,
        local: Endpoint {
            ip: answer.local_ip,
            port: answer.local_port,
        },
        remote: Endpoint {
            ip: answer.remote_ip,
            port: answer.remote_port,
        },
        next_hop: answer.next_hop,
        agreed: answer.agreed().then_some(agreed),
        ecn: answer.ecn(),
        segment: answer.segment,
        round_trip: answer.has_round_trip().then_some(answer.round_trip),
        timeout: answer.timeout,
        congestion: congestion(answer.congestion).ok_or(nonsense)?,
        congestion_window: answer.congestion_window,
        peer_window: answer.peer_window,
        in_flight: answer.in_flight,
        recoveries: answer.recoveries,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_comes_back_as_it_was() {
        let (given, limit) = (700, 508);
        for error in [
            Error::UnknownPd,
            Error::UnknownQp,
            Error::UnknownConnection,
            Error::UnknownStag(0x0123_4567),
            Error::InvalidRegion,
            Error::NoStags,
            Error::NoFlows,
            Error::NoFlowKey,
            Error::NoConnections,
            Error::NoMemory,
            Error::NoPorts,
            Error::InvalidQpConfig,
            Error::WrongQpState,
            Error::WrongConnectionState,
            Error::InUse,
            Error::UnknownSrq,
            Error::InvalidSrq,
            Error::UnknownXrcd,
            Error::WrongQpKind,
            Error::PortInUse(65535),
            Error::PrivateDataTooLong { given, limit },
            Error::InvalidReadDepth(0xfffe),
            Error::InvalidPeerToPeer,
            Error::InvalidAligned,
            Error::InvalidAddress,
            Error::Rung(Rung::Crc, RungError::NoSendBuffer),
            Error::Rung(Rung::Firmware, RungError::NoProcessor),
            Error::Rung(Rung::Placement, RungError::OnCard),
            Error::Rung(Rung::Full, RungError::NoFastPath),
            Error::Rung(Rung::Host, RungError::NoSendBuffer),
            Error::InvalidHandover(weft_tcp::handover::Impossible::Sent),
            Error::InvalidHandover(weft_tcp::handover::Impossible::TooLong),
        ] {
            assert_eq!(outcome(&refused(error.into())), Err(error.into()));
        }
        for from in [QpState::Idle, QpState::Terminating] {
            let refusal = Refusal::NoTransition { from };
            assert_eq!(outcome(&refused(refusal)), Err(refusal));
        }
        let malformed = outcome(&refused(Refusal::Malformed));
        assert_eq!(malformed, Err(Refusal::Malformed));
        assert_eq!(outcome(&Answer::default()), Ok(()));
    }

    #[test]
    fn an_answer_that_is_none() {
        let status = Answer {
            status: 200,
            ..Answer::default()
        };
        assert_eq!(outcome(&status), Err(Refusal::NoAnswer));
        let answer = Answer {
            state: 99,
            congestion: 99,
            ..Answer::default()
        };
        assert_eq!(state_of(&answer), Err(Refusal::NoAnswer));
        assert_eq!(connection_of(&answer), Ok(None));
        let answer = answer.with_has_connection(true);
        assert_eq!(connection_of(&answer), Err(Refusal::NoAnswer));
    }
}
