//! What the card has placed beyond a gap means nothing until the stream has come to it.

use weft_layout::FpduReport;
use weft_wire::ddp::{DdpHeader, Target};
use weft_wire::rdmap::{opcode, opcode_of, queue};
use weft_wire::terminate::TerminateCode;

use crate::card::port::Port;
use crate::connection::link::Link;
use crate::queues::qp::Qp;
use crate::rdmap::early::Run;
use crate::rdmap::ends::ended;
use crate::rdmap::fault::Fault;

/// Ranges beyond a gap that a card keeps of a flow at most, and a segment with which it left the flow: each ends in a message at most.
pub const CUTS: usize = 8 + 1;

/// Each other run ends its response or its message of queue 0.
fn most(qp: &Qp) -> usize {
    let posted = qp.rq.posted.wrapping_sub(qp.rq.completed) as usize;
    qp.reads.len() + posted + CUTS
}

impl<P: Port> Link<'_, P> {
    /// An FPDU was placed beyond a gap. What follows from it waits for the stream; from a Write nothing does.
    pub fn placed_early(&mut self, report: &FpduReport, header: &DdpHeader) {
        let too_many = match header.target {
            Target::Tagged { .. } if opcode_of(header.rdmap_control) == opcode::READ_RESPONSE => {
                TerminateCode::RDMAP_OPCODE
            }
            Target::Untagged {
                qn: queue::SEND, ..
            } => TerminateCode::DDP_MSN,
            _ => return,
        };
        let run = Run::of(report, header, self.conn.rx_markers);
        let most = self.qp.as_deref().map_or(0, most);
        if !self.conn.early.add(run, most) {
            self.shared.stats.responses_unasked += u64::from(header.is_tagged());
            let (ulpdu, header) = run.front();
            self.fault(&Fault::about(too_many, ulpdu, &header));
        }
    }

    /// The stream has come to messages that were placed before, or not yet.
    pub fn pass_early(&mut self) {
        if self.conn.early.is_empty() {
            return;
        }
        while self.conn.phase.receives() {
            let next = self.conn.reassembly.base();
            let Some(run) = self.conn.early.passed(next) else {
                return;
            };
            if let Err(fault) = self.pass(&run) {
                self.fault(&fault);
            }
        }
        self.conn.early.forget();
    }

    /// It comes now. The card has placed a message of queue 0 where it says it belongs: here is known whether that is its turn.
    fn pass(&mut self, run: &Run) -> Result<(), Fault> {
        let (ulpdu, header) = run.front();
        let fault = |code| Fault::about(code, ulpdu, &header);
        let (msn, mo) = match header.target {
            Target::Tagged { stag, to } => {
                let response = self.read_response(stag, to, run.length, run.last);
                return response.map_err(fault);
            }
            Target::Untagged { msn, mo, .. } => (msn, mo),
        };
        let expected = self.qp.as_ref().map(|qp| qp.expected);
        let expected = expected.ok_or(fault(TerminateCode::DDP_LOCAL))?;
        let is_next = expected.expect(msn, mo);
        is_next.map_err(|violation| fault(violation.of_segment()))?;
        let (ulpdu, header) = run.back();
        let ended = ended(&self.shared.config, header.control, header.rdmap_control);
        self.conn.ack.ends(ended);
        self.deliver(&header, ulpdu, run.length, &[])
    }
}
