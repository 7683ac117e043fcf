//! FPDUs made by software, for a queue pair of which the card frames nothing: each is written into the connection's send buffer and
//! goes out as one segment, from there; again, if it is lost.

use weft_layout::Job;
use weft_wire::ddp::DdpHeader;
use weft_wire::fpdu;

use crate::card::port::{Full, MemoryError, Port};
use crate::connection::in_flight::InFlight;
use crate::connection::link::Link;
use crate::interface::rung::Duties;
use crate::memory::job_data::Data;
use crate::queues::send_buffer::SendBuffer;

/// Why a segment did not go out.
pub(super) enum NotSent {
    /// The job ring is full.
    Full,
    /// Its payload could not be read.
    Unreadable,
}

impl<P: Port> Link<'_, P> {
    /// What the card does of what software frames. Where neither side asked for a CRC nobody has to do with one.
    fn crc_duties(&self) -> Option<Duties> {
        let software = self.qp.as_ref().filter(|qp| qp.software.is_some());
        software
            .filter(|_| self.conn.agreed.crc)
            .map(|qp| qp.rung.duties())
    }

    /// The card computes the CRCs of what software frames.
    pub fn card_makes_crc(&self) -> bool {
        self.crc_duties().is_some_and(|duties| duties.makes_crc)
    }

    /// The card walks over the FPDUs that come, and only checks them.
    pub fn card_only_checks(&self) -> bool {
        self.crc_duties().is_some_and(|duties| duties.checks_crc)
    }

    /// The card walks over the FPDUs that come: it places them, or only checks them.
    pub fn card_walks(&self) -> bool {
        let places = self.qp.as_ref().is_none_or(|qp| qp.software.is_none());
        places || self.card_only_checks()
    }

    /// Makes the FPDU that is the segment, and sends it. The number of its job.
    pub(super) fn post_fpdu(
        &mut self,
        buffer: SendBuffer,
        flow: u16,
        segment: &InFlight,
        tcp: Job,
    ) -> Result<u32, NotSent> {
        let append_crc = self.card_makes_crc();
        let own_crc = self.conn.agreed.crc && !append_crc;
        let mut wire = core::mem::take(&mut self.shared.buffers.wire);
        let made = self
            .make_fpdu(segment, own_crc, &mut wire)
            .and_then(|length| {
                let mut octets = wire.get(..length).unwrap_or_default();
                for (iova, count) in buffer.pieces(segment.seq, length as u32) {
                    let (now, later) = octets.split_at(count as usize);
                    self.port.copy_in(iova, now)?;
                    octets = later;
                }
                self.shared.stats.bytes_copied += length as u64;
                Ok(())
            });
        self.shared.buffers.wire = wire;
        made.map_err(|MemoryError| NotSent::Unreadable)?;
        let job = buffer.job(flow, (segment.seq, segment.end), append_crc, tcp);
        self.port
            .post_job(&job.to_bytes())
            .map_err(|Full| NotSent::Full)
    }

    /// Writes the FPDU of a segment (of one FPDU) to the front of `wire`, with its CRC or with an empty one; how long it is.
    fn make_fpdu(
        &mut self,
        segment: &InFlight,
        crc: bool,
        wire: &mut [u8],
    ) -> Result<usize, MemoryError> {
        let header = &segment.header;
        let ddp = if header.tagged {
            DdpHeader::tagged(
                segment.last,
                header.rdmap_control,
                header.stag_or_qn,
                header.to_or_mo,
            )
        } else {
            DdpHeader::untagged(
                segment.last,
                header.rdmap_control,
                header.rsvd_ulp,
                header.stag_or_qn,
                header.msn,
                header.to_or_mo as u32,
            )
        };
        let length = segment.length as usize;
        let ulpdu = ddp.length() + length;
        let mut fpdu =
            fpdu::Writer::new(ulpdu, segment.seq, self.conn.tx_markers, wire).ok_or(MemoryError)?;
        fpdu.put(&ddp.to_bytes()[..ddp.length()]);
        match &segment.data {
            Data::Inline(bytes) => fpdu.put(bytes.get(..length).unwrap_or_default()),
            Data::Gather(pieces) => {
                for piece in pieces.iter().filter(|piece| piece.length > 0) {
                    let mut at = piece.iova;
                    fpdu.fill(piece.length as usize, |octets| {
                        self.port.copy_out(at, octets)?;
                        at = at.wrapping_add(octets.len() as u64);
                        Ok(())
                    })?;
                }
            }
        }
        let wire_length = fpdu.finish(crc);
        let stats = &mut self.shared.stats;
        stats.fpdus_made += 1;
        stats.bytes_copied += length as u64;
        stats.bytes_checked += if crc { wire_length as u64 } else { 0 };
        Ok(wire_length)
    }
}
