//! Connections of this machine's kernel that go on in a card: the kernel has an interface on the card, with the card's addresses; what it
//! began is taken out of its stack, and the card answers the same peer from then on.
//!
//! The peer is a plain socket in another namespace, on another card, or a program there that does the same.
//! `WEFT_TEST_CARD` chooses the cards (`model` by default here, since the kernel's timers do not wait for Verilator).

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use weft_hostdrv::cm::{CmEvent, CmEventType, CmId, ConnParam, EventChannel, MpaStart};
use weft_hostdrv::verbs::{Access, Cq, Pd, Qp, QpInit, RecvWr, SendWr, WcStatus};
use weft_hostdrv::Device;
use weft_sim::fabric::{self, Fabric, FabricConfig};
use weft_sim::kind::CardKind;
use weft_tests::namespace::{Joined, Namespace};
use weft_tests::traffic::bytes;
use weft_tests::{left_out_on_card, rungs};
use weft_tools::interface::NetInterface;

const PATIENCE: Duration = Duration::from_secs(60);
const PORT: u16 = 3260;

/// Two hosts: a card, and the kernel on it.
struct Meeting {
    fabric: Rc<Fabric>,
    spaces: [Namespace; 2],
    interfaces: [NetInterface; 2],
}

/// What a program has for RDMA.
struct Program {
    channel: EventChannel,
    pd: Pd,
    cq: Cq,
    id: CmId,
    qp: Qp,
}

impl Program {
    fn new(device: &Device) -> Self {
        let channel = device.create_event_channel();
        let (pd, cq) = (
            device.alloc_pd().expect("a domain"),
            device.create_cq(16, None).expect("a queue"),
        );
        let id = channel.create_id();
        let qp = id.create_qp(&pd, &QpInit::new(&cq)).expect("a queue pair");
        Self {
            channel,
            pd,
            cq,
            id,
            qp,
        }
    }
}

impl Meeting {
    /// `None`: skipped.
    fn new(seed: u64) -> Option<Self> {
        let spaces = [Namespace::new()?, Namespace::new()?];
        let card = std::env::var("WEFT_TEST_CARD").unwrap_or_else(|_| "model".into());
        let card: CardKind = card.parse().expect("WEFT_TEST_CARD");
        let config = FabricConfig {
            seed,
            cards: vec![card; 2],
            rungs: rungs().to_vec(),
            ..FabricConfig::default()
        };
        let fabric = Rc::new(Fabric::new(&config).expect("bring-up"));
        let interface = |index: usize| {
            let device = fabric.device(index).clone();
            let open = spaces[index].run(move || NetInterface::open(&device, "weft0", Some(24)));
            open.expect("the interface")
        };
        Some(Self {
            interfaces: [interface(0), interface(1)],
            spaces,
            fabric,
        })
    }

    fn event(&mut self, program: &Program, wanted: CmEventType) -> CmEvent {
        let channel = program.channel.clone();
        let event = self.until(wanted.name(), || {
            channel.try_get_event().expect("the device")
        });
        assert_eq!(event.event, wanted, "{event:?}");
        event
    }

    fn hear_in_card(&mut self, id: &CmId, length: usize) -> Vec<u8> {
        let mut all = Vec::new();
        self.until("bytes in the card", || {
            let mut buffer = [0; 4096];
            let most = buffer.len().min(length - all.len());
            let count = id.read_stream(&mut buffer[..most]).expect("the stream");
            all.extend_from_slice(&buffer[..count]);
            (all.len() == length).then_some(())
        });
        all
    }
}

impl Joined for Meeting {
    fn spaces(&self) -> &[Namespace; 2] {
        &self.spaces
    }

    /// Everything goes on until something is there.
    fn until<T>(&mut self, what: &str, mut found: impl FnMut() -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            let mut moved = 0;
            for interface in &mut self.interfaces {
                moved += interface.progress().expect("the interface");
            }
            self.fabric.run_for(20_000).expect("the fabric");
            if let Some(found) = found() {
                return found;
            }
            let stats = self.fabric.device(0).engine_stats();
            assert!(start.elapsed() < PATIENCE, "{what}: {stats:?}");
            if moved == 0 {
                thread::sleep(Duration::from_micros(50));
            }
        }
    }
}

/// Where host 1 listens.
fn peer() -> SocketAddr {
    (fabric::ip(1), PORT).into()
}

fn write(mut stream: &TcpStream, data: &[u8]) -> usize {
    match stream.write(data) {
        Ok(count) => count,
        Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
        Err(error) => panic!("{error}"),
    }
}

/// Bytes unread, bytes under way, bytes not sent: the peer, a plain socket, gets and gives all of them, and hears of nothing.
#[test]
fn a_plain_peer_notices_nothing() {
    if left_out_on_card("a_plain_peer_notices_nothing", "no raw frames are there") {
        return;
    }
    let Some(mut meeting) = Meeting::new(1) else {
        return;
    };
    let [mine, mut peer] = meeting.connect(peer());
    let (out, inbound) = (bytes(1, 300_000), bytes(2, 40_000));
    assert_eq!(write(&peer, &inbound[..9000]), 9000);
    meeting.until("unread bytes", || {
        matches!(mine.peek(&mut [0; 9000]), Ok(9000)).then_some(())
    });
    // Some of it lies in the interface's queue when the connection leaves, most was never sent.
    let written = write(&mine, &out);
    assert!(written > 50_000, "{written}");
    // This comes up to the card when it has left already.
    assert_eq!(write(&peer, &inbound[9000..12_000]), 3000);
    let program = Program::new(meeting.fabric.device(0));
    program.id.take_over(&mine).expect("it is taken over");
    let gone = (&mine).read(&mut [0]).expect_err("it has left the kernel");
    assert_eq!(gone.kind(), ErrorKind::ConnectionAborted);
    drop(mine);
    meeting.event(&program, CmEventType::StreamEstablished);

    assert!(meeting.hear_in_card(&program.id, 12_000) == inbound[..12_000]);
    let (mut sent, mut received) = (written, Vec::new());
    while received.len() < out.len() {
        sent += program.id.write_stream(&out[sent..]).expect("the stream");
        let length = sent.min(received.len() + 20_000) - received.len();
        received.extend(meeting.read(&mut peer, length));
    }
    assert!(received == out, "other bytes arrived");
    assert_eq!(write(&peer, &inbound[12_000..]), inbound.len() - 12_000);
    let rest = meeting.hear_in_card(&program.id, inbound.len() - 12_000);
    assert!(rest == inbound[12_000..], "other bytes came back");

    program.id.disconnect().expect("it stands");
    meeting.until("the peer's end", || {
        matches!(peer.read(&mut [0]), Ok(0)).then_some(())
    });
    drop(peer);
    let end = meeting.event(&program, CmEventType::Disconnected);
    assert_eq!(end.status, 0, "{end:?}");
    let stats = meeting.fabric.device(0).engine_stats();
    let resets = stats.resets_sent + stats.resets_received;
    assert_eq!((resets, stats.challenge_acks), (0, 0), "{stats:?}");
}

/// A login over plain sockets; then both programs take their end over, and RDMA follows the last streaming message.
#[test]
fn a_login_over_sockets_then_rdma_on_the_same_connection() {
    if left_out_on_card(
        "a_login_over_sockets_then_rdma_on_the_same_connection",
        "no raw frames are there",
    ) {
        return;
    }
    let Some(mut meeting) = Meeting::new(2) else {
        return;
    };
    let [mut client, mut server] = meeting.connect(peer());
    assert_eq!(write(&client, b"login: weft"), 11);
    assert_eq!(meeting.read(&mut server, 11), b"login: weft");
    let programs = [0, 1].map(|n| Program::new(meeting.fabric.device(n)));
    // The server leaves the kernel with the answer unacknowledged, the client with it unread.
    assert_eq!(write(&server, b"welcome, RDMA follows"), 21);
    programs[1].id.take_over(&server).expect("taken over");
    meeting.event(&programs[1], CmEventType::StreamEstablished);
    programs[1]
        .id
        .start_mpa(&MpaStart::Passive)
        .expect("a stream");
    meeting.until("the answer", || {
        matches!(client.peek(&mut [0; 21]), Ok(21)).then_some(())
    });
    programs[0].id.take_over(&client).expect("taken over");
    meeting.event(&programs[0], CmEventType::StreamEstablished);
    assert!(client.read(&mut [0]).is_err());
    let early = programs[0]
        .id
        .start_mpa(&MpaStart::Active(&ConnParam::default()));
    assert!(early.is_err(), "the answer was not read");
    let answer = meeting.hear_in_card(&programs[0].id, 21);
    assert_eq!(answer, b"welcome, RDMA follows");
    let param = ConnParam::with_private_data("after the login");
    let start = programs[0].id.start_mpa(&MpaStart::Active(&param));
    start.expect("a stream");
    let request = meeting.event(&programs[1], CmEventType::ConnectRequest);
    assert!(request.id.is(&programs[1].id));
    assert_eq!(request.private_data, b"after the login");
    programs[1].qp.post_recv(RecvWr::new(7)).expect("a receive");
    request.id.accept(&ConnParam::default()).expect("a request");
    for program in &programs {
        meeting.event(program, CmEventType::Established);
    }
    messages(&mut meeting, &programs);
    programs[0].id.disconnect().expect("it stands");
    for program in &programs {
        let end = meeting.event(program, CmEventType::Disconnected);
        assert_eq!(end.status, 0, "{end:?}");
    }
    for n in [0, 1] {
        let stats = meeting.fabric.device(n).engine_stats();
        assert_eq!(stats.resets_sent + stats.resets_received, 0, "{stats:?}");
    }
}

/// A Write into the server's memory, then a Send that says so.
fn messages(meeting: &mut Meeting, programs: &[Program; 2]) {
    let data = bytes(9, 100_000);
    let from = programs[0].pd.alloc_mr(data.len(), Access::LOCAL_WRITE);
    let from = from.expect("memory");
    let to = programs[1].pd.alloc_mr(data.len(), Access::REMOTE_WRITE);
    let to = to.expect("memory");
    from.write(0, &data).expect("room");
    let write = SendWr::write(1, to.remote()).sge(from.sge(0, data.len() as u32));
    programs[0].qp.post_send(write).expect("posted");
    programs[0]
        .qp
        .post_send(SendWr::send(2).signaled())
        .expect("posted");
    for (n, wr_id) in [(1, 7), (0, 2)] {
        let cq = programs[n].cq.clone();
        let done = meeting.until("a completion", || cq.poll_one().expect("the device"));
        assert_eq!((done.wr_id, done.status), (wr_id, WcStatus::Success));
    }
    assert!(to.to_vec(0, data.len()).expect("bytes") == data);
}

/// What is refused stays with the kernel, and goes on there.
#[test]
fn what_is_not_taken_over_goes_on_in_the_kernel() {
    if left_out_on_card(
        "what_is_not_taken_over_goes_on_in_the_kernel",
        "no raw frames are there",
    ) {
        return;
    }
    let Some(mut meeting) = Meeting::new(3) else {
        return;
    };
    let [mut mine, mut peer] = meeting.connect(peer());
    let device = meeting.fabric.device(0).clone();
    let channel = device.create_event_channel();
    let bare = channel
        .create_id()
        .take_over(&mine)
        .expect_err("no queue pair");
    assert!(bare.to_string().contains("queue pair"), "{bare}");
    // Another address than the card's.
    let other = TcpListener::bind("127.0.0.1:0").expect("bind");
    let elsewhere = TcpStream::connect(other.local_addr().expect("bound")).expect("connect");
    let program = Program::new(&device);
    let wrong = program
        .id
        .take_over(&elsewhere)
        .expect_err("not the card's");
    assert!(wrong.to_string().contains("127.0.0.1"), "{wrong}");
    let listening = program.id.take_over(&other).expect_err("not established");
    assert!(
        listening.to_string().contains("not established"),
        "{listening}"
    );
    // The card says no: the queue pair has failed.
    program
        .qp
        .modify(weft_hostdrv::verbs::QpState::Error)
        .expect("moved");
    let failed = program
        .id
        .take_over(&mine)
        .expect_err("a queue pair that failed");
    assert!(
        failed.to_string().contains("state of the queue pair"),
        "{failed}"
    );
    assert_eq!(write(&mine, b"still here"), 10);
    assert_eq!(meeting.read(&mut peer, 10), b"still here");
    assert_eq!(write(&peer, b"so am I"), 7);
    assert_eq!(meeting.read(&mut mine, 7), b"so am I");
}
