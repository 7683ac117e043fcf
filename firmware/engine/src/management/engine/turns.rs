//! A connection's turn: it works, sends what follows from it, and may be over.

use crate::card::port::Port;
use crate::connection::conn::{Phase, TcpState};
use crate::connection::link::Link;
use crate::interface::cm::Event;

use super::{liveness, Engine};

impl Engine {
    pub(crate) fn forget(&mut self, slot: u16) {
        if let Some(mut conn) = self.conns.remove(slot) {
            self.shared.buffers.take_back(&mut conn);
            if let Some(bytes) = &conn.byte_stream {
                bytes.end(&mut self.shared.regions);
            }
            conn.reassembly.release(&mut self.shared.buffers.pool);
            self.shared.slots.free_all(&mut conn);
            self.shared.outbox.forgotten += 1;
            if self.shared.config.on_card && conn.known {
                let forgotten = Event::Forgotten { conn: conn.id };
                self.shared.outbox.events.push_back(forgotten);
            }
        }
        self.deadlines.set(slot, None);
    }

    /// IdlePolls at a connection's timers: when the first one is due.
    pub(super) fn look(&mut self, slot: u16) -> Option<u64> {
        let at = self.conns.get_mut(slot)?.timers.look();
        self.deadlines.set(slot, at);
        at
    }

    /// Lets a connection work, and nothing more.
    pub(super) fn with<P: Port>(
        &mut self,
        now: u64,
        slot: u16,
        port: &mut P,
        work: impl FnOnce(&mut Link<'_, P>),
    ) {
        let Some(conn) = self.conns.get_mut(slot) else {
            return;
        };
        let qp = match conn.qp {
            Some(flow) => self.qps[usize::from(flow)].as_deref_mut(),
            None => None,
        };
        let look_at = conn.timers.look_at();
        let mut link = Link {
            now,
            conn,
            qp,
            shared: &mut self.shared,
            port,
        };
        work(&mut link);
        let Link {
            conn, qp, shared, ..
        } = link;
        shared.slots.free_done(conn);
        shared.slots.watch(now);
        conn.path = conn.find_path(qp.as_deref(), &shared.config);
        if conn.timers.look_at() < look_at {
            self.deadlines.set(slot, Some(conn.timers.look_at()));
        }
    }

    /// Lets a connection work, sends what follows from it, and looks whether it is over; then admits the requests that it has made room for.
    pub(crate) fn run<P: Port>(
        &mut self,
        now: u64,
        slot: u16,
        port: &mut P,
        work: impl FnOnce(&mut Link<'_, P>),
    ) {
        self.run_one(now, slot, port, work);
        if self.shared.admission.may_admit() {
            self.admit_requests(now, port);
        }
    }

    /// The same, and nothing else.
    pub(super) fn run_one<P: Port>(
        &mut self,
        now: u64,
        slot: u16,
        port: &mut P,
        work: impl FnOnce(&mut Link<'_, P>),
    ) {
        let mut again = None;
        self.with(now, slot, port, |link| {
            let asked = link.conn.phase == Phase::AwaitAnswer;
            work(link);
            link.shared.admission.answered |= asked && link.conn.phase != Phase::AwaitAnswer;
            if link.wants_fall_back() {
                again = Some(link.conn.remote);
                return;
            }
            link.retire();
            link.transmit();
            // What was learned of JOB_DONE meanwhile may have made room.
            while link.retire() {
                link.transmit();
            }
            link.housekeeping();
            link.shared.buffers.take_back(link.conn);
            debug_assert_eq!(liveness::stuck(link.conn, link.qp.as_deref()), None);
        });
        if let Some(remote) = again {
            let local = self.free_port(remote);
            self.with(now, slot, port, |link| link.fall_back(local));
            self.conns.readdressed(slot);
        }
        let gone = self
            .conns
            .get(slot)
            .is_some_and(|conn| conn.tcp == TcpState::Dead && conn.phase == Phase::Finished);
        if gone {
            self.forget(slot);
        }
    }
}
