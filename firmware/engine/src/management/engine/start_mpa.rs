//! A stream of plain bytes that becomes an RDMA connection.

use super::connections::proposal;
use super::Engine;
use crate::card::port::Port;
use crate::connection::conn::{Phase, TcpState, MIN_SEGMENT};
use crate::interface::cm::{ConnId, StartMpa};
use crate::interface::error::Error;
use crate::streaming::ring::StreamToMpa;
use weft_tcp::handover::Impossible;
use weft_wire::mpa::Extensions;

impl Engine {
    /// Ends a stream's plain bytes: what was written is the last streaming message; nothing more can be written, and what was not read
    /// belongs to MPA. MPA begins when the peer has acknowledged everything. Of a stream that neither side has closed; who begins the
    /// start-up has to have read all that has come.
    pub fn start_mpa<P: Port>(
        &mut self,
        now: u64,
        conn: ConnId,
        how: &StartMpa<'_>,
        port: &mut P,
    ) -> Result<(), Error> {
        let slot = self.slot_of(conn)?;
        let found = self.standing(slot)?;
        let asked = found
            .byte_stream
            .as_ref()
            .is_some_and(|b| b.stream_to_mpa.is_some());
        let active = matches!(how, StartMpa::Active(_));
        if found.phase != Phase::Established
            || found.tcp != TcpState::Open
            || found.peer_fin_done
            || asked
            || active && found.reassembly.available() > 0
        {
            return Err(Error::WrongConnectionState);
        }
        if found.sender.mss < u32::from(MIN_SEGMENT) {
            return Err(Error::InvalidHandover(Impossible::Mss));
        }
        let begin = match how {
            StartMpa::Active(params) => {
                self.check_reads(params.ird, params.ord)?;
                let proposal = proposal(params, Extensions::NONE)?;
                StreamToMpa::Active(proposal, params.private_data.to_vec())
            }
            StartMpa::Passive => StreamToMpa::Passive,
            StartMpa::Past(agreed) => {
                if agreed.aligned && !agreed.crc {
                    return Err(Error::InvalidAligned);
                }
                self.check_reads(agreed.ird, agreed.ord)?;
                StreamToMpa::Past(*agreed)
            }
        };
        if let Some(bytes) = self.stream_mut(slot)?.byte_stream.as_mut() {
            bytes.stream_to_mpa = Some(begin);
        }
        self.run(now, slot, port, |_| ());
        Ok(())
    }
}
