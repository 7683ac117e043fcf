//! Connections of other processes inside the host: from one of them to another, or to this one. They are the loop's, which is commanded without any lock.

use weft_engine::commands::{self, Answer, Refusal};
use weft_engine::{ConnId, Error, QpId, MAX_PRIVATE_DATA};
use weft_layout::{Command, CommandOpcode};
use weft_queues::TakenCommand;

use super::super::client_resources::Checked;
use super::super::gate;
use super::super::{Device, Loopback, State};
use super::ControlClient;
use crate::error::DeviceError;

/// A connection that its process has no longer.
#[derive(Debug)]
pub(super) struct Left {
    conn: ConnId,
    /// A request that is rejected with this; else its end.
    reason: Option<Vec<u8>>,
}

impl Left {
    pub(super) fn rejected(conn: ConnId, reason: &[u8]) -> Self {
        let reason = Some(reason.to_vec());
        Self { conn, reason }
    }

    pub(super) fn ended(conn: ConnId) -> Self {
        Self { conn, reason: None }
    }

    fn tell(self, loopback: &dyn Loopback) {
        match self.reason {
            // One whose asker has gone wants no answer.
            Some(reason) => drop(loopback.reject(self.conn, &reason)),
            None => loopback.abort(self.conn),
        }
    }
}

/// Is it a command of a connection inside the host?
pub(super) fn is_of_the_loop(taken: &TakenCommand) -> bool {
    use CommandOpcode::{Abort, Accept, Disconnect, Reject};
    let opcode = taken.command.opcode();
    let is_of_one = matches!(opcode, Ok(Accept | Reject | Disconnect | Abort));
    is_of_one && ConnId::from_number(taken.command.conn).is_some_and(ConnId::is_inside)
}

/// Has the loop do a command.
fn carry_out(
    loopback: &dyn Loopback,
    command: &Command,
    private_data: &[u8],
) -> Result<Answer, Refusal> {
    let given = command.length as usize;
    if given > MAX_PRIVATE_DATA {
        let limit = MAX_PRIVATE_DATA;
        return Err(Error::PrivateDataTooLong { given, limit }.into());
    }
    let qp = QpId::from_number(command.qp);
    let conn = ConnId::from_number(command.conn).ok_or(Error::UnknownConnection);
    let mut answer = Answer::default();
    match command.opcode().map_err(|_| Refusal::Malformed)? {
        CommandOpcode::Connect => {
            let params = commands::connect_params(command, private_data)?;
            answer.conn = loopback.prepare(qp, &params)?.number();
        }
        CommandOpcode::Accept => {
            let params = commands::accept_params(command, private_data)?;
            loopback.accept(conn?, qp, &params)?;
        }
        CommandOpcode::Reject => loopback.reject(conn?, private_data)?,
        CommandOpcode::Disconnect => loopback.disconnect(conn?),
        CommandOpcode::Abort => loopback.abort(conn?),
        _ => return Err(Refusal::Malformed),
    }
    Ok(answer)
}

impl ControlClient {
    /// Answers the command that was parked; the queue pair that takes work from now on.
    fn answer_inside(&mut self, outcome: Result<(Checked, Answer), Refusal>) -> Option<QpId> {
        self.parked = None;
        let (answer, bound) = match outcome {
            Ok((checked, answer)) => (answer, self.resources.done(checked, &answer)),
            Err(refusal) => (commands::refused(refusal), None),
        };
        self.executor.answer_parked(answer);
        bound
    }
}

impl State {
    /// Does somebody listen on this port, in this process or in another one?
    pub(crate) fn listens(&self, port: u16) -> bool {
        let mut clients = self.control_clients.iter();
        self.event_routing.listens(port)
            || clients.any(|one| one.ending.is_none() && one.resources.listens(port))
    }

    /// The command that was parked, if it may still be done; `None`: its process is gone.
    fn check_parked(&mut self, number: u64) -> Option<Result<Checked, Refusal>> {
        let client = self.control_client(number)?;
        let is_behind = client.is_behind();
        let parked = client.parked.as_ref()?;
        Some(client.resources.check(&parked.command, is_behind))
    }

    /// False: its process is gone.
    fn answer_inside(&mut self, number: u64, outcome: Result<(Checked, Answer), Refusal>) -> bool {
        let client = self.control_client(number);
        let Some(client) = client.filter(|client| client.ending.is_none()) else {
            return false;
        };
        if let Some(qp) = client.answer_inside(outcome) {
            self.bind(qp);
        }
        true
    }
}

impl Device {
    /// Is the loop the way that this command connects by?
    pub(super) fn is_way_inside(&self, command: &Command) -> bool {
        let connects = command.opcode() == Ok(CommandOpcode::Connect);
        let to = gate::address(command.remote_ip, command.remote_port);
        let loopback = self.shared.loopback.get();
        connects && loopback.is_some_and(|loopback| loopback.reaches(*to.ip()))
    }

    /// Has the loop do a command that was parked.
    pub(super) fn do_inside(&self, number: u64, taken: &TakenCommand) -> Result<(), DeviceError> {
        let checked = self.lock().check_parked(number);
        let (Some(checked), Some(loopback)) = (checked, self.shared.loopback.get()) else {
            return Ok(());
        };
        let loopback = &**loopback;
        let (command, private_data) = (&taken.command, taken.private_data());
        let outcome = checked.and_then(|checked| {
            let answer = carry_out(loopback, &checked.command, private_data)?;
            Ok((checked, answer))
        });
        let made = outcome.as_ref().map_or(None, |(_, answer)| {
            let connects = command.opcode() == Ok(CommandOpcode::Connect);
            connects.then(|| ConnId::from_number(answer.conn)).flatten()
        });
        let is_there = self.turn(|state, _| state.answer_inside(number, outcome))?;
        match (made, commands::connect_params(command, private_data)) {
            // Its process knows it by now.
            (Some(conn), Ok(params)) if is_there => loopback.ask(conn, &params),
            (Some(conn), _) => loopback.abort(conn),
            (None, _) => {}
        }
        Ok(())
    }

    /// The loop hears what other processes have left.
    pub(super) fn tell_of_left(&self) {
        let left: Vec<_> = {
            let mut state = self.lock();
            let clients = state.control_clients.iter_mut();
            clients
                .flat_map(|client| std::mem::take(&mut client.left))
                .collect()
        };
        if let Some(loopback) = self.shared.loopback.get() {
            left.into_iter().for_each(|one| one.tell(&**loopback));
        }
    }
}
