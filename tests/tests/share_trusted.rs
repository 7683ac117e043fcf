//! Memory of a client's own, by its files: a broker that trusts its clients maps them, one that does not takes no descriptor.

use std::fs::File;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::ptr::NonNull;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use memmap2::MmapMut;
use weft_hostdrv::cm::*;
use weft_hostdrv::dma::Pages;
use weft_hostdrv::transport::queue_memory::sealed_file;
use weft_hostdrv::verbs::*;
use weft_share::Limits;
use weft_tests::clients::{broker_scene, RawClient, Scene};
use weft_tests::ends::{no_faults, pattern, PORT};
use weft_tests::left_out_on_card;
use weft_tests::lent_program::Program;

const HELLO: u64 = u64::from_be_bytes(*b"weft-sh1");
const MAP: u64 = 21;
const BYTES: usize = 5 * 4096;

fn trusting() -> Limits {
    Limits {
        trusted: true,
        ..Limits::default()
    }
}

/// Device and inode: what every descriptor of one file has alike.
fn identity(file: impl AsFd) -> (u64, u64) {
    let stat = rustix::fs::fstat(file).expect("open");
    (stat.st_dev, stat.st_ino)
}

/// How many descriptors of these files the process has. Other tests of the process open and close files of their own.
fn open_files(these: &[(u64, u64)]) -> usize {
    let all = std::fs::read_dir("/proc/self/fd").expect("Linux");
    all.filter_map(|entry| std::fs::metadata(entry.ok()?.path()).ok())
        .filter(|found| these.contains(&(found.dev(), found.ino())))
        .count()
}

/// The region of a file, which the program has mapped as well.
fn registered(pd: &Pd, bytes: usize) -> Result<(Mr, MmapMut), VerbsError> {
    let file = sealed_file("weft-test", bytes as u64).expect("memory");
    // SAFETY: the test's own file; the mapping is read when nothing is under way.
    let map = unsafe { MmapMut::map_mut(&file) }.expect("memory");
    let owned = OwnedMemory::of_file(file).expect("sealed");
    let rights = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
    Ok((pd.reg_owned(owned, rights)?, map))
}

/// What the program writes to its file goes out, and what the peer writes lies there: the pages are the file's own.
#[test]
fn the_card_reaches_a_file_of_the_clients() {
    if left_out_on_card("the_card_reaches_a_file_of_the_clients", "it has a broker") {
        return;
    }
    let mut scene = broker_scene(101, trusting());
    let _listener = scene.peer.listen(&scene.bench);
    let to = SocketAddrV4::new(scene.bench.ip(1), PORT);
    let there = scene.peer.mr.remote();
    let path = scene.path.clone();
    let (tell, told) = channel();
    let runs = std::thread::spawn(move || {
        let program = Program::open(&path);
        for round in 0..3u8 {
            let (mr, mut map) = registered(&program.pd, BYTES).expect("trusted");
            map.copy_from_slice(&pattern(BYTES, round));
            let id = program.resolved(to, &QpInit::new(&program.cq));
            id.connect(&ConnParam::default()).expect("possible");
            program.wanted(CmEventType::Established);
            let wr = SendWr::write(1, there).sge(mr.sge(0, BYTES as u32));
            let qp = id.qp().expect("has one");
            qp.post_send(wr.signaled()).expect("room");
            assert_eq!(program.next().status, WcStatus::Success);
            // The peer's bytes come back by a Read into the second half, which is seen by way of the file.
            tell.send(round).expect("a peer");
            let half = BYTES / 2;
            mr.fill(half, half, 0).expect("inside");
            assert!(map[half..].iter().all(|byte| *byte == 0));
            id.disconnect().expect("possible");
            program.wanted(CmEventType::Disconnected);
            drop((qp, id));
            mr.dereg().expect("nobody uses it");
            // It is the program's still.
            map[0] = 1;
        }
    });
    let mut accepted = Vec::new();
    while !runs.is_finished() {
        scene.turn();
        if let Some(event) = scene.peer_event() {
            if event.event == CmEventType::ConnectRequest {
                accepted.push(scene.peer.accept(event.id, &ConnParam::default()));
            }
        }
        if let Ok(round) = told.try_recv() {
            let got = scene.peer.mr.to_vec(0, BYTES).expect("inside");
            assert!(got == pattern(BYTES, round), "round {round}");
        }
        std::thread::yield_now();
    }
    runs.join().expect("it works");
    drop(accepted);
    scene.nothing_is_left();
    no_faults(&scene.bench);
}

/// A broker that trusts nobody takes no descriptor, and says what would.
#[test]
fn who_is_not_trusted_gives_no_file() {
    if left_out_on_card("who_is_not_trusted_gives_no_file", "it has a broker") {
        return;
    }
    let mut scene = broker_scene(102, Limits::default());
    let path = scene.path.clone();
    let refused = scene.with(move || {
        let program = Program::open(&path);
        let refused = registered(&program.pd, BYTES).expect_err("refused");
        assert_eq!(program.device.get_async_event(), None);
        // Memory of the broker's it has as before.
        assert!(program.pd.alloc_mr(BYTES, Access::LOCAL_WRITE).is_ok());
        refused.to_string()
    });
    assert!(refused.contains("weft share --trusted"), "{refused}");
    let raw = RawClient::connect(&scene.path);
    scene.ask(&raw, &[HELLO, 1, 6], &[]).expect("let in");
    let file = sealed_file("weft-test", 4096).expect("memory");
    for _ in 0..20 {
        let answer = scene.ask(&raw, &[MAP, 4096, 1], &[file.as_fd()]);
        assert_eq!(answer.expect("served").0, 1);
    }
    assert_eq!(open_files(&[identity(&file)]), 1, "this one");
    drop(raw);
    scene.nothing_is_left();
}

/// What is no memory, or not as long as it is said to be, is refused, and nothing of it stays open.
#[test]
fn a_trusting_broker_takes_memory_alone() {
    if left_out_on_card("a_trusting_broker_takes_memory_alone", "it has a broker") {
        return;
    }
    let mut scene = broker_scene(103, trusting());
    let raw = RawClient::connect(&scene.path);
    scene.ask(&raw, &[HELLO, 1, 6], &[]).expect("let in");
    let mut sent = Vec::new();
    let mut ask = |scene: &mut Scene, words: &[u64], file: Option<&OwnedFd>| {
        let files: Vec<_> = file.into_iter().map(AsFd::as_fd).collect();
        sent.extend(files.iter().map(identity));
        let (status, said, _) = scene.ask(&raw, words, &files).expect("served");
        match status {
            0 => Ok(said[0]),
            _ => Err(status),
        }
    };
    let memory = || OwnedFd::from(sealed_file("weft-test", 8192).expect("memory"));
    let name = scene.path.with_extension("file");
    let unsealed = File::create_new(&name).expect("a file");
    unsealed.set_len(8192).expect("room");
    let strange: Vec<OwnedFd> = vec![
        unsealed.into(),
        File::open("/dev/zero").expect("a file").into(),
        std::os::unix::net::UnixStream::pair()
            .expect("a pair")
            .0
            .into(),
        rustix::fs::open("/", rustix::fs::OFlags::PATH, rustix::fs::Mode::empty()).expect("a path"),
    ];
    for file in &strange {
        ask(&mut scene, &[MAP, 8192, 1], Some(file)).expect_err("no memory");
    }
    drop(strange);
    ask(&mut scene, &[MAP, 8192, 1], None).expect_err("no file");
    for bytes in [0, 1, 4096, 8191, 8193, 12288, u64::MAX] {
        ask(&mut scene, &[MAP, bytes, 1], Some(&memory())).expect_err("not so long");
    }
    ask(&mut scene, &[MAP, 8192, 1 << 40], Some(&memory())).expect_err("no rights");
    let mut all = Vec::new();
    while let Ok(iova) = ask(&mut scene, &[MAP, 8192, 1], Some(&memory())) {
        all.push(iova);
    }
    assert!(all.len() > 100, "{}", all.len());
    for iova in all {
        ask(&mut scene, &[16, iova], None).expect("left");
    }
    ask(&mut scene, &[16, 1 << 21], None).expect_err("none there");
    // The last files go with the next request, in the thread that reads.
    scene.until(|_| (open_files(&sent) == 0).then_some(()));
    drop(raw);
    scene.nothing_is_left();
    no_faults(&scene.bench);
}

/// How long it takes to register, and to be rid of, memory of the program's: by a file, and as pages that are exchanged.
#[test]
fn what_trust_saves() {
    if left_out_on_card("what_trust_saves", "it has a broker") {
        return;
    }
    let limits = Limits {
        memory: 256 << 20,
        ..trusting()
    };
    let mut scene = broker_scene(104, limits);
    let path = scene.path.clone();
    let times = scene.with(move || {
        let program = Program::open(&path);
        let mut times = Vec::new();
        for bytes in [4096, 1 << 20, 32 << 20] {
            let mut best = [Duration::MAX; 2];
            for _ in 0..5 {
                let pages = Pages::new(bytes).expect("memory");
                let memory = pages.memory();
                memory.fill(0, bytes, 7).expect("inside");
                let first = NonNull::new(memory.as_ptr()).expect("an address");
                let begun = Instant::now();
                // SAFETY: whole pages of this test's, which outlive the region.
                let mr = unsafe { program.pd.reg_raw(first, bytes, Access::LOCAL_WRITE) };
                mr.expect("lent").dereg().expect("nobody uses it");
                best[0] = best[0].min(begun.elapsed());
                let file = sealed_file("weft-test", bytes as u64).expect("memory");
                let owned = OwnedMemory::of_file(file).expect("sealed");
                let begun = Instant::now();
                let mr = program.pd.reg_owned(owned, Access::LOCAL_WRITE);
                mr.expect("trusted").dereg().expect("nobody uses it");
                best[1] = best[1].min(begun.elapsed());
            }
            times.push((bytes, best));
        }
        times
    });
    for (bytes, [exchanged, file]) in &times {
        println!("{bytes} bytes: {exchanged:?} where pages are exchanged, {file:?} by a file");
    }
    let (_, [exchanged, file]) = times[2];
    assert!(file < exchanged, "{times:?}");
}
