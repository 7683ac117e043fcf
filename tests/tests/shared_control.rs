//! Control rings lent to other processes: they register, connect, listen and disconnect by commands of their own, and reach nothing that is
//! not theirs.

use std::convert::Infallible;
use std::fs::File;
use std::net::SocketAddrV4;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command as Process};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use weft_hostdrv::cm::*;
use weft_hostdrv::unstable::control::{Answer, Command, ConnectParams, Endpoint, Refusal};
use weft_hostdrv::unstable::queues::{Payload, SendWqe, Sge, Wqe, WqeOpcode};
use weft_hostdrv::unstable::{self, control};
use weft_hostdrv::unstable::{SharedControl, SharedQueues};
use weft_hostdrv::verbs::*;
use weft_layout::CqeStatus;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{completion, no_faults, pattern, standing, End, Pair};
use weft_tests::left_out_on_card;

/// Bytes that a borrower moves, and of the memory that it is given.
const BYTES: usize = 3000;
const MEMORY: usize = 8192;
/// The port that the peer listens on, and the one that borrowers do.
const PEER_PORT: u16 = 4791;
const OWN_PORT: u16 = 7000;

/// Queue pairs of a borrower: each has one connection in its life.
const QPS: usize = 3;

/// A queue pair that it gets: its files, what is in them, its number in commands.
#[derive(Clone, Serialize, Deserialize)]
struct Queues {
    files: [String; 2],
    terms: Terms,
    qp: u32,
}

/// What a borrower gets.
#[derive(Clone, Serialize, Deserialize)]
struct Errand {
    control: [String; 2],
    control_terms: ControlTerms,
    queues: Vec<Queues>,
    memory: SharedRange,
    peer_ip: [u8; 4],
    /// Where its bytes go: STag and address.
    to: (u32, u64),
    /// What is another's: queue pair, domain's memory, STag.
    other_qp: u32,
    other_memory: SharedRange,
    other_stag: u32,
    port: u16,
}

/// What the owner holds for a borrower.
struct Lent {
    control: ControlLease,
    qps: Vec<Qp>,
    mr: Mr,
}

fn path(file: BorrowedFd<'_>) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
}

impl Lent {
    fn new(bench: &Bench, a: &End) -> Self {
        let control = bench.device(0).create_shareable_control().expect("rings");
        let qps = (0..QPS).map(|_| {
            let cq = bench.device(0).create_shareable_cq(64).expect("a queue");
            let init = QpInit {
                shareable: true,
                ..QpInit::new(&cq)
            };
            let qp = a.pd.create_qp(&init).expect("a queue pair");
            assert_eq!(control.give_qp(&qp), Err(VerbsError::NotShareable));
            qp
        });
        let qps = qps.collect();
        let mr = a.pd.alloc_mr(MEMORY, Access::LOCAL_WRITE);
        Self {
            control,
            qps,
            mr: mr.expect("a region"),
        }
    }

    /// Lends all; `other`: what belongs to somebody else.
    fn errand(&self, bench: &Bench, to: (u32, u64), port: u16) -> Errand {
        let queues = self.qps.iter().map(|qp| {
            let lease = qp.share().expect("made for it");
            Queues {
                files: [lease.queues, lease.completions].map(path),
                terms: lease.terms,
                qp: self.control.give_qp(qp).expect("of its device"),
            }
        });
        let queues = queues.collect();
        let (files, control_terms) = self.control.files().expect("made for it");
        let memory = self.control.give_memory(&self.mr).expect("of its device");
        Errand {
            control: files.map(path),
            control_terms,
            queues,
            memory,
            peer_ip: bench.ip(1).octets(),
            to,
            other_qp: 0,
            other_memory: memory,
            other_stag: 0,
            port,
        }
    }
}

fn open(path: &String) -> OwnedFd {
    let file = File::options().read(true).write(true).open(path);
    file.expect("lent").into()
}

/// A borrower was killed while it waited.
#[derive(Debug)]
struct Killed;

/// What a borrower of a process of its own does while it waits.
fn wait_in_process() -> Result<(), Killed> {
    std::thread::yield_now();
    Ok(())
}

/// A borrower at work; `wait`: what it does until something has changed.
struct Borrower<W> {
    errand: Errand,
    control: SharedControl,
    wait: W,
}

impl<W: FnMut() -> Result<(), Killed>> Borrower<W> {
    fn new(errand: Errand, wait: W) -> Self {
        let [commands, events] = errand.control.each_ref().map(open);
        let control = SharedControl::open([commands, events], errand.control_terms);
        Self {
            control: control.expect("as lent"),
            errand,
            wait,
        }
    }

    /// The number of one of its queue pairs.
    fn qp_id(&self, at: usize) -> control::QpId {
        control::QpId::from_number(self.errand.queues[at].qp)
    }

    /// Has a command done.
    fn command(&mut self, command: &Command) -> Result<Result<Answer, Refusal>, Killed> {
        let number = self.control.post(command, &[]).expect("room");
        loop {
            if let Some((done, answer)) = self.control.answer() {
                assert_eq!(done, number);
                return Ok(answer);
            }
            (self.wait)()?;
        }
    }

    fn event(&mut self) -> Result<control::Event, Killed> {
        loop {
            if let Some(event) = self.control.take_event() {
                return Ok(event);
            }
            (self.wait)()?;
        }
    }

    /// Registers its memory, connects, writes all of it to the peer, and takes everything back.
    fn round(&mut self, at: usize) -> Result<(), Killed> {
        let Queues { files, terms, .. } = &self.errand.queues[at];
        let [queues, completions] = files.each_ref().map(open);
        let mut lent = SharedQueues::open(queues, completions, *terms).expect("as lent");
        let SharedRange { iova, length, .. } = self.errand.memory;
        let domain = unstable::domain_of(&self.errand.memory);
        let register = control::register(domain, 0x100, iova, length, Access::LOCAL_WRITE);
        let stag = self.command(&register)?.expect("its own").stag;
        let params = ConnectParams {
            remote: Endpoint {
                ip: self.errand.peer_ip,
                port: PEER_PORT,
            },
            ..ConnectParams::default()
        };
        let connect = control::connect(self.qp_id(at), &params);
        let conn = self.command(&connect)?.expect("its own").conn;
        match self.event()? {
            control::Event::Established { conn: own, qp, .. } => {
                assert_eq!((own.number(), qp), (conn, self.qp_id(at)));
            }
            other => panic!("{other:?}"),
        }
        let sge = Sge {
            to: 0x100,
            length: BYTES as u32,
            stag,
        };
        let (peer_stag, to) = self.errand.to;
        let wqe = Wqe {
            opcode: WqeOpcode::Write,
            flags: SendWqe::SIGNALED,
            to,
            stag: peer_stag,
            payload: Payload::Sges(std::slice::from_ref(&sge)),
        };
        lent.post_send(&wqe).expect("room");
        let cqe = loop {
            match lent.poll() {
                Some(cqe) => break cqe,
                None => (self.wait)()?,
            }
        };
        assert_eq!(cqe.status(), Ok(CqeStatus::Success));
        let conn = control::ConnId::from_number(conn).expect("a number");
        self.command(&control::disconnect(conn))?.expect("its own");
        match self.event()? {
            control::Event::Disconnected { conn: own, .. } => assert_eq!(own, conn),
            other => panic!("{other:?}"),
        }
        self.command(&control::deregister(stag))?.expect("its own");
        Ok(())
    }

    /// Commands of what is another's; how many were refused.
    fn trespass(&mut self) -> Result<u64, Killed> {
        let errand = self.errand.clone();
        let other = control::QpId::from_number(errand.other_qp);
        let (own, theirs) = (errand.memory, errand.other_memory);
        let region = |memory: SharedRange, length: u64, access| {
            control::register(unstable::domain_of(&own), 0, memory.iova, length, access)
        };
        let unknown_qp = Refusal::Engine(control::Error::UnknownQp);
        let unknown_conn = Refusal::Engine(control::Error::UnknownConnection);
        let invalid = Refusal::Engine(control::Error::InvalidRegion);
        let stag = errand.other_stag;
        let wrong = [
            (control::query_qp(other), unknown_qp),
            (control::modify_qp(other, QpState::Error), unknown_qp),
            (
                control::connect(other, &ConnectParams::default()),
                unknown_qp,
            ),
            (control::destroy_qp(self.qp_id(0)), Refusal::Malformed),
            (region(theirs, 16, Access::LOCAL_WRITE), invalid),
            (region(own, own.length + 1, Access::LOCAL_WRITE), invalid),
            (region(own, 16, Access::REMOTE_READ), invalid),
            (
                control::deregister(stag),
                Refusal::Engine(control::Error::UnknownStag(stag)),
            ),
            (control::unlisten(PEER_PORT), unknown_conn),
        ];
        for (command, why) in &wrong {
            assert_eq!(self.command(command)?.err(), Some(*why), "{command:?}");
        }
        // Whatever number a connection of somebody else has.
        let guesses = (0..64u64).flat_map(|slot| (0..4).map(move |age| slot | age << 16));
        let mut refused = wrong.len() as u64;
        for conn in guesses.filter_map(control::ConnId::from_number) {
            let why = self.command(&control::abort(conn))?.err();
            assert_eq!(why, Some(unknown_conn), "{conn:?}");
            refused += 1;
        }
        Ok(refused)
    }
}

/// Commands of [`Borrower::trespass`].
const TRESPASSES: u64 = 9 + 64 * 4;

fn errand_of_process() -> Errand {
    let errand = std::env::var("WEFT_ERRAND").expect("an errand");
    serde_json::from_str(&errand).expect("an errand")
}

#[test]
#[ignore = "a process of the test two_processes_command_one_engine"]
fn commander() {
    command_all(&mut Borrower::new(errand_of_process(), wait_in_process)).expect("lives");
}

fn command_all<W: FnMut() -> Result<(), Killed>>(borrower: &mut Borrower<W>) -> Result<(), Killed> {
    let listen = control::listen(borrower.errand.port, 4);
    let port = borrower.command(&listen)?.expect("free").port;
    assert_eq!(port, borrower.errand.port);
    for at in 0..QPS {
        borrower.round(at)?;
    }
    assert_eq!(borrower.trespass()?, TRESPASSES);
    borrower
        .command(&control::unlisten(port))?
        .expect("its own");
    Ok(())
}

#[test]
#[ignore = "a process of the test a_process_that_is_killed_leaves_nothing_behind"]
fn restless_commander() {
    let end = never_rest(&mut Borrower::new(errand_of_process(), wait_in_process));
    panic!("{end:?}: another process kills this one");
}

/// All its connections, one after the other, then registrations until it is killed.
fn never_rest<W>(borrower: &mut Borrower<W>) -> Result<Infallible, Killed>
where
    W: FnMut() -> Result<(), Killed>,
{
    let listen = control::listen(borrower.errand.port, 4);
    borrower.command(&listen)?.expect("free");
    for at in 0..QPS {
        borrower.round(at)?;
    }
    let SharedRange { iova, length, .. } = borrower.errand.memory;
    let domain = unstable::domain_of(&borrower.errand.memory);
    loop {
        let register = control::register(domain, 0, iova, length, Access::LOCAL_WRITE);
        let stag = borrower.command(&register)?.expect("its own").stag;
        let deregister = control::deregister(stag);
        borrower.command(&deregister)?.expect("its own");
    }
}

fn spawn(test: &str, errand: &Errand) -> Child {
    Process::new(std::env::current_exe().expect("a path"))
        .args(["--exact", &format!("shared_control::{test}"), "--ignored"])
        .env("WEFT_ERRAND", serde_json::to_string(errand).expect("JSON"))
        .spawn()
        .expect("a process")
}

/// The peer, which accepts who comes.
#[derive(Default)]
struct Peer {
    servers: Vec<CmId>,
    /// Ends of connections.
    over: usize,
}

impl Peer {
    /// The work of the owner, and of the peer, for some cycles.
    fn turn(&mut self, bench: &Bench, b: &End, cycles: u64) {
        let fabric = bench.fabric().expect("simulated");
        fabric.progress().expect("it works");
        fabric.run_for(cycles).expect("it works");
        while let Some(event) = b.channel.try_get_event().expect("it works") {
            match event.event {
                CmEventType::ConnectRequest => {
                    self.servers.push(b.accept(event.id, &ConnParam::default()));
                }
                CmEventType::Disconnected | CmEventType::ConnectError => {
                    self.servers.retain(|id| id.state() != CmState::Closed);
                    self.over += 1;
                }
                _ => {}
            }
        }
    }
}

/// Cycles of a turn beside a process, which takes its own time.
const TURN: u64 = 2_000;

#[test]
fn two_processes_command_one_engine() {
    if left_out_on_card(
        "two_processes_command_one_engine",
        "queues there are lent to nobody",
    ) {
        return;
    }
    // The owner's connection is one that they try to end.
    let (pair, _listener) = owners(6);
    let Pair {
        bench,
        a,
        b,
        client: own,
        ..
    } = &pair;
    let lent = [0, 1].map(|_| Lent::new(bench, a));
    let mut errands = [0, 1].map(|at: usize| {
        let to = (b.mr.rkey(), b.mr.addr() + (at * MEMORY) as u64);
        lent[at].errand(bench, to, OWN_PORT + at as u16)
    });
    let both = errands.clone();
    for (errand, other) in errands.iter_mut().zip(both.iter().rev()) {
        errand.other_qp = other.queues[0].qp;
        errand.other_memory = other.memory;
        errand.other_stag = a.mr.lkey();
    }
    for (salt, one) in (1..).zip(&lent) {
        one.mr.write(0, &pattern(BYTES, salt)).expect("inside");
    }
    let mut children = errands.each_ref().map(|errand| spawn("commander", errand));
    let (mut peer, mut ends) = (Peer::default(), [None, None]);
    while ends.iter().any(Option::is_none) {
        peer.turn(bench, b, TURN);
        for (child, end) in children.iter_mut().zip(&mut ends) {
            *end = end.or(child.try_wait().expect("a process of ours"));
        }
    }
    for end in ends.into_iter().flatten() {
        assert!(end.success(), "{end}");
    }
    assert_eq!(peer.over, 2 * QPS);
    for (at, one) in lent.iter().enumerate() {
        let there = b.mr.to_vec(at * MEMORY, BYTES).expect("inside");
        assert_eq!(there, pattern(BYTES, at as u8 + 1), "{at}");
        assert_eq!(one.control.refused(), TRESPASSES, "{at}");
    }
    assert_eq!(own.qp().expect("has one").state(), Ok(QpState::Rts));
    no_faults(bench);
}

/// Two devices with a connection of their owner's, and the peer's listener, which borrowers connect to.
fn owners(seed: u64) -> (Pair, CmId) {
    let bench = Bench::new(&Way::Sim, seed).expect("two cards come up");
    standing(bench, &ConnParam::default(), &ConnParam::default())
}

/// What holds after a borrower was killed, in each round with other data: its connections end, its port is free, its regions are gone, and the owner's own connection
/// moves data.
fn nothing_is_left(pair: &Pair, lent: Lent, mut peer: Peer, round: u8) {
    let Pair {
        bench,
        a,
        b,
        client: own,
        ..
    } = pair;
    let Lent { control, qps, mr } = lent;
    drop(control);
    for _ in 0..100 {
        peer.turn(bench, b, TURN);
    }
    let left: Vec<_> = peer.servers.iter().map(CmId::state).collect();
    assert_eq!(left, [], "{round}: a connection goes on");
    for qp in &qps {
        assert_eq!(qp.state(), Ok(QpState::Error), "{round}");
    }
    drop(qps);
    mr.dereg().expect("nobody has it any more");
    let port = a.channel.create_id();
    port.bind_addr(SocketAddrV4::new(bench.ip(0), OWN_PORT))
        .expect("possible");
    port.listen(1).expect("free again");
    let bytes = pattern(BYTES, round);
    a.mr.write(0, &bytes).expect("inside");
    let target = b.mr.remote().offset(100_000);
    let write = SendWr::write(1, target).sge(a.mr.sge(0, BYTES as u32));
    let qp = own.qp().expect("has one");
    qp.post_send(write.signaled()).expect("room");
    assert_eq!(completion(bench, &a.cq).status, WcStatus::Success);
    assert_eq!(b.mr.to_vec(100_000, BYTES), Ok(bytes), "{round}");
}

#[test]
fn a_process_that_is_killed_leaves_nothing_behind() {
    if left_out_on_card(
        "a_process_that_is_killed_leaves_nothing_behind",
        "queues there are lent to nobody",
    ) {
        return;
    }
    let (pair, _listener) = owners(7);
    let Pair { bench, a, b, .. } = &pair;
    let mut random = ChaCha8Rng::seed_from_u64(8);
    for round in 0..10 {
        let lent = Lent::new(bench, a);
        let errand = lent.errand(bench, (b.mr.rkey(), b.mr.addr()), OWN_PORT);
        let mut child = spawn("restless_commander", &errand);
        let mut peer = Peer::default();
        let moment = random.random_range(0..400);
        let mut turns = 0;
        // Counted from its first connection on.
        while turns < moment || (peer.servers.is_empty() && peer.over == 0) {
            peer.turn(bench, b, TURN);
            turns += u32::from(!peer.servers.is_empty() || peer.over > 0);
        }
        child.kill().expect("a process of ours");
        child.wait().expect("a process of ours");
        nothing_is_left(&pair, lent, peer, round);
    }
    no_faults(bench);
}

/// The same with borrowers of this process, which end at moments that can be drawn again.
#[test]
fn a_borrower_can_end_at_any_moment() {
    if left_out_on_card(
        "a_borrower_can_end_at_any_moment",
        "queues there are lent to nobody",
    ) {
        return;
    }
    let (pair, _listener) = owners(11);
    let Pair { bench, a, b, .. } = &pair;
    for moment in (0..180).step_by(3) {
        let lent = Lent::new(bench, a);
        let errand = lent.errand(bench, (b.mr.rkey(), b.mr.addr()), OWN_PORT);
        let mut peer = Peer::default();
        let mut turns = 0..moment;
        let wait = || {
            turns.next().ok_or(Killed)?;
            peer.turn(bench, b, 200);
            Ok(())
        };
        never_rest(&mut Borrower::new(errand, wait)).expect_err("killed");
        nothing_is_left(&pair, lent, peer, moment);
    }
    no_faults(bench);
}

/// Random commands with names of its own, of others and of nobody: the owner's connection goes on.
#[test]
fn a_borrower_that_commands_nonsense_hurts_nobody() {
    if left_out_on_card(
        "a_borrower_that_commands_nonsense_hurts_nobody",
        "queues there are lent to nobody",
    ) {
        return;
    }
    // The owner's connection is one that they try to end.
    let (pair, _listener) = owners(9);
    let Pair {
        bench,
        a,
        b,
        client: own,
        ..
    } = &pair;
    let lent = Lent::new(bench, a);
    let errand = lent.errand(bench, (0, 0), OWN_PORT);
    let mut borrower = Borrower::new(errand, wait_in_process);
    let mut random = ChaCha8Rng::seed_from_u64(10);
    let mut peer = Peer::default();
    let (mut done, mut refused) = (0, 0);
    for _ in 0..3000 {
        let memory = borrower.errand.memory;
        let command = Command {
            opcode: random.random_range(0..24),
            pd: memory.pd ^ random.random_range(0..2),
            qp: random.random_range(0..8) | borrower.errand.queues[0].qp & 0xffff_0000,
            conn: random.random_range(0..16) | random.random_range(0..4) << 16,
            stag: a.mr.lkey() ^ random.random_range(0..3),
            iova: memory.iova ^ random.random_range(0..2) << random.random_range(0..40),
            base_to: random.random(),
            region_length: 1 << random.random_range(0..16),
            access: random.random_range(0..32),
            state: random.random_range(0..6),
            port: random.random_range(4780..4800),
            backlog: random.random_range(0..100),
            remote_ip: bench.ip(1).octets(),
            remote_port: PEER_PORT,
            revision: random.random_range(0..3),
            rtr: random.random_range(0..8),
            ..Command::default()
        };
        if borrower.control.post(&command, &[]).is_err() || random.random_range(0..8) == 0 {
            peer.turn(bench, b, TURN);
        }
        while let Some((_, answer)) = borrower.control.answer() {
            match answer {
                Ok(_) => done += 1,
                Err(_) => refused += 1,
            }
        }
        if random.random_range(0..16) == 0 {
            borrower.control.take_event();
        }
    }
    assert!(
        done > 20 && refused > 1000,
        "{done} done, {refused} refused"
    );
    assert!(lent.control.refused() > 1000);
    assert_eq!(own.qp().expect("has one").state(), Ok(QpState::Rts));
    drop(lent);
    for _ in 0..100 {
        peer.turn(bench, b, TURN);
    }
    let write = SendWr::write(1, b.mr.remote()).sge(a.mr.sge(0, BYTES as u32));
    let qp = own.qp().expect("has one");
    qp.post_send(write.signaled()).expect("room");
    assert_eq!(completion(bench, &a.cq).status, WcStatus::Success);
}
