//! Control rings of other processes: their commands are checked and done, events of what is theirs go to them.
//!
//! A command does not wake this process by itself: each [`Device::progress`](super::Device::progress) looks.

mod closing;
mod gates;
mod inside;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use weft_engine::commands::{self, Answer};
use weft_engine::{Access, ConnId, Engine, Event, PdId, Port, QpId, SrqId};
use weft_queues::TakenCommand;

use super::account::Account;
use super::client_resources::{Checked, ClientResources, Registered, Taken};
use super::control::ControlRings;
use super::executor::{Executor, Outcome};
use super::gate::Gate;
use super::{Device, Here, Place, State};
use crate::error::DeviceError;
use closing::Closing;
use gates::is_for_the_gate;
use inside::{is_of_the_loop, Left};

/// Events that wait for room in its ring: with so many, a process gets no more connections.
const MAX_WAITING: usize = 64;

/// The connection that an event is of.
fn conn_of(event: &Event) -> Option<ConnId> {
    match event {
        Event::ConnectRequest { conn, .. }
        | Event::Established { conn, .. }
        | Event::Rejected { conn, .. }
        | Event::ConnectError { conn, .. }
        | Event::Disconnected { conn, .. } => Some(*conn),
        _ => None,
    }
}

/// Has a command done that was checked.
fn done<P: Port>(
    checked: Checked,
    taken: &TakenCommand,
    now: u64,
    (resources, bound): (&mut ClientResources, &mut Vec<QpId>),
    engine: &mut Engine,
    port: &mut P,
) -> Answer {
    let answer = engine.execute(now, &checked.command, taken.private_data(), port);
    if commands::outcome(&answer).is_ok() {
        bound.extend(resources.done(checked, &answer));
    }
    answer
}

/// What something is kept for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Client,
    Qp(QpId),
    Pd(PdId),
    /// By where the card sees it.
    Memory(u64),
}

/// A process that has control rings.
pub(super) struct ControlClient {
    number: u64,
    executor: Executor,
    resources: ClientResources,
    /// Events that had no room, or wait behind a request that nobody has decided on.
    waiting: VecDeque<Event>,
    /// Who decides; the request at the head of `waiting` was let in.
    gate: Arc<dyn Gate>,
    let_in: Option<ConnId>,
    /// A command that waits for a decision.
    parked: Option<TakenCommand>,
    /// Commands of what is not its own.
    refused: u64,
    /// Connections that its gate has rejected.
    turned_away: u32,
    /// What lives as long as it may be used.
    keeps: Vec<(Of, Box<dyn Send>)>,
    /// Queue pairs that it has left, and whose connections close.
    closing: Vec<Closing>,
    /// Connections inside the host that it has left or does not hear of: the loop is told.
    left: Vec<Left>,
    /// It is gone; regions of it that work still uses.
    ending: Option<BTreeMap<u32, Registered>>,
}

impl ControlClient {
    fn is_behind(&self) -> bool {
        self.waiting.len() >= MAX_WAITING
    }

    /// Takes an event of what belongs to it.
    fn take<P: Port>(&mut self, now: u64, event: Event, engine: &mut Engine, port: &mut P) {
        if matches!(event, Event::ConnectRequest { .. }) && self.is_behind() {
            return self.reject(now, &event, engine, port);
        }
        self.waiting.push_back(event);
    }

    /// A request that it does not hear of, since it does not take its events or has all the connections that it may have.
    fn reject<P: Port>(&mut self, now: u64, request: &Event, engine: &mut Engine, port: &mut P) {
        let Some(conn) = conn_of(request) else { return };
        tracing::debug!(control_client = self.number, ?conn, "request rejected");
        self.resources.forget(conn);
        self.turn_down(conn, weft_engine::BUSY, (now, engine, port));
    }

    /// Rejects a request.
    fn turn_down<P: Port>(
        &mut self,
        conn: ConnId,
        reason: &[u8],
        (now, engine, port): (u64, &mut Engine, &mut P),
    ) {
        match conn.is_inside() {
            true => self.left.push(Left::rejected(conn, reason)),
            false => {
                engine.execute(now, &commands::reject(conn), reason, port);
            }
        }
    }

    /// Writes events, up to a request that is not decided on.
    fn put_events(&mut self) {
        let (waiting, let_in) = (&mut self.waiting, &mut self.let_in);
        self.executor.put_events(|| {
            if let Some(Event::ConnectRequest { conn, .. }) = waiting.front() {
                let_in.take_if(|there| there == conn)?;
            }
            waiting.pop_front()
        });
    }

    /// Has its commands done, as far as they are of what is its own; queue pairs that take work from now on.
    fn take_commands<P: Port>(
        &mut self,
        (now, up_to): (u64, u32),
        engine: &mut Engine,
        port: &mut P,
    ) -> Vec<QpId> {
        let is_behind = self.is_behind();
        let (resources, refused, parked) =
            (&mut self.resources, &mut self.refused, &mut self.parked);
        let mut bound = Vec::new();
        self.executor.take_commands_up_to(up_to, |taken| {
            let checked = match resources.check(&taken.command, is_behind) {
                Ok(checked) => checked,
                Err(refusal) => {
                    *refused += 1;
                    return Outcome::Answered(commands::refused(refusal));
                }
            };
            if is_for_the_gate(taken) || is_of_the_loop(taken) {
                *parked = Some(taken.clone());
                return Outcome::Parked;
            }
            Outcome::Answered(done(
                checked,
                taken,
                now,
                (resources, &mut bound),
                engine,
                port,
            ))
        });
        bound
    }
}

impl State {
    /// Control rings for another process; the number of who has them.
    fn add_control_client(
        &mut self,
        rings: Arc<ControlRings>,
        account: Arc<Account>,
        gate: Arc<dyn Gate>,
    ) -> u64 {
        let number = self.next_control_client;
        self.next_control_client += 1;
        self.control_clients.push(ControlClient {
            number,
            executor: Executor::new(rings),
            resources: ClientResources::of(account),
            waiting: VecDeque::new(),
            gate,
            let_in: None,
            parked: None,
            refused: 0,
            turned_away: 0,
            keeps: Vec::new(),
            closing: Vec::new(),
            left: Vec::new(),
            ending: None,
        });
        number
    }

    fn control_client(&mut self, number: u64) -> Option<&mut ControlClient> {
        self.control_clients
            .iter_mut()
            .find(|one| one.number == number)
    }

    /// It may connect this queue pair, which lives as long as it.
    pub(crate) fn give_qp(&mut self, number: u64, pd: PdId, qp: QpId, keeps: Box<dyn Send>) {
        if let Some(control_client) = self.control_client(number) {
            control_client.resources.give_qp(pd, qp);
            control_client.keeps.push((Of::Qp(qp), keeps));
        }
    }

    /// It may register parts of this memory, which stays mapped as long as it may be used.
    pub(crate) fn give_memory(
        &mut self,
        number: u64,
        pd: PdId,
        (iova, length, access): (u64, u64, Access),
        keeps: Box<dyn Send>,
    ) {
        if let Some(control_client) = self.control_client(number) {
            control_client
                .resources
                .give_memory(pd, iova, length, access);
            control_client.keeps.push((Of::Memory(iova), keeps));
        }
    }

    /// It may not any more; false: a region of it lies there, or it never might.
    pub(crate) fn take_memory_back(&mut self, number: u64, iova: u64) -> bool {
        let Some(control_client) = self.control_client(number) else {
            return true;
        };
        control_client.resources.take_memory_back(iova) && {
            self.release_kept(number, Of::Memory(iova));
            true
        }
    }

    /// What was kept for this is dropped.
    fn release_kept(&mut self, number: u64, of: Of) {
        let Some(control_client) = self.control_client(number) else {
            return;
        };
        let all = std::mem::take(&mut control_client.keeps);
        let (handles, rest): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(other, _)| *other == of);
        control_client.keeps = rest;
        self.release(handles);
    }

    /// It may use this domain, which lives as long as it.
    pub(crate) fn give_pd(&mut self, number: u64, pd: PdId, keeps: Box<dyn Send>) {
        if let Some(control_client) = self.control_client(number) {
            control_client.resources.give_pd(pd);
            control_client.keeps.push((Of::Pd(pd), keeps));
        }
    }

    /// It may not any more; false: something that it has registered is in it.
    pub(crate) fn take_pd_back(&mut self, number: u64, pd: PdId) -> bool {
        let Some(control_client) = self.control_client(number) else {
            return true;
        };
        if !control_client.resources.take_pd_back(pd) {
            return false;
        }
        self.release_kept(number, Of::Pd(pd));
        true
    }

    /// It may use this shared receive queue, or may no longer.
    pub(crate) fn give_srq(&mut self, number: u64, srq: SrqId, gives: bool) {
        if let Some(control_client) = self.control_client(number) {
            match gives {
                true => control_client.resources.give_srq(srq),
                false => control_client.resources.take_srq_back(srq),
            }
        }
    }

    /// Something lives as long as it, or as this queue pair of its.
    pub(crate) fn keep_for(&mut self, number: u64, of: Option<QpId>, thing: Box<dyn Send>) {
        match self.control_client(number) {
            Some(control_client) => {
                let of = of.map_or(Of::Client, Of::Qp);
                control_client.keeps.push((of, thing));
            }
            None => self.release(thing),
        }
    }

    /// Answers and events that were written for it so far.
    pub(crate) fn news_of(&mut self, number: u64) -> u64 {
        self.control_client(number)
            .map_or(0, |control_client| control_client.executor.news())
    }

    /// Commands of it that were refused, because they were of what is not its own.
    pub(crate) fn refused_of(&mut self, number: u64) -> u64 {
        self.control_client(number)
            .map_or(0, |control_client| control_client.refused)
    }

    /// The engine takes what other processes commanded.
    pub(super) fn take_lent_commands(&mut self, now: u64) {
        if self.control_clients.is_empty() {
            return;
        }
        let clients = self.control_clients.iter();
        let commanding: Vec<_> = clients
            .filter(|one| one.ending.is_none())
            .filter_map(|one| Some((one.number, one.executor.posted()?)))
            .collect();
        if !commanding.is_empty() {
            // What was posted before a command is work before it.
            self.take_posted(now);
        }
        let mut bound = Vec::new();
        for (number, up_to) in commanding {
            let mut clients = self.control_clients.iter_mut();
            let client = clients.find(|one| one.number == number);
            if let (Some(client), Some((engine, card))) = (client, self.place.here()) {
                bound.extend(client.take_commands((now, up_to), engine, card));
            }
        }
        for qp in bound {
            self.bind(qp);
        }
        if self
            .control_clients
            .iter()
            .any(|one| one.ending.is_some() || !one.closing.is_empty())
        {
            self.remove_control_clients(now);
        }
    }

    /// The engine's events go to whom they belong, as many as have room; true: somebody in this process waits for them.
    pub(super) fn put_events(&mut self) -> bool {
        let Self {
            place,
            control_clients,
            ..
        } = self;
        let Place::Here(here) = place else {
            // The firmware puts them into the ring itself.
            return false;
        };
        let Here {
            executor,
            engine,
            card,
            ..
        } = &mut **here;
        let woken = executor.put_events(|| loop {
            let event = engine.poll_event()?;
            // A queue pair may be of several, everything else is of one.
            let mut is_theirs = false;
            for control_client in &mut *control_clients {
                match control_client.resources.take(&event) {
                    Taken::Others => continue,
                    Taken::Own => control_client.take(card.now(), event.clone(), engine, card),
                    Taken::TooMany => control_client.reject(card.now(), &event, engine, card),
                }
                is_theirs = true;
            }
            if !is_theirs {
                return Some(event);
            }
        });
        for control_client in control_clients {
            control_client.put_events();
        }
        woken
    }
}

impl Device {
    /// Control rings for another process, and the number of who has them.
    pub(crate) fn share_control(
        &self,
        account: Arc<Account>,
        gate: Arc<dyn Gate>,
    ) -> Result<(Arc<ControlRings>, u64), DeviceError> {
        let rings = ControlRings::shareable()?;
        let mut state = self.lock();
        state.check_fault()?;
        state.check_here("lending to other processes")?;
        let number = state.add_control_client(rings.clone(), account, gate);
        Ok((rings, number))
    }

    /// Who had them is gone: what it has made ends.
    pub(crate) fn end_control_client(&self, number: u64) -> Result<(), DeviceError> {
        self.turn(|state, now| state.end_control_client(now, number))
    }
}
