//! What belongs to a process that control rings were lent to: it commands that, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use weft_engine::commands::{Answer, Command, Refusal};
use weft_engine::{Access, ConnId, Error, Event, PdId, QpId, SrqId};
use weft_layout::CommandOpcode;

use super::account::{Account, Charge, Resource};

/// Requests that may wait for its answer at a port.
const MAX_BACKLOG: u32 = 64;

/// Memory that it may register, as the card sees it.
struct Memory {
    iova: u64,
    length: u64,
    access: Access,
}

/// What was given to it, and what it has made of that.
pub(super) struct ClientResources {
    account: Arc<Account>,
    pds: BTreeSet<PdId>,
    qps: BTreeSet<QpId>,
    srqs: BTreeSet<SrqId>,
    memory: Vec<Memory>,
    /// What it has registered or allocated, by [index](index), and of which domain that is.
    stags: BTreeMap<u32, Registered>,
    ports: BTreeMap<u16, Charge>,
    /// One that it has inherited may not be counted.
    conns: BTreeMap<ConnId, Option<Charge>>,
}

/// A region, or an STag that work gives memory to.
#[derive(Debug)]
pub(super) struct Registered {
    stag: u32,
    pd: PdId,
    /// Where it begins, if it has memory of its own.
    iova: Option<u64>,
    _charge: Charge,
}

impl Registered {
    /// Its STag, with the key that it had at first: the engine does not heed that of a window.
    pub(super) fn stag(&self) -> u32 {
        self.stag
    }
}

/// The part of an STag that no work changes.
fn index(stag: u32) -> u32 {
    stag >> 8
}

/// What it may have done, as it is to be done, and what is counted if it is.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) command: Command,
    charge: Option<Charge>,
}

/// Nothing that exists has this name for it: what is another's is as what is not there.
fn not_its_own<T>(is_its_own: bool, error: Error, then: T) -> Result<T, Refusal> {
    match is_its_own {
        true => Ok(then),
        false => Err(error.into()),
    }
}

impl ClientResources {
    /// Of somebody who has nothing yet.
    pub(super) fn of(account: Arc<Account>) -> Self {
        Self {
            account,
            pds: BTreeSet::new(),
            qps: BTreeSet::new(),
            srqs: BTreeSet::new(),
            memory: Vec::new(),
            stags: BTreeMap::new(),
            ports: BTreeMap::new(),
            conns: BTreeMap::new(),
        }
    }

    /// One more, or why not.
    fn one_more(&self, resource: Resource, none: Error) -> Result<Option<Charge>, Refusal> {
        let charge = self.account.charge(resource, 1);
        charge.map(Some).map_err(|_| none.into())
    }

    /// It may connect this queue pair, which is of this domain.
    pub(super) fn give_qp(&mut self, pd: PdId, qp: QpId) {
        self.pds.insert(pd);
        self.qps.insert(qp);
    }

    /// It may use this domain.
    pub(super) fn give_pd(&mut self, pd: PdId) {
        self.pds.insert(pd);
    }

    /// It may not any more; false: something that it has registered is in it.
    pub(super) fn take_pd_back(&mut self, pd: PdId) -> bool {
        if self.stags.values().any(|one| one.pd == pd) {
            return false;
        }
        self.pds.remove(&pd);
        true
    }

    /// It may ask for this shared receive queue's state, and set its limit.
    pub(super) fn give_srq(&mut self, srq: SrqId) {
        self.srqs.insert(srq);
    }

    /// It has it no longer.
    pub(super) fn take_srq_back(&mut self, srq: SrqId) {
        self.srqs.remove(&srq);
    }

    /// Is this queue pair its?
    pub(super) fn has_qp(&self, qp: QpId) -> bool {
        self.qps.contains(&qp)
    }

    pub(super) fn qps(&self) -> impl Iterator<Item = QpId> + '_ {
        self.qps.iter().copied()
    }

    /// A queue pair is no more its, nor is this connection, which it has if it was its.
    pub(super) fn part_with(&mut self, qp: QpId, conn: Option<ConnId>) -> Option<ConnId> {
        self.qps.remove(&qp);
        conn.filter(|conn| self.conns.remove(conn).is_some())
    }

    /// A connection of a queue pair of its is its from now on.
    pub(super) fn inherit(&mut self, conn: ConnId) {
        let charge = self.account.charge(Resource::Connections, 1);
        self.conns.insert(conn, charge.ok());
    }

    /// It may register parts of this memory in this domain, with no more access than this.
    pub(super) fn give_memory(&mut self, pd: PdId, iova: u64, length: u64, access: Access) {
        self.pds.insert(pd);
        self.memory.push(Memory {
            iova,
            length,
            access,
        });
    }

    /// It may not any more; false: it has registered some of it, or has none there.
    pub(super) fn take_memory_back(&mut self, iova: u64) -> bool {
        let Some(at) = self.memory.iter().position(|memory| memory.iova == iova) else {
            return false;
        };
        let end = iova.saturating_add(self.memory[at].length);
        let lies_there = |one: &Registered| one.iova.is_some_and(|at| (iova..end).contains(&at));
        if self.stags.values().any(lies_there) {
            return false;
        }
        self.memory.swap_remove(at);
        true
    }

    /// May it have this done? What it may, as it is to be done; `is_behind`: events wait for it that it does not take.
    pub(super) fn check(&self, command: &Command, is_behind: bool) -> Result<Checked, Refusal> {
        let opcode = command.opcode().map_err(|_| Refusal::Malformed)?;
        let has_qp = self.qps.contains(&QpId::from_number(command.qp));
        let conn = ConnId::from_number(command.conn);
        let has_conn = conn.is_some_and(|conn| self.conns.contains_key(&conn));
        let same = *command;
        let mut charge = None;
        let command = match opcode {
            // What queues in memory are for, or what comes from a socket, is its owner's to make.
            CommandOpcode::AllocPd
            | CommandOpcode::DeallocPd
            | CommandOpcode::CreateQp
            | CommandOpcode::DestroyQp
            | CommandOpcode::Adopt
            | CommandOpcode::StartMpa
            | CommandOpcode::CreateSrq
            | CommandOpcode::DestroySrq
            | CommandOpcode::AllocXrcd
            | CommandOpcode::DeallocXrcd
            // The connection that waits is anybody's.
            | CommandOpcode::Forget => Err(Refusal::Malformed),
            CommandOpcode::Resolve => Ok(same),
            CommandOpcode::Register => {
                self.check_region(command)?;
                charge = self.one_more(Resource::Regions, Error::NoStags)?;
                Ok(same)
            }
            CommandOpcode::AllocStag => {
                let has_pd = self.pds.contains(&PdId::from_number(command.pd));
                not_its_own(has_pd, Error::UnknownPd, ())?;
                charge = self.one_more(Resource::Regions, Error::NoStags)?;
                Ok(same)
            }
            CommandOpcode::ModifySrq | CommandOpcode::QuerySrq => {
                let has = self.srqs.contains(&SrqId::from_number(command.srq));
                not_its_own(has, Error::UnknownSrq, same)
            }
            CommandOpcode::Deregister => {
                let has = self.stags.contains_key(&index(command.stag));
                not_its_own(has, Error::UnknownStag(command.stag), same)
            }
            CommandOpcode::ModifyQp | CommandOpcode::QueryQp => {
                not_its_own(has_qp, Error::UnknownQp, same)
            }
            CommandOpcode::Listen => {
                charge = self.one_more(Resource::Ports, Error::NoPorts)?;
                Ok(Command {
                    // 0 is any number.
                    backlog: match command.backlog {
                        0 => MAX_BACKLOG,
                        some => some.min(MAX_BACKLOG),
                    },
                    ..same
                })
            }
            CommandOpcode::Unlisten => {
                let has = self.ports.contains_key(&command.port);
                not_its_own(has, Error::UnknownConnection, same)
            }
            CommandOpcode::Connect if is_behind => Err(Error::NoConnections.into()),
            CommandOpcode::Connect => {
                not_its_own(has_qp, Error::UnknownQp, ())?;
                charge = self.one_more(Resource::Connections, Error::NoConnections)?;
                Ok(same)
            }
            CommandOpcode::Accept => {
                not_its_own(has_conn, Error::UnknownConnection, ())?;
                not_its_own(has_qp, Error::UnknownQp, same)
            }
            CommandOpcode::Reject | CommandOpcode::Disconnect | CommandOpcode::Abort => {
                not_its_own(has_conn, Error::UnknownConnection, same)
            }
        };
        command.map(|command| Checked { command, charge })
    }

    /// A region has to lie in memory that was given to it, with no more access than that has.
    fn check_region(&self, command: &Command) -> Result<(), Refusal> {
        let access = Access::from_bits(command.access).ok_or(Refusal::Malformed)?;
        let has_pd = self.pds.contains(&PdId::from_number(command.pd));
        not_its_own(has_pd, Error::UnknownPd, ())?;
        let (iova, length) = (command.iova, command.region_length);
        let end = iova.checked_add(length).ok_or(Error::InvalidRegion)?;
        let holds = |memory: &Memory| {
            let last = memory.iova.saturating_add(memory.length);
            memory.iova <= iova && end <= last && memory.access.contains(access)
        };
        not_its_own(self.memory.iter().any(holds), Error::InvalidRegion, ())
    }

    /// A command of it was done; the queue pair that takes work from now on, if one does.
    pub(super) fn done(&mut self, checked: Checked, answer: &Answer) -> Option<QpId> {
        let Checked { command, charge } = checked;
        let conn = ConnId::from_number(command.conn);
        let opcode = command.opcode().ok()?;
        match opcode {
            CommandOpcode::Register | CommandOpcode::AllocStag => {
                let registered = Registered {
                    stag: answer.stag,
                    pd: PdId::from_number(command.pd),
                    iova: (opcode == CommandOpcode::Register).then_some(command.iova),
                    _charge: charge?,
                };
                self.stags.insert(index(answer.stag), registered);
            }
            CommandOpcode::Deregister => {
                self.stags.remove(&index(command.stag));
            }
            CommandOpcode::Listen => {
                self.ports.insert(answer.port, charge?);
            }
            CommandOpcode::Unlisten => {
                self.ports.remove(&command.port);
            }
            CommandOpcode::Connect => {
                let made = ConnId::from_number(answer.conn);
                self.conns.extend(made.map(|conn| (conn, charge)));
                return Some(QpId::from_number(command.qp));
            }
            CommandOpcode::Accept => return Some(QpId::from_number(command.qp)),
            // There is no event of these.
            CommandOpcode::Reject | CommandOpcode::Abort => {
                self.conns.retain(|own, _| Some(*own) != conn);
            }
            _ => {}
        }
        None
    }

    /// Is this event of what belongs to it? A request at a port of it does from now on, if it may have one more.
    pub(super) fn take(&mut self, event: &Event) -> Taken {
        let is_its_own = match event {
            Event::ConnectRequest { conn, port, .. } if self.ports.contains_key(port) => {
                return match self.account.charge(Resource::Connections, 1) {
                    Ok(charge) => {
                        self.conns.insert(*conn, Some(charge));
                        Taken::Own
                    }
                    Err(_) => Taken::TooMany,
                };
            }
            Event::Established { conn, .. } => self.conns.contains_key(conn),
            Event::Rejected { conn, .. }
            | Event::ConnectError { conn, .. }
            | Event::Disconnected { conn, .. } => self.conns.remove(conn).is_some(),
            Event::QpFatal { qp, .. } | Event::LastWqe { qp } => self.has_qp(*qp),
            Event::SrqLimit { srq } => self.srqs.contains(srq),
            _ => false,
        };
        match is_its_own {
            true => Taken::Own,
            false => Taken::Others,
        }
    }

    /// Does it listen on this port?
    pub(super) fn listens(&self, port: u16) -> bool {
        self.ports.contains_key(&port)
    }

    pub(super) fn forget(&mut self, conn: ConnId) {
        self.conns.remove(&conn);
    }

    /// All that it has made, to be ended.
    pub(super) fn give_up(&mut self) -> GivenUp {
        GivenUp {
            conns: std::mem::take(&mut self.conns),
            ports: std::mem::take(&mut self.ports),
            qps: std::mem::take(&mut self.qps),
            stags: std::mem::take(&mut self.stags),
        }
    }
}

/// Whose an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Own,
    Others,
    /// A request at its port, where it has as many connections as it may.
    TooMany,
}

/// What somebody had who is gone. What is counted is so until it is dropped.
pub(super) struct GivenUp {
    pub(super) conns: BTreeMap<ConnId, Option<Charge>>,
    pub(super) ports: BTreeMap<u16, Charge>,
    pub(super) qps: BTreeSet<QpId>,
    pub(super) stags: BTreeMap<u32, Registered>,
}

#[cfg(test)]
mod tests {
    use weft_engine::commands;
    use weft_engine::{ConnectFailure, ConnectParams, QpConfig, QpState};

    use super::super::account::Quota;
    use super::*;

    fn conn(number: u64) -> ConnId {
        ConnId::from_number(number).expect("a number")
    }

    fn qp(number: u32) -> QpId {
        QpId::from_number(number)
    }

    /// It has domain 1, queue pair 5 and 0x1000 bytes from 0x10000 on.
    fn resources() -> ClientResources {
        let quota = Quota::UNLIMITED.with(Resource::Regions, MOST);
        let mut all = ClientResources::of(Account::new("the client", quota, None));
        let pd = PdId::from_number(1);
        all.give_qp(pd, qp(5));
        all.give_memory(pd, 0x10000, 0x1000, Access::LOCAL_WRITE);
        all
    }

    /// Regions that it may have.
    const MOST: u64 = 256;

    fn done(all: &mut ClientResources, command: &Command, answer: Answer) {
        let checked = all.check(command, false).expect("its own");
        all.done(checked, &answer);
    }

    #[test]
    fn what_is_anothers_is_refused_as_what_is_not_there() {
        let all = resources();
        let refused = |command: Command| all.check(&command, false).err();
        let of_qp = Some(Refusal::Engine(Error::UnknownQp));
        let of_conn = Some(Refusal::Engine(Error::UnknownConnection));
        let own = QpState::Error;
        assert_eq!(refused(commands::query_qp(qp(5))), None);
        assert_eq!(refused(commands::query_qp(qp(6))), of_qp);
        assert_eq!(refused(commands::modify_qp(qp(5), own)), None);
        assert_eq!(refused(commands::modify_qp(qp(0x10005), own)), of_qp);
        let connect = |qp| commands::connect(qp, &ConnectParams::default());
        assert_eq!(refused(connect(qp(5))), None);
        assert_eq!(refused(connect(qp(4))), of_qp);
        assert_eq!(refused(commands::disconnect(conn(7))), of_conn);
        assert_eq!(refused(commands::abort(conn(7))), of_conn);
        assert_eq!(refused(commands::reject(conn(7))), of_conn);
        assert_eq!(refused(commands::unlisten(80)), of_conn);
        let stag = Some(Refusal::Engine(Error::UnknownStag(9)));
        assert_eq!(refused(commands::deregister(9)), stag);
        let made = [
            commands::alloc_pd(),
            commands::dealloc_pd(PdId::from_number(1)),
            commands::destroy_qp(qp(5)),
            commands::create_qp(&QpConfig {
                pd: PdId::from_number(1),
                send_depth: 1,
                recv_depth: 1,
                max_sge: 1,
                rung: None,
            }),
        ];
        for command in made {
            assert_eq!(refused(command), Some(Refusal::Malformed));
        }
    }

    #[test]
    fn a_region_lies_in_memory_that_was_given() {
        let mut all = resources();
        let region = |pd: u32, iova: u64, length: u64, access| {
            commands::register(PdId::from_number(pd), 0, iova, length, access)
        };
        let rights = Access::LOCAL_WRITE;
        let invalid = Some(Refusal::Engine(Error::InvalidRegion));
        for (command, why) in [
            (region(1, 0x10000, 0x1000, rights), None),
            (region(1, 0x10800, 0x800, rights), None),
            (region(1, 0x10800, 0x801, rights), invalid),
            (region(1, 0xffff, 2, rights), invalid),
            (region(1, 0x11000, 1, rights), invalid),
            (region(1, u64::MAX, 2, rights), invalid),
            (region(1, 0x10000, 1, Access::REMOTE_WRITE), invalid),
            (
                region(2, 0x10000, 1, rights),
                Some(Refusal::Engine(Error::UnknownPd)),
            ),
        ] {
            assert_eq!(all.check(&command, false).err(), why, "{command:?}");
        }
        let own = region(1, 0x10000, 16, rights);
        for number in 0..MOST as u32 {
            let answer = Answer {
                stag: number << 8 | 7,
                ..Answer::default()
            };
            done(&mut all, &own, answer);
        }
        let full = Some(Refusal::Engine(Error::NoStags));
        assert_eq!(all.check(&own, false).err(), full);
        done(
            &mut all,
            &commands::deregister(3 << 8 | 7),
            Answer::default(),
        );
        assert_eq!(all.check(&own, false).err(), None);
        let gone = 3 << 8 | 7;
        let again = all.check(&commands::deregister(gone), false).err();
        assert_eq!(again, Some(Refusal::Engine(Error::UnknownStag(gone))));
    }

    /// A connection is its own from its command, or the request at its port, until its end.
    #[test]
    fn connections_come_and_go() {
        let mut all = resources();
        let answer = Answer {
            conn: 7,
            port: 4791,
            ..Answer::default()
        };
        done(
            &mut all,
            &commands::connect(qp(5), &ConnectParams::default()),
            answer,
        );
        done(&mut all, &commands::listen(0, 1 << 20), answer);
        let behind = all.check(&commands::connect(qp(5), &ConnectParams::default()), true);
        assert_eq!(behind.err(), Some(Refusal::Engine(Error::NoConnections)));
        let listen = all.check(&commands::listen(0, 1 << 20), false);
        assert_eq!(listen.expect("possible").command.backlog, MAX_BACKLOG);
        let listen = all.check(&commands::listen(0, 0), false);
        assert_eq!(listen.expect("possible").command.backlog, MAX_BACKLOG);
        let over = |number| Event::ConnectError {
            conn: conn(number),
            reason: ConnectFailure::Closed,
        };
        assert_eq!(all.take(&over(8)), Taken::Others);
        assert!(all.check(&commands::abort(conn(7)), false).is_ok());
        assert_eq!(all.account.table(), [("ports", 1), ("connections", 1)]);
        assert_eq!(all.take(&over(7)), Taken::Own);
        assert_eq!(all.take(&over(7)), Taken::Others);
        assert_eq!(all.account.table(), [("ports", 1)]);
        assert!(all.check(&commands::abort(conn(7)), false).is_err());
        let fatal = |number| Event::QpFatal {
            qp: qp(number),
            terminate: None,
            received: false,
        };
        assert_eq!(
            [5, 6].map(|qp| all.take(&fatal(qp))),
            [Taken::Own, Taken::Others]
        );
    }
}
