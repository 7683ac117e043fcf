//! The engine's face: time in, events and completions out. Its other calls have a file each.

mod adoption;
mod byte_streams;
mod connections;
mod execute;
mod frames;
mod half_open;
mod host_stack;
mod incoming;
mod listeners;
mod liveness;
mod loopback;
mod posting;
mod queue_pairs;
mod regions;
mod reports;
mod shared_receives;
mod start_mpa;
mod table;
mod turns;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

pub use self::byte_streams::StreamState;
use self::table::Connections;
use crate::card::port::Port;
use crate::connection::conn::Conn;
use crate::connection::deadlines::Deadlines;
use crate::connection::shared::Shared;
use crate::interface::cm::Event;
use crate::interface::config::EngineConfig;
use crate::interface::error::Error;
use crate::interface::random::Random;
use crate::interface::stats::EngineStats;
use crate::interface::verbs::{Completion, QpId};
use crate::queues::qp::Qp;
use crate::tcp::syn_cache::HalfOpens;

/// One per card: flows, queue pairs, regions, listeners, connections, timers.
#[derive(Debug)]
pub struct Engine {
    pub(crate) shared: Shared,
    pub(crate) conns: Connections,
    /// When the connections' timers are due.
    deadlines: Deadlines,
    /// Those that are, at a time.
    expired: Vec<u16>,
    qps: Vec<Option<Box<Qp>>>,
    /// Flows without queue pair: the one unused for longest is taken next.
    free_flows: VecDeque<u16>,
    generations: Vec<u16>,
    listeners: Vec<listeners::Listener>,
    connections_made: u32,
    /// Half-open connections.
    half_open: HalfOpens,
    /// The host's own stack uses the card as well.
    host_stack: bool,
    /// Randomness.
    random: Random,
}

impl Engine {
    /// An engine for a card that was just reset (its tables are empty).
    pub fn new(mut config: EngineConfig) -> Self {
        // What was walked over is taken apart here where an FPDU of it is for the engine.
        let longest = u16::try_from(config.memory.longest).unwrap_or(u16::MAX);
        config.replay = config.replay.min(longest);
        let flows = config.num_flows;
        let slots = config.slots();
        let syn_cache = config.syn_cache;
        let mut random = Random::new(&config.seed);
        let free_flows = config.split.flows(flows).collect();
        let shared = Shared::new(config, &mut random);
        let half_open = HalfOpens::new(syn_cache, random.secret());
        Engine {
            conns: Connections::new(slots),
            deadlines: Deadlines::new(usize::from(slots)),
            expired: Vec::with_capacity(usize::from(slots)),
            qps: (0..flows).map(|_| None).collect(),
            free_flows,
            generations: (0..flows).map(|_| 0).collect(),
            listeners: Vec::new(),
            connections_made: 0,
            half_open,
            host_stack: false,
            random,
            shared,
        }
    }

    /// Its settings.
    pub fn config(&self) -> &EngineConfig {
        &self.shared.config
    }

    /// What it counted.
    pub fn stats(&self) -> &EngineStats {
        &self.shared.stats
    }

    // ------------------------------------------------------------------ events in

    /// A raw slot that was lent and is free again.
    pub fn poll_slot<P: Port>(&mut self, port: &P) -> Option<u16> {
        self.shared.slots.poll(port)
    }

    /// The raw ring runs out of slots: what lies in this one, and all that the same connection has, is copied. It is free when
    /// [`Engine::poll_slot`] says so, which is at once unless the card is reading it.
    pub fn want_slot<P: Port>(&mut self, now: u64, slot: u16, port: &mut P) {
        let found = self
            .conns
            .iter()
            .find(|conn| conn.handover.out_of_order.has(slot));
        if let Some(conn) = found.map(|conn| conn.id.slot) {
            self.run(now, conn, port, |link| {
                link.spill();
                link.stream();
                link.offer();
            });
        }
    }

    /// Does what is due; early or needless calls do no harm.
    pub fn on_timer<P: Port>(&mut self, now: u64, port: &mut P) {
        self.shared.stats.steps += 1;
        self.half_open_timers(now, port);
        self.shared.slots.check(now, port);
        self.neighbours_expired(now, port);
        let mut expired = core::mem::take(&mut self.expired);
        self.deadlines.expired(now, &mut expired);
        expired.sort_unstable();
        for slot in expired.drain(..) {
            if self.look(slot).is_some_and(|at| at <= now) {
                self.run(now, slot, port, |link| link.timers_expired());
                self.look(slot);
            }
        }
        self.expired = expired;
    }

    /// When to call [`Engine::on_timer`] next; `None`: not before the next report or call. May lie in
    /// the past: then call at once. May be too early, where a timer was stopped or put off meanwhile: the call then finds out when it is.
    #[inline]
    pub fn next_deadline(&self) -> Option<u64> {
        let mut first = self.deadlines.first();
        let half_open = self.half_open.rows.next_deadline();
        if let Some(at) = half_open {
            first = Some(first.map_or(at, |first| first.min(at)));
        }
        if let Some(at) = self.shared.neighbours.next_deadline() {
            first = Some(first.map_or(at, |first| first.min(at)));
        }
        if let Some(at) = self.shared.slots.check_at() {
            first = Some(first.map_or(at, |first| first.min(at)));
        }
        first
    }

    /// The reports at hand have been read, and the next ones will be later than an acknowledgment may wait: what is owed to the peer on
    /// this flow goes now. False: nothing is.
    pub fn acknowledge<P: Port>(&mut self, now: u64, flow: u16, port: &mut P) -> bool {
        let Some(slot) = self.slot_of_flow(flow) else {
            return false;
        };
        let owes = self.conns.get(slot).is_some_and(|c| c.ack.pending > 0);
        if owes {
            self.shared.stats.steps += 1;
            self.run(now, slot, port, |link| link.conn.ack.now = true);
        }
        owes
    }

    /// Full segments of the connection on this flow that wait for an acknowledgment; `None`: nothing does.
    pub fn segments_in_flight(&self, flow: u16) -> Option<u32> {
        let sender = &self.conns.get(self.slot_of_flow(flow)?)?.sender;
        let flight = sender.flight();
        (flight > 0).then(|| flight / sender.mss.max(1))
    }

    // ------------------------------------------------------------------ events out

    /// The oldest event not yet taken.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        let event = self.shared.outbox.events.pop_front();
        if let Some(Event::Moved { conn }) = &event {
            let found = self.conns.get_mut(conn.slot);
            if let Some(conn) = found.filter(|found| found.id == *conn) {
                conn.move_told = false;
            }
        }
        event
    }

    /// There is an event that was not taken.
    #[inline]
    pub fn has_event(&self) -> bool {
        !self.shared.outbox.events.is_empty()
    }

    /// The oldest completion not yet taken: for each queue pair in the order of its queues.
    #[inline]
    pub fn poll_completion(&mut self) -> Option<Completion> {
        self.shared.queues.completions.pop_front()
    }

    // ------------------------------------------------------------------ inside

    fn qp(&self, id: QpId) -> Result<&Qp, Error> {
        self.qps
            .get(usize::from(id.flow))
            .and_then(|qp| qp.as_deref())
            .filter(|qp| qp.id == id)
            .ok_or(Error::UnknownQp)
    }

    /// The card has a flow for this connection whose row is valid, or was: before that it places nothing.
    pub(crate) fn card_may_place(&self, slot: u16) -> bool {
        let conn = self.conns.get(slot);
        conn.is_some_and(|conn| conn.handover.is_bound() && conn.committed)
    }

    fn slot_of_flow(&self, flow: u16) -> Option<u16> {
        self.qps.get(usize::from(flow))?.as_ref()?.conn
    }

    /// Of the connection that had this flow in this binding, and has left it: what the card has reported before is its own as well.
    fn slot_that_left(&self, flow: u16, epoch: u8) -> Option<u16> {
        let left = |conn: &&Conn| conn.handover.has_left(flow, epoch);
        self.conns.iter().find(left).map(|conn| conn.id.slot)
    }
}
