//! What a process with control rings wants and somebody has to allow: a command waits, parked, and a request waits at the head of its events, until
//! its gate was asked, which is done without any lock.

use weft_engine::commands::{self, Answer};
use weft_engine::{ConnId, Engine, Event, Port, QpId};
use weft_layout::CommandOpcode;
use weft_queues::TakenCommand;

use super::super::gate::{self, Knock};
use super::super::{Device, Here, Place, State};
use super::inside::is_of_the_loop;
use super::{conn_of, done, ControlClient};
use crate::error::DeviceError;

/// What a gate has to decide on.
enum Matter {
    Command(Box<TakenCommand>),
    Request(Event),
}

/// Connections of this number modulo 2^16, which the engine never makes: a gate has rejected them.
const NO_CONNECTION: u64 = 0xfffe;

/// Is it the gate's to decide on?
pub(super) fn is_for_the_gate(taken: &TakenCommand) -> bool {
    let opcode = taken.command.opcode();
    matches!(opcode, Ok(CommandOpcode::Listen | CommandOpcode::Connect))
}

impl ControlClient {
    /// What its gate has to decide on next.
    fn matter(&self) -> Option<Matter> {
        if let Some(taken) = &self.parked {
            return Some(Matter::Command(Box::new(taken.clone())));
        }
        match self.waiting.front()? {
            Event::ConnectRequest { conn, .. } if self.let_in == Some(*conn) => None,
            request @ Event::ConnectRequest { .. } => Some(Matter::Request(request.clone())),
            _ => None,
        }
    }

    /// A command that was parked is done, or the gate does not let it; the queue pair that takes work from now on.
    fn decide_command<P: Port>(
        &mut self,
        decision: Result<(), Vec<u8>>,
        now: u64,
        engine: &mut Engine,
        port: &mut P,
    ) -> Vec<QpId> {
        let mut bound = Vec::new();
        let Some(taken) = self.parked.take() else {
            return bound;
        };
        let checked = self.resources.check(&taken.command, self.is_behind());
        let answer = match (checked, decision) {
            (Err(refusal), _) => commands::refused(refusal),
            (Ok(checked), Ok(())) => {
                let of = (&mut self.resources, &mut bound);
                done(checked, &taken, now, of, engine, port)
            }
            (Ok(_), Err(reason)) => self.turn_away(&taken, &reason),
        };
        self.executor.answer_parked(answer);
        bound
    }

    /// A port that it may not have is in use; who may not be asked rejects, with the gate's reason.
    fn turn_away(&mut self, taken: &TakenCommand, reason: &[u8]) -> Answer {
        self.refused += 1;
        if taken.command.opcode() != Ok(CommandOpcode::Connect) {
            let port = taken.command.port;
            return commands::refused(weft_engine::Error::PortInUse(port).into());
        }
        self.turned_away = self.turned_away.wrapping_add(1);
        let number = NO_CONNECTION | u64::from(self.turned_away) << 16;
        let Some(conn) = ConnId::from_number(number) else {
            return commands::refused(weft_engine::Error::NoConnections.into());
        };
        self.waiting.push_back(Event::Rejected {
            conn,
            private_data: weft_engine::PrivateData::new(reason),
            ird: None,
            ord: None,
        });
        Answer {
            conn: conn.number(),
            ..Answer::default()
        }
    }

    /// The request at the head is let in, or rejected before its process hears of it.
    fn decide_request<P: Port>(
        &mut self,
        asked: ConnId,
        decision: Result<(), Vec<u8>>,
        now: u64,
        engine: &mut Engine,
        port: &mut P,
    ) {
        let is_it =
            |event: &Event| matches!(event, Event::ConnectRequest { conn, .. } if *conn == asked);
        if !self.waiting.front().is_some_and(is_it) {
            return;
        }
        let Err(reason) = decision else {
            self.let_in = Some(asked);
            return;
        };
        self.waiting.pop_front();
        self.resources.forget(asked);
        // What followed from it is nobody's, either.
        self.waiting.retain(|event| conn_of(event) != Some(asked));
        self.turn_down(asked, &reason, (now, engine, port));
    }
}

impl Device {
    /// Has the gates of other processes decide on what waits for that; how much it was. Without any lock.
    pub(in super::super) fn ask_gates(&self) -> Result<usize, DeviceError> {
        self.tell_of_left();
        let matters: Vec<_> = {
            let state = self.lock();
            let clients = state.control_clients.iter();
            let living = clients.filter(|client| client.ending.is_none());
            living
                .filter_map(|client| Some((client.number, client.gate.clone(), client.matter()?)))
                .collect()
        };
        let count = matters.len();
        for (number, gate, matter) in matters {
            match matter {
                Matter::Command(taken) => {
                    if is_of_the_loop(&taken) {
                        self.do_inside(number, &taken)?;
                        continue;
                    }
                    let command = &taken.command;
                    let decision = match command.opcode() {
                        Ok(CommandOpcode::Listen) => gate.listens(command.port),
                        _ => {
                            let to = gate::address(command.remote_ip, command.remote_port);
                            gate.connects(to, taken.private_data())
                        }
                    };
                    match decision.is_ok() && self.is_way_inside(command) {
                        true => self.do_inside(number, &taken)?,
                        false => {
                            self.turn(|state, now| state.decide_command(now, number, decision))?;
                        }
                    }
                }
                Matter::Request(request) => {
                    let Event::ConnectRequest {
                        conn,
                        port,
                        remote,
                        private_data,
                        ..
                    } = request
                    else {
                        continue;
                    };
                    let decision = gate.request(&Knock {
                        from: gate::address(remote.ip, remote.port),
                        port,
                        inside: conn.is_inside(),
                        private_data: &private_data,
                    });
                    self.turn(|state, now| state.decide_request(now, number, conn, decision))?;
                }
            }
        }
        Ok(count)
    }
}

impl State {
    /// Is there something that a gate has to decide on?
    pub(in super::super) fn waits_for_gates(&self) -> bool {
        let mut clients = self.control_clients.iter();
        clients.any(|client| {
            !client.left.is_empty() || client.ending.is_none() && client.matter().is_some()
        })
    }

    fn decide_command(&mut self, now: u64, number: u64, decision: Result<(), Vec<u8>>) {
        let Self {
            place,
            control_clients,
            ..
        } = self;
        let client = control_clients.iter_mut().find(|one| one.number == number);
        let (Some(client), Place::Here(here)) = (client, place) else {
            return;
        };
        let given = here.card.given();
        let parked = client.parked.as_ref();
        let listens = parked.filter(|taken| taken.command.opcode() == Ok(CommandOpcode::Listen));
        let is_the_hosts =
            |taken: &TakenCommand| given.is_some_and(|given| given.listens(taken.command.port));
        let decision = match listens.is_some_and(is_the_hosts) {
            true => Err(Vec::new()),
            false => decision,
        };
        let Here { engine, card, .. } = &mut **here;
        for qp in client.decide_command(decision, now, engine, card) {
            self.bind(qp);
        }
    }

    fn decide_request(
        &mut self,
        now: u64,
        number: u64,
        conn: ConnId,
        decision: Result<(), Vec<u8>>,
    ) {
        let Self {
            place,
            control_clients,
            ..
        } = self;
        let client = control_clients.iter_mut().find(|one| one.number == number);
        if let (Some(client), Some((engine, card))) = (client, place.here()) {
            client.decide_request(conn, decision, now, engine, card);
        }
    }
}
