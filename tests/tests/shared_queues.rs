//! Queues lent to other processes: they post and poll, the process that has the card does the work.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::process::{Child, Command};

use rand::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use weft_hostdrv::cm::*;
use weft_hostdrv::unstable::queues::{Payload, SendWqe, Sge, Wqe, WqeOpcode};
use weft_hostdrv::unstable::SharedQueues;
use weft_hostdrv::verbs::*;
use weft_layout::{Cqe, CqeOpcode, CqeStatus};
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{completion, next_event, no_faults, pattern, End, LIMIT};
use weft_tests::left_out_on_card;

/// Where a borrower finds its queues, and what it moves.
#[derive(Serialize, Deserialize)]
struct Errand {
    queues: String,
    completions: String,
    terms: Terms,
    /// From this region's part ...
    stag: u32,
    from: u64,
    /// ... to this one of the peer's.
    peer_stag: u32,
    to: u64,
    /// What its own bytes are.
    salt: u8,
}

/// Messages of a borrower, and bytes of each; every fourth is inline.
const MESSAGES: u64 = 120;
const BYTES: u32 = 600;
const INLINE: usize = 48;
/// Bytes of a region that a borrower's messages fill.
const AREA: u64 = MESSAGES * BYTES as u64;

/// A connection whose client end is to be lent.
struct Lendable {
    client: CmId,
    /// The other end, held open.
    _server: CmId,
}

fn connect(bench: &Bench, a: &End, b: &End, cqe: usize) -> Lendable {
    let cq = bench.device(0).create_shareable_cq(cqe).expect("a queue");
    let init = QpInit {
        shareable: true,
        ..QpInit::new(&cq)
    };
    let client = a.client_with(bench, &init, &ConnParam::default());
    let server = b.accept_next(bench);
    next_event(bench, &a.channel, CmEventType::Established);
    next_event(bench, &b.channel, CmEventType::Established);
    Lendable {
        client,
        _server: server,
    }
}

fn bench() -> Bench {
    Bench::new(&Way::Sim, 5).expect("two cards come up")
}

fn errand(lease: &Lease<'_>, a: &End, b: &End, number: u64) -> Errand {
    let path = |file: i32| format!("/proc/{}/fd/{file}", std::process::id());
    Errand {
        queues: path(lease.queues.as_raw_fd()),
        completions: path(lease.completions.as_raw_fd()),
        terms: lease.terms,
        stag: a.mr.lkey(),
        from: a.mr.addr() + number * AREA,
        peer_stag: b.mr.rkey(),
        to: b.mr.addr() + number * AREA,
        salt: 0x40 + number as u8,
    }
}

fn open(errand: &Errand) -> SharedQueues {
    let file = |path: &str| {
        let file = File::options().read(true).write(true).open(path);
        file.expect("lent").into()
    };
    SharedQueues::open(
        file(&errand.queues),
        file(&errand.completions),
        errand.terms,
    )
    .expect("as lent")
}

fn inline_bytes(number: u64, salt: u8) -> [u8; INLINE] {
    std::array::from_fn(|at| (at as u8).wrapping_add(number as u8) ^ salt)
}

/// Posts a message of an errand; false: the queue is full.
fn post(qp: &mut SharedQueues, errand: &Errand, number: u64, flags: u8) -> bool {
    let at = number * u64::from(BYTES);
    let sge = Sge {
        to: errand.from + at,
        length: BYTES,
        stag: errand.stag,
    };
    let bytes = inline_bytes(number, errand.salt);
    let wqe = Wqe {
        opcode: WqeOpcode::Write,
        flags,
        to: errand.to + at,
        stag: errand.peer_stag,
        payload: match number % 4 {
            3 => Payload::Inline(&bytes),
            _ => Payload::Sges(std::slice::from_ref(&sge)),
        },
    };
    qp.post_send(&wqe).is_ok()
}

/// Run by the test below in a process of its own: posts all its messages, one of three signaled, and polls.
#[test]
#[ignore = "a process of the test two_processes_post_to_one_engine"]
fn borrower() {
    let errand = std::env::var("WEFT_ERRAND").expect("an errand");
    let errand: Errand = serde_json::from_str(&errand).expect("an errand");
    let mut qp = open(&errand);
    let (mut posted, mut seen) = (0, 0);
    while seen < MESSAGES / 3 {
        let signaled = posted % 3 == 2;
        let flags = if signaled { SendWqe::SIGNALED } else { 0 };
        if posted < MESSAGES && post(&mut qp, &errand, posted, flags) {
            posted += 1;
        }
        while let Some(cqe) = qp.poll() {
            assert_eq!(
                (cqe.qp_num, cqe.status(), cqe.opcode()),
                (
                    errand.terms.qp_num,
                    Ok(CqeStatus::Success),
                    Ok(CqeOpcode::Write)
                ),
            );
            seen += 1;
        }
        std::thread::yield_now();
    }
    assert_eq!(posted, MESSAGES);
}

fn borrow(errand: &Errand) -> Child {
    let own = std::env::current_exe().expect("a path");
    Command::new(own)
        .args(["--exact", "shared_queues::borrower", "--ignored"])
        .env("WEFT_ERRAND", serde_json::to_string(errand).expect("JSON"))
        .spawn()
        .expect("a process")
}

/// The work of the owner until something is true.
fn work_until(bench: &Bench, mut done: impl FnMut() -> bool) {
    let fabric = bench.fabric().expect("simulated");
    while !done() {
        fabric.progress().expect("it works");
        fabric.run_for(2_000).expect("it works");
    }
}

#[test]
fn two_processes_post_to_one_engine() {
    if left_out_on_card(
        "two_processes_post_to_one_engine",
        "queues there are lent to nobody",
    ) {
        return;
    }
    let bench = bench();
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(&bench);
    let source = pattern(2 * AREA as usize, 9);
    a.mr.write(0, &source).expect("inside");
    let connections = [0, 1].map(|_| connect(&bench, &a, &b, 256));
    let qps = connections
        .each_ref()
        .map(|c| c.client.qp().expect("has one"));
    let leases = qps.each_ref().map(|qp| qp.share().expect("made for it"));
    // They are another's now.
    let refused = qps[0].post_send(SendWr::send(1));
    assert_eq!(refused, Err(VerbsError::Shared));
    assert_eq!(qps[0].post_recv(RecvWr::new(1)), Err(VerbsError::Shared));
    assert!(matches!(qps[0].share(), Err(VerbsError::Shared)));

    let errands = [0, 1].map(|n| errand(&leases[n as usize], &a, &b, n));
    let mut children = errands.each_ref().map(borrow);
    let mut ends = [None, None];
    work_until(&bench, || {
        for (child, end) in children.iter_mut().zip(&mut ends) {
            if end.is_none() {
                *end = child.try_wait().expect("a process of ours");
            }
        }
        ends.iter().all(Option::is_some)
    });
    for end in ends.into_iter().flatten() {
        assert!(end.success(), "{end}");
    }
    for (number, errand) in errands.iter().enumerate() {
        for message in 0..MESSAGES {
            let at = number * AREA as usize + message as usize * BYTES as usize;
            let there = b.mr.to_vec(at, BYTES as usize).expect("inside");
            if message % 4 == 3 {
                assert_eq!(there[..INLINE], inline_bytes(message, errand.salt));
                assert_eq!(there[INLINE..], [0; BYTES as usize - INLINE]);
            } else {
                assert_eq!(there, source[at..at + BYTES as usize], "{number} {message}");
            }
        }
    }
    no_faults(&bench);
}

/// A borrower that is quick fills the rings before the owner looks: small WQEs are more than the engine's queue holds, and wait.
#[test]
fn a_borrower_fills_its_rings_before_the_owner_looks() {
    if left_out_on_card(
        "a_borrower_fills_its_rings_before_the_owner_looks",
        "queues there are lent to nobody",
    ) {
        return;
    }
    let bench = bench();
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(&bench);
    let source = pattern(AREA as usize, 4);
    a.mr.write(0, &source).expect("inside");
    let connection = connect(&bench, &a, &b, 256);
    let qp = connection.client.qp().expect("has one");
    let lease = qp.share().expect("made for it");
    let errand = errand(&lease, &a, &b, 0);
    let mut qp = open(&errand);
    let (mut posted, mut done) = (0, 0);
    while posted < MESSAGES && post(&mut qp, &errand, posted, SendWqe::SIGNALED) {
        posted += 1;
    }
    let depth = u64::from(errand.terms.max_send_wr);
    assert!(posted > depth, "{posted} in a ring for {depth}");
    let sge = Sge {
        to: a.mr.addr(),
        length: 100,
        stag: a.mr.lkey(),
    };
    while qp.post_recv(&[sge]).is_ok() {}
    work_until(&bench, || {
        while let Some(cqe) = qp.poll() {
            assert_eq!(cqe.status(), Ok(CqeStatus::Success), "{done}: {cqe:?}");
            done += 1;
        }
        done == posted
    });
    for at in (0..posted as usize).filter(|number| number % 4 != 3) {
        let range = at * BYTES as usize..(at + 1) * BYTES as usize;
        let there = b.mr.to_vec(range.start, BYTES as usize).expect("inside");
        assert_eq!(there, source[range], "{at}");
    }
    no_faults(&bench);
}

/// What a borrower asks for that is not to be had fails its queue pair, with a CQE that says what; the owner's own goes on.
#[test]
fn a_borrower_reaches_no_more_than_its_domain() {
    if left_out_on_card(
        "a_borrower_reaches_no_more_than_its_domain",
        "queues there are lent to nobody",
    ) {
        return;
    }
    let bench = bench();
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(&bench);
    for (wrong, status) in [
        ("stag", CqeStatus::LocalProtection),
        ("bounds", CqeStatus::LocalProtection),
        ("sges", CqeStatus::LocalOperation),
        ("inline", CqeStatus::LocalOperation),
    ] {
        let connection = connect(&bench, &a, &b, 8);
        let qp = connection.client.qp().expect("has one");
        let lease = qp.share().expect("made for it");
        let mut errand = errand(&lease, &a, &b, 0);
        if wrong == "stag" {
            errand.stag ^= 1;
        }
        if wrong == "bounds" {
            errand.from = a.mr.addr() + a.mr.len() as u64 - 10;
        }
        if matches!(wrong, "sges" | "inline") {
            // More than it was told that there may be, written by hand into the first block.
            let file = File::options()
                .write(true)
                .open(&errand.queues)
                .expect("lent");
            let (count, length, flags, blocks) = match wrong {
                "sges" => (6u8, 0u32, 1, 2),
                _ => (0, 100, 1 | SendWqe::INLINE_PAYLOAD, 3),
            };
            let mut header = [0; 64];
            header[..4].copy_from_slice(&[WqeOpcode::Write as u8, flags, blocks, count]);
            header[4..8].copy_from_slice(&length.to_le_bytes());
            file.write_all_at(&header, 128).expect("there");
            file.write_all_at(&u64::from(blocks).to_le_bytes(), 0)
                .expect("there");
        } else {
            let mut qp = open(&errand);
            assert!(post(&mut qp, &errand, 0, SendWqe::SIGNALED));
        }
        let mut reader = open(&errand);
        let mut came: Option<Cqe> = None;
        work_until(&bench, || {
            came = came.or_else(|| reader.poll());
            came.is_some()
        });
        let cqe = came.expect("waited for");
        assert_eq!(cqe.status(), Ok(status), "{wrong}: {cqe:?}");
        assert_eq!(qp.state(), Ok(QpState::Error), "{wrong}");
        for end in [&a, &b] {
            next_event(&bench, &end.channel, CmEventType::Disconnected);
        }
        drop(connection);
    }
    // The owner's own work is none of theirs.
    let own = a.client(&bench, &ConnParam::default());
    let _server = b.accept_next(&bench);
    next_event(&bench, &a.channel, CmEventType::Established);
    let qp = own.qp().expect("has one");
    let write = SendWr::write(1, b.mr.remote()).sge(a.mr.sge(0, 5000));
    qp.post_send(write.signaled()).expect("room");
    assert_eq!(completion(&bench, &a.cq).status, WcStatus::Success);
}

/// Work that the engine does not take completes in its turn: behind what was posted before it, before what was posted afterwards.
#[test]
fn refused_work_completes_in_its_turn() {
    if left_out_on_card(
        "refused_work_completes_in_its_turn",
        "queues there are lent to nobody",
    ) {
        return;
    }
    let bench = bench();
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(&bench);
    for bad_recv in [false, true] {
        let connection = connect(&bench, &a, &b, 64);
        let qp = connection.client.qp().expect("has one");
        let lease = qp.share().expect("made for it");
        let good = errand(&lease, &a, &b, 0);
        let bad = Errand {
            stag: good.stag ^ 1,
            ..errand(&lease, &a, &b, 0)
        };
        let mut qp = open(&good);
        let wrong_at = |at: u64| if at == 2 { &bad } else { &good };
        for at in 0..5 {
            if bad_recv {
                let sge = Sge {
                    to: good.from,
                    length: 100,
                    stag: wrong_at(at).stag,
                };
                qp.post_recv(&[sge]).expect("room");
            } else {
                assert!(post(&mut qp, wrong_at(at), at, SendWqe::SIGNALED));
            }
        }
        let mut came: Vec<Cqe> = Vec::new();
        work_until(&bench, || {
            came.extend(std::iter::from_fn(|| qp.poll()));
            came.len() == 5
        });
        assert!(
            came.windows(2).all(|pair| pair[0].work < pair[1].work),
            "{came:?}"
        );
        for (at, cqe) in came.iter().enumerate() {
            let status = match at {
                2 => CqeStatus::LocalProtection,
                _ => CqeStatus::Flushed,
            };
            let done = at < 2 && cqe.status() == Ok(CqeStatus::Success);
            assert!(done || cqe.status() == Ok(status), "{at}: {cqe:?}");
        }
        for end in [&a, &b] {
            next_event(&bench, &end.channel, CmEventType::Disconnected);
        }
        drop(connection);
    }
}

/// Whatever is written into lent queues, the owner lives, and its own connection moves data.
#[test]
fn a_borrower_that_writes_nonsense_hurts_nobody() {
    if left_out_on_card(
        "a_borrower_that_writes_nonsense_hurts_nobody",
        "queues there are lent to nobody",
    ) {
        return;
    }
    let bench = bench();
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(&bench);
    let own = a.client(&bench, &ConnParam::default());
    let _server = b.accept_next(&bench);
    next_event(&bench, &a.channel, CmEventType::Established);
    next_event(&bench, &b.channel, CmEventType::Established);
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(3);
    for round in 0..12u64 {
        let connection = connect(&bench, &a, &b, 16);
        let qp = connection.client.qp().expect("has one");
        let lease = qp.share().expect("made for it");
        let files = [&lease.queues, &lease.completions].map(|file| {
            let file = file.try_clone_to_owned().expect("a file");
            File::from(file)
        });
        for _ in 0..30 {
            let file = &files[random.random_range(0..2)];
            let len = file.metadata().expect("a file").len();
            // Doorbells and first blocks more often than what is far behind.
            let end = if random.random() { 256 } else { len };
            let word: u64 = if random.random() {
                random.random_range(0..8)
            } else {
                random.random()
            };
            let at = random.random_range(0..end / 8) * 8;
            file.write_all_at(&word.to_le_bytes(), at).expect("there");
            let fabric = bench.fabric().expect("simulated");
            fabric.progress().expect("it works");
            fabric.run_for(500).expect("it works");
        }
        let bytes = pattern(3000, round as u8);
        a.mr.write(0, &bytes).expect("inside");
        let target = b.mr.remote().offset(200_000);
        let write = SendWr::write(round, target).sge(a.mr.sge(0, 3000));
        own.qp()
            .expect("has one")
            .post_send(write.signaled())
            .expect("room");
        let wc = bench
            .run_until("a completion", LIMIT, || {
                a.cq.poll_one().expect("the device works")
            })
            .expect("it comes");
        assert_eq!((wc.wr_id, wc.status), (round, WcStatus::Success));
        assert_eq!(b.mr.to_vec(200_000, 3000).expect("inside"), bytes);
        drop(connection);
        while a.channel.try_get_event().expect("works").is_some() {}
        while b.channel.try_get_event().expect("works").is_some() {}
    }
}
