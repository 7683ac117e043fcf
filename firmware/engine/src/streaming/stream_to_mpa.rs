//! From plain bytes to RDMA on the same connection (RFC 5044 §7.1.3, §7.1.5: MPA begins behind a last streaming mode message).
//!
//! The last bytes are sent and acknowledged first, so that nothing of the ring is called for again behind the first octet of MPA:
//!
//! ```text
//!   bytes ──start_mpa──► bytes, nothing more is taken ──all acknowledged──► AwaitReply    this side begins the start-up
//!                                                                           AwaitRequest  the peer does
//!                                                                           Established   both are past it
//! ```

use crate::card::port::Port;
use crate::connection::conn::{Phase, Role};
use crate::connection::link::Link;
use crate::connection::timers::Timer;
use crate::interface::cm::{ConnectFailure, PrivateData};
use crate::interface::verbs::QpState;
use crate::streaming::ring::StreamToMpa;

impl<P: Port> Link<'_, P> {
    /// Begins what was asked for, once the stream's bytes are all acknowledged.
    pub fn try_stream_to_mpa(&mut self) {
        let waits = self
            .conn
            .byte_stream
            .as_ref()
            .is_some_and(|b| b.stream_to_mpa.is_some());
        if !waits || self.conn.phase != Phase::Established {
            return;
        }
        self.make_room();
        let bytes = self
            .conn
            .byte_stream
            .take_if(|bytes| bytes.kept() == (0, 0));
        let Some(bytes) = bytes else {
            return;
        };
        bytes.end(&mut self.shared.regions);
        let Some(how) = bytes.stream_to_mpa else {
            return;
        };
        let conn = &mut *self.conn;
        // What goes wrong from here on is a connection that did not come about.
        (conn.reported, conn.frozen, conn.fall_back) = (false, false, false);
        if let Some(qp) = self.qp.as_mut() {
            qp.state = QpState::Idle;
        }
        let at = self.now.saturating_add(self.shared.config.mpa_timeout);
        self.conn.timers.set(Timer::Phase, Some(at));
        match how {
            StreamToMpa::Active(proposal, private_data) => {
                self.conn.role = Role::Initiator;
                self.conn.phase = Phase::AwaitReply;
                self.conn.proposal = Some(proposal);
                self.conn.private_data = private_data;
                self.send_request();
            }
            StreamToMpa::Passive => {
                self.conn.role = Role::Responder;
                self.conn.phase = Phase::AwaitRequest;
            }
            StreamToMpa::Past(agreed) => {
                self.agree(agreed);
                self.established(PrivateData::default(), None);
            }
        }
        if self.conn.peer_fin_done {
            self.give_up(ConnectFailure::Closed);
        }
        self.stream();
        self.offer();
        self.transmit();
    }
}
