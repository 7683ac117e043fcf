//! Commands, answers and events as records: what the calls and the events of an [`Engine`](crate::Engine) are where they cross memory
//! (`docs/queues.md`).
//!
//! Who commands builds a [`Command`] with one of the functions here and reads the [`Answer`] by [`outcome`] and what stands
//! beside it. Whoever has the engine gives each command to [`Engine::execute`](crate::Engine::execute), and each event to
//! [`entry_of`]. Nothing in a record is believed: numbers that name nothing are refused, values without meaning are
//! [`Refusal::Malformed`].

mod adoption;
mod answers;
mod controllers;
mod entries;
mod params;
mod requests;

pub(crate) use adoption::stream_of;
pub use adoption::{adopt, start_mpa, stream_record};
pub(crate) use answers::describe;
pub use answers::{connection_of, outcome, refused, rung_of, srq_state_of, state_of, Refusal};
pub(crate) use controllers::{congestion, congestion_number};
pub use entries::{entry_of, event_of};
pub use params::{accept_params, connect_params};
pub use requests::{
    abort, accept, alloc_pd, alloc_stag, alloc_xrcd, connect, create_qp, create_qp_with_srq,
    create_srq, create_xrc_initiator, create_xrc_srq, create_xrc_target, dealloc_pd, dealloc_xrcd,
    deregister, destroy_qp, destroy_srq, disconnect, forget, listen, modify_qp, modify_srq,
    query_qp, query_srq, register, reject, resolve, unlisten,
};
pub use weft_layout::{Answer, Command, EventEntry};

use weft_layout::{PartitionRung, QueuePairState, StagKind as StagKindNumber};
use weft_wire::mpa::RtrKinds;

use crate::interface::cm::ConnId;
use crate::interface::rung::Rung;
use crate::interface::verbs::{PdId, QpId, QpState, StagKind};

/// Two enumerations with the same names, one of them a record's: there and back.
macro_rules! same {
    ($engine:ty, $record:ty, $to:ident, $from:ident: $($name:ident)+) => {
        pub(crate) fn $to(value: $engine) -> u8 {
            (match value {
                $(<$engine>::$name => <$record>::$name,)+
            }) as u8
        }
        pub(crate) fn $from(value: u8) -> Option<$engine> {
            Some(match <$record>::try_from(value).ok()? {
                $(<$record>::$name => <$engine>::$name,)+
            })
        }
    };
}
pub(crate) use same;

same!(QpState, QueuePairState, state_number, state: Idle Rts Closing Terminating Error);
same!(StagKind, StagKindNumber, stag_kind_number, stag_kind: Window1 Window2 FastRegion);
same!(Rung, PartitionRung, rung_number, rung: Host CrcSend Crc Placement Firmware Full);

impl Rung {
    /// Its number in commands, which stays whatever rungs are added.
    pub fn number(self) -> u8 {
        rung_number(self)
    }
}

impl PdId {
    /// The domain of a [`number`](Self::number), if there is one.
    pub fn from_number(number: u32) -> Self {
        PdId(number)
    }
}

impl QpId {
    /// Its number in commands and events.
    pub fn number(self) -> u32 {
        u32::from(self.flow) | u32::from(self.generation) << 16
    }

    /// The queue pair of a [`number`](Self::number), if there is one.
    pub fn from_number(number: u32) -> Self {
        QpId {
            flow: number as u16,
            generation: (number >> 16) as u16,
        }
    }
}

impl ConnId {
    /// Its number in commands and events.
    pub fn number(self) -> u64 {
        u64::from(self.slot) | u64::from(self.generation) << 16
    }

    /// The connection of a [`number`](Self::number), if there is one; `None`: no connection has such a number.
    pub fn from_number(number: u64) -> Option<Self> {
        Some(ConnId {
            slot: number as u16,
            generation: u32::try_from(number >> 16).ok()?,
        })
    }
}

/// The three records that have RTR kinds have the same bits.
const _: () = assert!(
    Command::RTR_SEND == Answer::RTR_SEND
        && Command::RTR_SEND == EventEntry::RTR_SEND
        && Command::RTR_WRITE == Answer::RTR_WRITE
        && Command::RTR_WRITE == EventEntry::RTR_WRITE
        && Command::RTR_READ == Answer::RTR_READ
        && Command::RTR_READ == EventEntry::RTR_READ
        && Command::RTR_FRAME == Answer::RTR_FRAME
        && Command::RTR_FRAME == EventEntry::RTR_FRAME
);

const RTR: [(RtrKinds, u8); 4] = [
    (RtrKinds::SEND, Command::RTR_SEND),
    (RtrKinds::WRITE, Command::RTR_WRITE),
    (RtrKinds::READ, Command::RTR_READ),
    (RtrKinds::FRAME, Command::RTR_FRAME),
];

pub(crate) fn rtr_bits(kinds: RtrKinds) -> u8 {
    let has = RTR.iter().filter(|(kind, _)| kinds.contains(*kind));
    has.fold(0, |bits, (_, bit)| bits | bit)
}

/// `None`: a bit has no meaning.
pub(crate) fn rtr_kinds(bits: u8) -> Option<RtrKinds> {
    let set = RTR.iter().filter(|(_, bit)| bits & bit != 0);
    let kinds = set.fold(RtrKinds::NONE, |kinds, (kind, _)| kinds.union(*kind));
    (rtr_bits(kinds) == bits).then_some(kinds)
}
