//! What was sent and is not yet acknowledged: each segment is a message, or a piece of one, that one
//! job sent. A retransmission is made from it.

use weft_layout::{Job, JobKind};
use weft_wire::ddp::{TAGGED_HEADER, UNTAGGED_HEADER};
use weft_wire::fpdu::Markers;

use crate::memory::job_data::{Data, JOB_INLINE};
use crate::memory::region::RegionRef;

/// FPDUs that one segment holds at most.
pub const MAX_FPDUS: usize = 64;

/// Where a slot's inline payload begins.
const INLINE_AT: usize = 64;
/// The header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Tagged.
    pub tagged: bool,
    /// RDMAP control byte.
    pub rdmap_control: u8,
    /// STag or queue number.
    pub stag_or_qn: u32,
    /// MSN (untagged).
    pub msn: u32,
    /// TO or MO of the first byte.
    pub to_or_mo: u64,
    /// Invalidate STag (untagged).
    pub rsvd_ulp: u32,
}

impl Header {
    /// Bytes of the DDP header.
    pub fn length(&self) -> usize {
        if self.tagged {
            TAGGED_HEADER
        } else {
            UNTAGGED_HEADER
        }
    }
}

/// Who is to know when the segment is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The send queue's work request of this number; true: its last segment.
    Request(u32, bool),
    /// Nobody: Read Requests (their response counts), Read Responses, RTR, Terminate.
    Silent,
}

/// A segment.
#[derive(Clone, Copy, Debug)]
pub struct InFlight {
    /// First sequence number.
    pub seq: u32,
    /// The one behind the last.
    pub end: u32,
    /// Header of its first FPDU.
    pub header: Header,
    /// The message ends with it.
    pub last: bool,
    /// Payload bytes.
    pub length: u32,
    /// Payload bytes of each FPDU but the last.
    pub fpdu_payload: u16,
    /// Payload.
    pub data: Data,
    /// The region that the payload may be read from only as long as it stands: the peer's Read asked for it.
    /// That of a work request stands until its completion.
    pub region: Option<RegionRef>,
    /// Number of the newest job for any of it.
    pub job: u32,
    /// Number of the job that sent all of it first.
    pub first_job: u32,
    /// Who is to know.
    pub origin: Origin,
}

/// How much of a message goes out at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Payload bytes.
    pub payload: u32,
    /// Octets on the wire.
    pub wire: u32,
    /// It is all that was left of the message.
    pub whole: bool,
}

/// How much of `left` payload bytes, in FPDUs that begin at `seq`, fits into `room` octets. `None` if
/// not even one FPDU does.
pub fn fit(
    markers: Markers,
    seq: u32,
    header: usize,
    fpdu_payload: u32,
    left: u32,
    room: u32,
) -> Option<Fit> {
    let mut fit = Fit {
        payload: 0,
        wire: 0,
        whole: false,
    };
    let mut first = 0;
    if markers == Markers::OFF && fpdu_payload > 0 {
        // All of one length: as many as there is room and payload for, but for the last.
        let wire = markers.fpdu_length(seq, header + fpdu_payload as usize) as u32;
        let most = (MAX_FPDUS as u32 - 1).min(left.saturating_sub(1) / fpdu_payload);
        let count = most.min(room / wire.max(1));
        (fit.payload, fit.wire) = (count * fpdu_payload, count * wire);
        first = count as usize;
    }
    for _ in first..MAX_FPDUS {
        let payload = (left - fit.payload).min(fpdu_payload);
        let wire = markers.fpdu_length(seq.wrapping_add(fit.wire), header + payload as usize);
        if fit.wire.saturating_add(wire as u32) > room {
            break;
        }
        fit.payload += payload;
        fit.wire += wire as u32;
        if fit.payload == left {
            fit.whole = true;
            break;
        }
    }
    (fit.wire > 0).then_some(fit)
}

/// One FPDU of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// First sequence number.
    pub seq: u32,
    /// The one behind the last.
    pub end: u32,
    /// Payload before it.
    pub offset: u32,
    /// Its payload.
    pub length: u32,
}

impl InFlight {
    /// The FPDU that holds `seq`.
    pub fn fpdu_at(&self, markers: Markers, seq: u32) -> Slice {
        let mut slice = Slice {
            seq: self.seq,
            end: self.seq,
            offset: 0,
            length: 0,
        };
        for _ in 0..=MAX_FPDUS {
            slice.seq = slice.end;
            slice.offset += slice.length;
            slice.length = (self.length - slice.offset).min(u32::from(self.fpdu_payload));
            let ulpdu = self.header.length() + slice.length as usize;
            slice.end = slice
                .seq
                .wrapping_add(markers.fpdu_length(slice.seq, ulpdu) as u32);
            if weft_tcp::seq::lt(seq, slice.end) || slice.end == self.end {
                break;
            }
        }
        slice
    }

    /// The slot of the job that sends `slice` of the segment; `tcp` has the acknowledgment, window,
    /// flags and timestamps.
    pub fn slot(&self, flow: u16, slice: &Slice, tcp: Job) -> [u8; Job::SIZE] {
        let last = self.last && slice.end == self.end;
        let mut job = Job {
            kind: JobKind::Message.raw(),
            flags: tcp.flags
                | if self.header.tagged { Job::TAGGED } else { 0 }
                | if last { Job::LAST } else { 0 },
            flow,
            seq: slice.seq,
            length: slice.length,
            fpdu_payload: self.fpdu_payload,
            rdmap_control: self.header.rdmap_control,
            stag_or_qn: self.header.stag_or_qn,
            msn: self.header.msn,
            to_or_mo: self.header.to_or_mo.wrapping_add(u64::from(slice.offset)),
            rsvd_ulp: self.header.rsvd_ulp,
            ..tcp
        };
        let whole = slice.length == self.length;
        let data = if whole {
            self.data
        } else {
            self.data.slice(slice.offset, slice.length)
        };
        match data {
            Data::Inline(_) if slice.length == 0 => job.to_bytes(),
            Data::Inline(bytes) => {
                job.flags |= Job::INLINE_PAYLOAD;
                let mut slot = job.to_bytes();
                slot[INLINE_AT..INLINE_AT + JOB_INLINE].copy_from_slice(&bytes);
                slot
            }
            Data::Gather(pieces) => {
                job.sge_count = pieces.iter().filter(|piece| piece.length > 0).count() as u8;
                let [a, b, c, d] = pieces;
                (job.sge0_iova, job.sge0_length) = (a.iova, a.length);
                (job.sge1_iova, job.sge1_length) = (b.iova, b.length);
                (job.sge2_iova, job.sge2_length) = (c.iova, c.length);
                (job.sge3_iova, job.sge3_length) = (d.iova, d.length);
                job.to_bytes()
            }
        }
    }

    /// The slice that is all of it.
    pub fn whole(&self) -> Slice {
        Slice {
            seq: self.seq,
            end: self.end,
            offset: 0,
            length: self.length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is reckoned without markers is what goes in one by one.
    #[test]
    fn as_many_fit_as_go_in_one_by_one() {
        for (left, room) in
            (0..200).flat_map(|left| (0..300).map(move |room| (left * 7, room * 11)))
        {
            let fitted = fit(Markers::OFF, 5, TAGGED_HEADER, 20, left, room);
            let (mut payload, mut wire, mut count) = (0, 0, 0);
            while count < MAX_FPDUS {
                let next = (left - payload).min(20);
                let length = Markers::OFF.fpdu_length(0, TAGGED_HEADER + next as usize) as u32;
                if wire + length > room {
                    break;
                }
                (payload, wire, count) = (payload + next, wire + length, count + 1);
                if payload == left {
                    break;
                }
            }
            let whole = count > 0 && payload == left;
            let expected = (count > 0).then_some(Fit {
                payload,
                wire,
                whole,
            });
            assert_eq!(fitted, expected, "{left} bytes into {room}");
        }
    }
}
