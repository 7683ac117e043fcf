//! What the card has placed beyond a gap means nothing until the stream has come to it.

use weft_layout::FpduReport;
use weft_wire::ddp::{DdpHeader, Target};
use weft_wire::rdmap::{opcode, opcode_of, queue};
use weft_wire::terminate::TerminateCode;

use crate::card::port::Port;
use crate::connection::link::Link;
use crate::queues::qp::Qp;
use crate::rdmap::early::Run;
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

    /// It comes now. The first FPDU of a message of queue 0 says whether it is its turn, the last one how it ends.
    fn pass(&mut self, run: &Run) -> Result<(), Fault> {
        let (ulpdu, header) = run.front();
        if let Target::Tagged { stag, to } = header.target {
            let response = self.read_response(stag, to, run.length, run.last);
            return response.map_err(|code| Fault::about(code, ulpdu, &header));
        }
        let (last_ulpdu, last) = run.back();
        let length = (last_ulpdu - last.length()) as u32;
        if header != last {
            self.deliver(&header, ulpdu, run.length - length, &[])?;
        }
        self.ends(&last);
        self.deliver(&last, last_ulpdu, length, &[])
    }
}
