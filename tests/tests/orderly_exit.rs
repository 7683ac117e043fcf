//! A program that closes its connection and is gone: the peer hears of it in order, with all that was posted before.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddrV4;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use weft_hostdrv::cm::{ConnParam, DisconnectReason};
use weft_hostdrv::verbs::*;
use weft_hostdrv::{transport, Device, DeviceConfig};
use weft_sim::fabric::{ip, mac};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::serve::port::PortSpec;
use weft_sim::serve::{start, CardConfig, ServeConfig, Served};
use weft_tests::ends::pattern;

const PORT: u16 = 7471;
const LEN: usize = 1 << 20;
const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));

/// Two cards, and the server's device.
fn served(folder: &Path) -> (Served, Device) {
    let sockets = [0, 1].map(|n| folder.join(format!("{n}.sock")));
    let card = |n: usize| CardConfig {
        kind: CardKind::Model,
        port: PortSpec::Card(1 - n),
        socket: sockets[n].clone(),
        capture: None,
    };
    let mut link = LinkConfig::default();
    link.faults.loss = 10_000;
    let served = start(&ServeConfig {
        cards: vec![card(0), card(1)],
        seed: 7,
        link,
    });
    (served.expect("two cards are served"), open(&sockets[0], 0))
}

fn open(socket: &Path, n: usize) -> Device {
    let transport = transport::open(&format!("vfio-user:{}", socket.display()));
    let config = DeviceConfig::new(mac(n), ip(n)).seed(n as u64);
    // A busy machine takes its time.
    let config = config.linger(Some(Duration::from_secs(20)));
    Device::open(transport.expect("it is served"), config).expect("it comes up")
}

/// What the client does: 1 MiB written, and the connection closed. It waits for nothing.
fn write_and_leave(device: &Device) -> impl Sized {
    let (pd, cq) = (
        device.alloc_pd().expect("a domain"),
        device.create_cq(16, None).expect("a queue"),
    );
    let memory = pd.alloc_mr(LEN, Access::LOCAL_WRITE).expect("a region");
    memory.write(0, &pattern(LEN, 3)).expect("room");
    let channel = device.create_event_channel();
    let (init, param) = (QpInit::new(&cq), ConnParam::default());
    let to = SocketAddrV4::new(ip(0), PORT);
    let server = channel.connect(to, &pd, &init, &param, PATIENCE);
    let server = server.expect("it stands");
    let target = server.private_data().first_chunk().expect("a region");
    let write = SendWr::write(1, RemoteRegion::from_bytes(target));
    server
        .post_send(write.sge(memory.sge(0, LEN as u32)))
        .expect("room");
    server.id().disconnect().expect("it stands");
    (memory, server)
}

/// Accepts, lets the client be, and says how it ended and whether all has come.
fn serve(device: &Device, client: impl FnOnce()) -> (Option<DisconnectReason>, bool) {
    let (pd, cq) = (
        device.alloc_pd().expect("a domain"),
        device.create_cq(16, None).expect("a queue"),
    );
    let rights = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
    let memory = pd.alloc_mr(LEN, rights).expect("a region");
    let channel = device.create_event_channel();
    let _listener = channel.listen(PORT, 1).expect("a port");
    let end = std::thread::scope(|scope| {
        let server = scope.spawn(|| {
            let offer = ConnParam::with_private_data(memory.remote().to_bytes());
            let client = channel.accept(&pd, &QpInit::new(&cq), [], &offer, PATIENCE);
            client
                .expect("it stands")
                .closed(PATIENCE)
                .expect("it ends")
        });
        client();
        server.join().expect("no panic")
    });
    let whole = memory.to_vec(0, LEN) == Ok(pattern(LEN, 3));
    (end.reason, whole)
}

/// Everything is dropped at once, the device last.
#[test]
fn a_device_that_goes_closes_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_served, server) = served(folder.path());
    let end = serve(&server, || {
        let device = open(&folder.path().join("1.sock"), 1);
        drop(write_and_leave(&device));
    });
    assert_eq!(end, (Some(DisconnectReason::Peer), true));
}

/// Nothing is dropped: the process exits.
#[test]
fn a_process_that_exits_closes_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_served, server) = served(folder.path());
    let end = serve(&server, || {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "orderly_exit::child", "--ignored"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("a process");
        let mut input = child.stdin.take().expect("piped");
        let socket = folder.path().join("1.sock");
        writeln!(input, "{}", socket.display()).expect("it listens");
        drop(input);
        assert!(child.wait().expect("its end").success());
    });
    assert_eq!(end, (Some(DisconnectReason::Peer), true));
}

/// Not a test: that process. It is told its card's socket.
#[test]
#[ignore = "it is what another test starts"]
fn child() {
    let mut socket = String::new();
    let read = BufReader::new(std::io::stdin()).read_line(&mut socket);
    if !read.is_ok_and(|count| count > 1) {
        return;
    }
    let device = open(Path::new(socket.trim()), 1);
    let _held = write_and_leave(&device);
    std::process::exit(0);
}
