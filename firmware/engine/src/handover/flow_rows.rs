//! The rows of a flow in the card: bound to a connection, and left by it.

use weft_layout::{table, AttachRow, FlowRxRow, FlowTxRow};

use crate::card::port::Port;
use crate::connection::link::Link;
use crate::handover::flow::ReplayPolicy;

/// Octets of payload that several FPDUs in a segment have at most.
const MAX_PACK: u32 = 2048;

impl<P: Port> Link<'_, P> {
    /// Writes the flow's rows, or writes them again with what is agreed by now. False if the
    /// flow lookup has no room.
    pub fn bind(&mut self) -> bool {
        let Some(qp) = self.qp.as_ref() else {
            return false;
        };
        let flow = qp.id.flow();
        let conn = &mut *self.conn;
        let bound = conn.handover.is_bound();
        if !bound {
            let epoch = self.shared.flows.next_epoch(flow);
            let policy = match self.shared.config.on_card {
                true => ReplayPolicy::ON_CARD,
                false => ReplayPolicy::HOST,
            };
            conn.handover.bind(epoch, policy);
        }
        let bit = |set: bool, bit: u8| if set { bit } else { 0 };
        let tx = FlowTxRow {
            flags: bit(conn.tx_markers.0.is_some(), FlowTxRow::MARKERS)
                | bit(conn.agreed.crc, FlowTxRow::CRC)
                | FlowTxRow::VALID
                | bit(conn.timestamps, FlowTxRow::TIMESTAMPS),
            ttl: 64,
            tos: conn.tos,
            remote_mac: conn.remote_mac,
            local_mac: self.shared.config.mac,
            local_ip: conn.local.ip,
            remote_ip: conn.remote.ip,
            local_port: conn.local.port.to_be_bytes(),
            remote_port: conn.remote.port.to_be_bytes(),
            marker_base: conn.tx_markers.0.unwrap_or(0),
            pack: match self.shared.config.pack {
                true => conn.sender.mss.min(MAX_PACK) as u16,
                false => 0,
            },
        };
        self.port
            .write_table(table::FLOW_TX, u32::from(flow), &tx.to_bytes());
        self.write_receive_row();
        if bound {
            return true;
        }
        self.port.attach(flow, &AttachRow::default());
        let conn = &mut *self.conn;
        let keys = &mut self.shared.flows;
        let known = keys.insert(flow, conn.remote, conn.local, self.port);
        if !known {
            conn.handover.bind_failed();
        }
        known
    }

    /// Writes FLOW_RX, or writes it again with what is known by now.
    pub fn write_receive_row(&mut self) {
        let Some(qp) = self.qp.as_ref() else {
            return;
        };
        let (check_only, walks) = (self.card_only_checks(), self.card_walks());
        let conn = &*self.conn;
        let markers = conn.rx_markers.0.is_some();
        let certain = self.shared.config.beyond && (markers || conn.agreed.aligned);
        // A segment cut at random has no certain framing beyond a gap.
        let cut = !certain || conn.handover.was_cut();
        let carry = self.shared.config.carry && cut && !check_only;
        let beyond = certain && !carry && !check_only;
        let rx = FlowRxRow {
            rq_log2: qp.rq.log2(),
            epoch: conn.handover.epoch(),
            pd: qp.config.pd.number(),
            marker_base: conn.rx_markers.0.unwrap_or(0),
            rq_base: qp.rq.iova,
            flags: self.shared.config.split.row_flags(),
        }
        .with_valid(conn.committed && walks)
        .with_markers(markers)
        .with_crc(conn.agreed.crc)
        .with_timestamps(conn.timestamps)
        .with_check_only(check_only)
        .with_carry(carry)
        .with_beyond(beyond);
        let flow = u32::from(qp.id.flow());
        self.port.write_table(table::FLOW_RX, flow, &rx.to_bytes());
    }

    /// The card no longer frames and places anything of this flow.
    pub fn detach(&mut self) {
        let Some(qp) = self.qp.as_ref() else {
            return;
        };
        if self.conn.handover.is_bound() {
            let flow = qp.id.flow();
            self.conn.handover.take_away();
            // Not valid; but its reports go on, and are this binding's.
            let rx = FlowRxRow {
                flags: self.shared.config.split.row_flags(),
                epoch: self.conn.handover.epoch(),
                ..FlowRxRow::default()
            };
            self.port
                .write_table(table::FLOW_RX, u32::from(flow), &rx.to_bytes());
            self.port.attach(flow, &AttachRow::default());
        }
    }

    /// The card no longer knows the flow.
    pub fn unbind(&mut self) {
        self.detach();
        if let (Some(qp), true) = (self.qp.as_ref(), self.conn.handover.is_bound()) {
            let flow = qp.id.flow();
            let job = self.conn.handover.out_of_order.last_job();
            if let Some(job) = job.filter(|job| !self.is_done(*job)) {
                self.shared.flows.leave_with_replays(flow, job);
            }
            self.shared.flows.remove(flow, self.port);
            self.conn.handover.leave(flow);
        }
    }
}
