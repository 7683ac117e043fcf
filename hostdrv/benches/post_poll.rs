//! What a program pays to post work and to take its completion: instructions, counted by callgrind.
//!
//! `cargo bench -p weft-hostdrv --bench post_poll` prints the table; with `-- --gate` a figure above its bar fails. Counted is all that
//! runs between the making of the work request and the completion in the program's hands, but for the engine's work: the device is
//! `deferred`, the queues are full enough that no poll finds nothing. There is no peer: the completions are flushed ones.

#[path = "../tests/fake/mod.rs"]
mod fake;

use std::process::{Command, ExitCode};
use std::sync::Arc;

use fake::FakeCard;
use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::verbs::*;
use weft_hostdrv::{Device, DeviceConfig};

/// Work requests of a run.
const WORK: u64 = 1024;
/// Work requests of a list.
const LIST: u64 = 16;
/// Instructions at most, of a post and its poll.
const BAR: u64 = 150;

const PEER: RemoteRegion = RemoteRegion {
    addr: 0x1000,
    rkey: 0x100,
    length: 4096,
};

struct Scene {
    name: &'static str,
    title: &'static str,
    /// Work requests of a post, and completions of a poll.
    list: u64,
    post: fn(&Qp, &Mr, u64),
    /// Its bar, if it has one.
    bar: Option<u64>,
}

const SCENES: [Scene; 9] = [
    Scene {
        name: "write",
        title: "Write of 64 bytes",
        list: 1,
        post: |qp, mr, n| {
            let wr = SendWr::write(n, PEER).sge(mr.sge(0, 64)).signaled();
            qp.post_send(wr).expect("room")
        },
        bar: Some(BAR),
    },
    Scene {
        name: "list",
        title: "Write of 64 bytes, in lists of 16",
        list: LIST,
        post: |qp, mr, n| {
            let wr = |n| SendWr::write(n, PEER).sge(mr.sge(0, 64)).signaled();
            qp.post_send_list((n..n + LIST).map(wr)).expect("room")
        },
        bar: Some(BAR),
    },
    Scene {
        name: "inline",
        title: "Write of 64 bytes inline",
        list: 1,
        post: |qp, _, n| {
            let wr = SendWr::write(n, PEER).inline(&[7; 64]).signaled();
            qp.post_send(wr).expect("room")
        },
        bar: None,
    },
    Scene {
        name: "send",
        title: "Send of two SGEs",
        list: 1,
        post: |qp, mr, n| {
            let list = [mr.sge(0, 64), mr.sge(64, 64)];
            let wr = SendWr::send(n).sges(&list).signaled();
            qp.post_send(wr).expect("room")
        },
        bar: None,
    },
    Scene {
        name: "scattered",
        title: "Send of four SGEs",
        list: 1,
        post: |qp, mr, n| {
            let list: [Sge; 4] = std::array::from_fn(|at| mr.sge(64 * at as u64, 64));
            qp.post_send(SendWr::send(n).sges(&list).signaled())
                .expect("room")
        },
        bar: None,
    },
    Scene {
        name: "invalidate",
        title: "Send of one SGE, with invalidate",
        list: 1,
        post: |qp, mr, n| {
            let wr = SendWr::send(n).sge(mr.sge(0, 64)).invalidate(PEER.rkey);
            qp.post_send(wr.signaled()).expect("room")
        },
        bar: Some(BAR),
    },
    Scene {
        name: "read",
        title: "Read of 64 bytes",
        list: 1,
        post: |qp, mr, n| {
            let wr = SendWr::read(n, PEER).sge(mr.sge(0, 64)).signaled();
            qp.post_send(wr).expect("room")
        },
        bar: None,
    },
    Scene {
        name: "receives",
        title: "receive of two SGEs",
        list: 1,
        post: |qp, mr, n| {
            let list = [mr.sge(0, 64), mr.sge(64, 64)];
            qp.post_recv(RecvWr::new(n).sges(&list)).expect("room")
        },
        bar: None,
    },
    Scene {
        name: "receive",
        title: "receive of one SGE",
        list: 1,
        post: |qp, mr, n| {
            qp.post_recv(RecvWr::new(n).sge(mr.sge(0, 64)))
                .expect("room")
        },
        bar: None,
    },
];

/// Callgrind counts in here.
#[inline(never)]
fn weft_counted_post(scene: &Scene, qp: &Qp, mr: &Mr, n: u64) {
    (scene.post)(qp, mr, n);
}

/// And in here.
#[inline(never)]
fn weft_counted_poll(cq: &Cq, found: &mut [Wc]) -> usize {
    cq.poll_slice(found).expect("it works")
}

/// Posts and polls, under callgrind.
fn run(scene: &Scene) {
    let config = DeviceConfig::new([2, 0, 0, 0, 0, 1], [10, 0, 0, 1].into()).deferred();
    let device = Device::open(Arc::new(FakeCard::new()), config).expect("nothing is wrong");
    let pd = device.alloc_pd().expect("a domain");
    let access = Access::LOCAL_WRITE | Access::READ_SINK;
    let mr = pd.alloc_mr(4096, access).expect("a region");
    let cq = device.create_cq(2 * WORK as usize, None).expect("a queue");
    let id = device.create_event_channel().create_id();
    id.resolve_addr("10.0.0.2:4791".parse().expect("an address"))
        .expect("possible");
    id.resolve_route().expect("possible");
    let cap = QpCap {
        max_send_wr: WORK as u32,
        max_recv_wr: WORK as u32,
        ..QpCap::default()
    };
    let init = QpInit {
        cap,
        ..QpInit::new(&cq)
    };
    let qp = id.create_qp(&pd, &init).expect("a queue pair");
    id.connect(&ConnParam::default()).expect("possible");
    for n in (0..WORK).step_by(scene.list as usize) {
        weft_counted_post(scene, &qp, &mr, n);
    }
    qp.modify(QpState::Error).expect("possible");
    let mut found = vec![Wc::default(); scene.list as usize];
    for n in (0..WORK).step_by(found.len()) {
        assert_eq!(weft_counted_poll(&cq, &mut found), found.len());
        assert_eq!(found[0].wr_id, n);
    }
}

/// Instructions of all posts or all polls of a scene.
fn count(scene: &Scene, what: &str) -> Result<u64, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no"])
        .arg(format!("--toggle-collect=*weft_counted_{what}*"))
        .arg(format!(
            "--callgrind-out-file={}",
            std::env::var("WEFT_COST_OUT").unwrap_or("/dev/null".into())
        ))
        .arg(own)
        .args(["--scene", scene.name])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let number = said
        .split_once("Collected : ")
        .and_then(|(_, rest)| rest.split_whitespace().next()?.parse::<u64>().ok());
    number
        .filter(|_| output.status.success())
        .map(|all| all.div_ceil(WORK))
        .ok_or(said)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1)
    };
    if let Some(name) = after("--scene") {
        if let Some(scene) = SCENES.iter().find(|scene| scene.name == name) {
            run(scene);
            return ExitCode::SUCCESS;
        }
        return ExitCode::FAILURE;
    }
    let mut fits = true;
    println!("| instructions | post | poll | both | bar |\n|---|---|---|---|---|");
    for scene in &SCENES {
        let counts = count(scene, "post").and_then(|post| Ok((post, count(scene, "poll")?)));
        let (post, poll) = match counts {
            Ok(counts) => counts,
            Err(error) => {
                eprintln!("{}: {error}", scene.name);
                return ExitCode::FAILURE;
            }
        };
        let bar = scene.bar.map_or(String::new(), |bar| bar.to_string());
        println!(
            "| {} | {post} | {poll} | {} | {bar} |",
            scene.title,
            post + poll
        );
        fits &= scene.bar.is_none_or(|bar| post + poll <= bar);
    }
    if arguments.iter().any(|argument| argument == "--gate") && !fits {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
