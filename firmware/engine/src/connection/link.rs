//! One connection at work: the connection, its queue pair, and everything they share with others.

use crate::card::port::Port;
use crate::connection::conn::Conn;
use crate::connection::shared::Shared;
use crate::connection::timers::Timer;
use crate::interface::cm::Event;
use crate::queues::qp::Qp;

/// How long to wait before trying a full job ring again, or asking for JOB_DONE.
pub const POLL: u64 = 2_000;

/// A connection, its queue pair, and the rest.
pub struct Link<'a, P: Port> {
    /// Nanoseconds.
    pub now: u64,
    /// The connection.
    pub conn: &'a mut Conn,
    /// Its queue pair.
    pub qp: Option<&'a mut Qp>,
    /// Everything shared.
    pub shared: &'a mut Shared,
    /// The card.
    pub port: &'a mut P,
}

impl<P: Port> Link<'_, P> {
    /// The card has done this job.
    pub fn is_done(&self, job: u32) -> bool {
        weft_tcp::seq::lt(job, self.port.jobs_done())
    }

    /// The job ring is full.
    pub fn try_later(&mut self) {
        self.shared.stats.jobs_full += 1;
        self.conn
            .timers
            .set(Timer::Retry, Some(self.now.saturating_add(POLL)));
    }

    /// The application hears of it.
    pub fn tell(&mut self, event: Event) {
        if let Event::ConnectError { conn: gone, .. } = &event {
            // A request that was not taken yet: then it has not heard of it, and need not.
            let asks = |event: &Event| match event {
                Event::ConnectRequest { conn, .. } | Event::StreamRequest { conn, .. } => {
                    conn == gone
                }
                _ => false,
            };
            if let Some(at) = self.shared.outbox.events.iter().position(asks) {
                self.shared.outbox.events.remove(at);
                self.conn.known = false;
                return;
            }
        }
        self.shared.outbox.events.push_back(event);
    }
}
