//! The end of a client, or of a queue pair of its. One whose connection closes in order stays until that is over, within a limit.

use std::sync::Arc;

use weft_engine::commands::{self, Refusal};
use weft_engine::{ConnId, Engine, Port, QpId, QpState};

use super::super::gate;
use super::super::State;
use super::inside::Left;
use super::{ControlClient, Of};

/// Of the device's time, from when the client has left it.
const LIMIT_NS: u64 = 1_000_000_000;

/// One that stays.
#[derive(Debug)]
pub(super) struct Closing {
    qp: QpId,
    conn: ConnId,
    until: u64,
}

impl Closing {
    /// `None`: its connection is not closing.
    pub(super) fn of(now: u64, qp: QpId, engine: &Engine) -> Option<Self> {
        let is_closing = engine.qp_state(qp) == Ok(QpState::Closing);
        let conn = engine.connection_of(qp).filter(|_| is_closing)?;
        let until = now.saturating_add(LIMIT_NS);
        Some(Self { qp, conn, until })
    }

    pub(super) fn qp(&self) -> QpId {
        self.qp
    }

    pub(super) fn conn(&self) -> ConnId {
        self.conn
    }

    /// Is its connection over? When its time is, it is cut off.
    pub(super) fn is_over<P: Port>(&self, now: u64, engine: &mut Engine, port: &mut P) -> bool {
        if engine.connection_of(self.qp) != Some(self.conn) {
            return true;
        }
        if now < self.until {
            return false;
        }
        let cut = commands::modify_qp(self.qp, QpState::Error);
        engine.execute(now, &cut, &[], port);
        tracing::debug!(
            flow = self.qp.flow(),
            "a connection of a client that has left did not close in time"
        );
        true
    }
}

impl ControlClient {
    /// It is gone: what it has made ends.
    fn end<P: Port>(&mut self, now: u64, engine: &mut Engine, port: &mut P) {
        let mut had = self.resources.give_up();
        let closing = had.qps.iter();
        let closing = closing.filter_map(|qp| Closing::of(now, *qp, engine));
        for one in closing {
            // Its charge goes with the connection.
            let charge = had.conns.remove(&one.conn()).flatten();
            self.keeps.push((Of::Qp(one.qp()), Box::new(charge)));
            self.closing.push(one);
        }
        for conn in had.conns.into_keys() {
            if conn.is_inside() {
                self.left.push(Left::ended(conn));
                continue;
            }
            let aborted = engine.execute(now, &commands::abort(conn), &[], port);
            tracing::debug!(?conn, outcome = ?commands::outcome(&aborted), "connection of a control client that is gone");
        }
        for number in had.ports.into_keys() {
            engine.execute(now, &commands::unlisten(number), &[], port);
        }
        let stays = |qp: &QpId| self.closing.iter().any(|one| one.qp() == *qp);
        for qp in had.qps.into_iter().filter(|qp| !stays(qp)) {
            engine.execute(now, &commands::modify_qp(qp, QpState::Error), &[], port);
        }
        self.waiting.clear();
        (self.parked, self.let_in) = (None, None);
        self.gate = Arc::new(gate::Open);
        self.ending = Some(had.stags);
    }

    /// Of those that it has left, the ones whose connection is over, with what was kept for them.
    fn closed<P: Port>(
        &mut self,
        now: u64,
        engine: &mut Engine,
        port: &mut P,
    ) -> Vec<(Of, Box<dyn Send>)> {
        if self.closing.is_empty() {
            return Vec::new();
        }
        self.closing.retain(|one| !one.is_over(now, engine, port));
        let all = std::mem::take(&mut self.keeps);
        let stays = |of: &Of| match of {
            Of::Qp(qp) => {
                self.resources.has_qp(*qp) || self.closing.iter().any(|one| one.qp() == *qp)
            }
            _ => true,
        };
        let (stay, over): (Vec<_>, Vec<_>) = all.into_iter().partition(|(of, _)| stays(of));
        self.keeps = stay;
        over
    }

    /// Removes regions of one that is gone; true: there are none left.
    fn is_over<P: Port>(&mut self, now: u64, engine: &mut Engine, port: &mut P) -> bool {
        // What was posted names them.
        if !(self.closing.is_empty() && self.left.is_empty()) {
            return false;
        }
        let Some(stags) = &mut self.ending else {
            return false;
        };
        stags.retain(|_, one| {
            let gone = engine.execute(now, &commands::deregister(one.stag()), &[], port);
            commands::outcome(&gone) == Err(Refusal::Engine(weft_engine::Error::InUse))
        });
        stags.is_empty()
    }
}

impl State {
    /// It has this queue pair no longer: it lives on with whoever else has it, and so does its connection.
    pub(crate) fn take_qp_back(&mut self, number: u64, qp: QpId) {
        let now = self.now();
        // What was posted before its connection was closed is done first.
        self.take_posted(now);
        let here = self.place.here();
        let (conn, inside, closing) = here.map_or((None, None, None), |(engine, _)| {
            let conn = engine.connection_of(qp);
            (conn, engine.loopback_of(qp), Closing::of(now, qp, engine))
        });
        let is_shared = self.owners_of(qp) > 1;
        // One inside the host ends with its queue pair, unless others have that.
        let conn = conn.or(inside.filter(|_| is_shared));
        let Some(control_client) = self.control_client(number) else {
            return;
        };
        let had = control_client.resources.part_with(qp, conn);
        if let Some(closing) = closing.filter(|_| had.is_some() && !is_shared) {
            control_client.closing.push(closing);
            return;
        }
        let all = std::mem::take(&mut control_client.keeps);
        let (handles, rest): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(of, _)| *of == Of::Qp(qp));
        control_client.keeps = rest;
        let mut others = self.control_clients.iter_mut();
        let heir = others.find(|one| one.ending.is_none() && one.resources.has_qp(qp));
        if let (Some(conn), Some(heir)) = (had, heir) {
            heir.resources.inherit(conn);
        }
        self.release(handles);
    }

    /// Its queue pairs that others have as well are theirs alone.
    fn part(&mut self, number: u64) {
        let control_client = self.control_client(number);
        let qps: Vec<_> = control_client.map_or(Vec::new(), |one| one.resources.qps().collect());
        for qp in qps {
            if self.owners_of(qp) > 1 {
                self.take_qp_back(number, qp);
            }
        }
    }

    /// Those that have this queue pair, and are not gone.
    fn owners_of(&self, qp: QpId) -> usize {
        let has = |one: &&ControlClient| one.ending.is_none() && one.resources.has_qp(qp);
        self.control_clients.iter().filter(has).count()
    }

    /// It is gone.
    pub(crate) fn end_control_client(&mut self, now: u64, number: u64) {
        // The last that it has said is heard.
        self.take_lent_commands(now);
        self.part(number);
        let control_client = self
            .control_clients
            .iter_mut()
            .find(|one| one.number == number);
        if let (Some(control_client), Some((engine, card))) = (control_client, self.place.here()) {
            control_client.end(now, engine, card);
        }
        self.remove_control_clients(now);
    }

    /// Those that are gone, and of which nothing is left.
    pub(super) fn remove_control_clients(&mut self, now: u64) {
        for mut control_client in std::mem::take(&mut self.control_clients) {
            if let Some((engine, card)) = self.place.here() {
                let over = control_client.closed(now, engine, card);
                self.release(over);
            }
            let here = self.place.here();
            match here.is_none_or(|(engine, card)| control_client.is_over(now, engine, card)) {
                true => self.release(control_client.keeps),
                false => self.control_clients.push(control_client),
            }
        }
    }
}
