//! A broker that turns in a test's own thread, and its clients: honest ones, and those that speak to its socket as they like.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;

use rustix::net::{
    recvmsg, sendmsg, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use weft_hostdrv::cm::{CmEvent, CmEventType, CmId, ConnParam};
use weft_hostdrv::unstable::control::{
    self, Answer, Command, ConnId, ConnectParams, Endpoint, Event, Refusal,
};
use weft_hostdrv::unstable::queues::{Payload, SendWqe, Sge, Wqe, WqeOpcode};
use weft_hostdrv::verbs::{Access, NotPosted, QpCap, QpInit};
use weft_share::{Broker, Client, Limits, SharedQp, SharedRegion};

use crate::bench::{Bench, Way};
use crate::ends::{End, PORT};

/// Has a command done that is its own to give.
///
/// # Panics
/// If it is refused as one that is not.
pub fn command(client: &mut Client, command: &Command) -> Answer {
    client.control().post(command, &[]).expect("room");
    loop {
        if let Some((_, answer)) = client.control().answer() {
            return answer.expect("its own");
        }
        thread::yield_now();
    }
}

/// The next event.
pub fn event(client: &mut Client) -> Event {
    loop {
        if let Some(event) = client.control().take_event() {
            return event;
        }
        thread::yield_now();
    }
}

/// Words of an answer behind its status.
pub type Words = [u64; 16];

/// Somebody at a broker's socket.
pub struct RawClient {
    socket: UnixStream,
}

impl RawClient {
    /// Who says nothing yet.
    ///
    /// # Panics
    /// If nobody listens.
    pub fn connect(path: &Path) -> Self {
        let socket = UnixStream::connect(path).expect("a broker");
        socket.set_nonblocking(true).expect("possible");
        Self { socket }
    }

    /// Sends words with descriptors; without a word it is one byte. What the system refuses is left out.
    pub fn send(&self, words: &[u64], files: &[BorrowedFd<'_>]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let bytes = if bytes.is_empty() { vec![0] } else { bytes };
        self.send_bytes(&bytes, files);
    }

    /// The same, of bytes.
    pub fn send_bytes(&self, bytes: &[u8], files: &[BorrowedFd<'_>]) {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !files.is_empty() {
            ancillary.push(SendAncillaryMessage::ScmRights(files));
        }
        let _ = sendmsg(
            &self.socket,
            &[IoSlice::new(bytes)],
            &mut ancillary,
            SendFlags::NOSIGNAL,
        );
    }

    /// An answer, if there is one. An error: the broker has ended this.
    pub fn answer(&self) -> io::Result<Option<(u64, Words, Vec<OwnedFd>)>> {
        let mut bytes = [0; 136];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let got = recvmsg(
            &self.socket,
            &mut [IoSliceMut::new(&mut bytes)],
            &mut ancillary,
            RecvFlags::CMSG_CLOEXEC,
        );
        match got.map(|got| got.bytes).map_err(io::Error::from) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
            Ok(136) => {}
            Ok(_) => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
        let mut files = Vec::new();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(sent) = message {
                files.extend(sent);
            }
        }
        let mut words = bytes.chunks_exact(8).map(|word| {
            let word = word.try_into().unwrap_or_default();
            u64::from_le_bytes(word)
        });
        let status = words.next().unwrap_or_default();
        let mut said = [0; 16];
        said.iter_mut().zip(words).for_each(|(to, word)| *to = word);
        Ok(Some((status, said, files)))
    }
}

/// Two cards; a broker has the first, and this thread all work of both.
pub struct Scene {
    /// Who lends the first card.
    pub broker: Broker,
    /// Where it listens.
    pub path: PathBuf,
    /// The other end.
    pub peer: End,
    _folder: tempfile::TempDir,
    /// After all that lives on its devices.
    pub bench: Bench,
}

/// A scene with these limits.
///
/// # Panics
/// If it does not come up.
pub fn broker_scene(seed: u64, limits: Limits) -> Scene {
    let bench = Bench::new(&Way::Sim, seed).expect("two cards come up");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("card");
    Scene {
        broker: Broker::bind(bench.device(0), &path, limits).expect("free"),
        path,
        peer: End::new(bench.device(1)),
        _folder: folder,
        bench,
    }
}

impl Scene {
    /// The work of the broker's process, and of the peer.
    ///
    /// # Panics
    /// If a device fails.
    pub fn turn(&mut self) {
        let fabric = self.bench.fabric().expect("simulated");
        fabric.progress().expect("it works");
        self.broker.turn().expect("it works");
        fabric.run_for(2_000).expect("it works");
    }

    /// Turns until there is something.
    ///
    /// # Panics
    /// If there is nothing for long.
    pub fn until<T>(&mut self, mut look: impl FnMut(&mut Self) -> Option<T>) -> T {
        for turns in 0..200_000 {
            self.turn();
            if let Some(found) = look(self) {
                return found;
            }
            if turns > 100 {
                // Other threads have something to do.
                thread::yield_now();
            }
        }
        panic!("waited in vain");
    }

    /// A request, and its answer.
    ///
    /// # Errors
    /// The broker has ended the client.
    pub fn ask(
        &mut self,
        client: &RawClient,
        words: &[u64],
        files: &[BorrowedFd<'_>],
    ) -> io::Result<(u64, Words, Vec<OwnedFd>)> {
        let mut request = [0; 8];
        request
            .iter_mut()
            .zip(words)
            .for_each(|(to, word)| *to = *word);
        client.send(&request, files);
        self.until(|_| client.answer().transpose())
    }

    /// What a thread makes meanwhile.
    ///
    /// # Panics
    /// If it does.
    pub fn with<T: Send + 'static>(&mut self, make: impl FnOnce() -> T + Send + 'static) -> T {
        let made = thread::spawn(make);
        self.until(|_| made.is_finished().then_some(()));
        made.join().expect("it works")
    }

    /// Has a command of a client done.
    ///
    /// # Errors
    /// As it is refused.
    ///
    /// # Panics
    /// If there is no room for it.
    pub fn command(&mut self, client: &mut Client, command: &Command) -> Result<Answer, Refusal> {
        client.control().post(command, &[]).expect("room");
        self.until(|_| client.control().answer().map(|(_, answer)| answer))
    }

    /// The peer asks to connect to the broker's card.
    ///
    /// # Panics
    /// If that cannot be.
    pub fn connect_to(&mut self, port: u16) -> CmId {
        let id = self.peer.channel.create_id();
        let to = std::net::SocketAddrV4::new(self.bench.ip(0), port);
        id.resolve_addr(to).expect("possible");
        id.resolve_route().expect("possible");
        let init = QpInit::new(&self.peer.cq);
        id.create_qp(&self.peer.pd, &init).expect("a queue pair");
        id.connect(&ConnParam::default()).expect("possible");
        id
    }

    /// What the peer hears of a connection.
    ///
    /// # Panics
    /// If its device fails.
    pub fn peer_event(&mut self) -> Option<CmEvent> {
        loop {
            let event = self.peer.channel.try_get_event().expect("it works")?;
            use CmEventType::{AddrResolved, RouteResolved};
            if !matches!(event.event, AddrResolved | RouteResolved) {
                return Some(event);
            }
        }
    }

    /// A client that has a queue pair which is connected to the peer, and words to write there.
    ///
    /// # Panics
    /// If that cannot be.
    pub fn honest(&mut self) -> Honest {
        let listener = self.peer.listen(&self.bench);
        let path = self.path.clone();
        let access = Access::LOCAL_WRITE;
        let (mut client, region, qp) = self.with(move || {
            let client = Client::connect(&path).expect("a broker");
            let region = client.memory(8192, access).expect("allowed");
            let qp = client.create_qp(QpCap::default(), 64).expect("allowed");
            (client, region, qp)
        });
        let lent = region.lent;
        let register = control::register(
            weft_hostdrv::unstable::domain_of(&lent),
            0,
            lent.iova,
            lent.length,
            access,
        );
        let stag = self.command(&mut client, &register).expect("its own").stag;
        let params = ConnectParams {
            remote: Endpoint {
                ip: self.bench.ip(1).octets(),
                port: PORT,
            },
            ..ConnectParams::default()
        };
        let connect = control::connect(qp.id, &params);
        let conn = self.command(&mut client, &connect).expect("its own").conn;
        let mut server = None;
        self.until(|scene| {
            if let Some(event) = scene.peer_event() {
                if event.event == CmEventType::ConnectRequest {
                    server = Some(scene.peer.accept(event.id, &ConnParam::default()));
                }
            }
            let event = client.control().take_event()?;
            assert!(matches!(event, Event::Established { .. }), "{event:?}");
            Some(())
        });
        Honest {
            client,
            region,
            qp,
            conn: ConnId::from_number(conn).expect("a connection"),
            stag,
            wrote: 0,
            listener,
            server,
        }
    }
}

/// The number of an entry.
type Posted = Result<u32, NotPosted>;

/// Who does nothing but its work.
pub struct Honest {
    /// It.
    pub client: Client,
    /// What it writes from.
    pub region: SharedRegion,
    /// Its queue pair.
    pub qp: SharedQp,
    /// Its connection.
    pub conn: ConnId,
    stag: u32,
    wrote: u64,
    /// The peer listens.
    pub listener: CmId,
    server: Option<CmId>,
}

/// What the peer has of a connection, and what a client that is gone has not given back.
pub struct PeersEnd {
    _not_given_back: (SharedRegion, SharedQp),
    _listener: CmId,
    _server: Option<CmId>,
}

impl Honest {
    /// It is gone, and gives nothing back; the peer is not.
    pub fn exit(self) -> PeersEnd {
        PeersEnd {
            _not_given_back: (self.region, self.qp),
            _listener: self.listener,
            _server: self.server,
        }
    }

    /// Posts a Write of a word that was not written before.
    ///
    /// # Errors
    /// As it is refused.
    pub fn post(&mut self, scene: &Scene) -> Posted {
        self.wrote += 1;
        let word = &self.region.words()[0];
        word.store(self.wrote, std::sync::atomic::Ordering::SeqCst);
        self.post_to(scene.peer.mr.rkey(), scene.peer.mr.addr())
    }

    /// The same, to this address of a region.
    ///
    /// # Errors
    /// As it is refused.
    pub fn post_to(&mut self, stag: u32, to: u64) -> Posted {
        self.post_from(0, 8, stag, to)
    }

    /// The same, of these octets of the client's region.
    ///
    /// # Errors
    /// As it is refused.
    pub fn post_from(&mut self, at: u64, length: u32, stag: u32, to: u64) -> Posted {
        let sge = Sge {
            to: at,
            length,
            stag: self.stag,
        };
        self.qp.queues.post_send(&Wqe {
            opcode: WqeOpcode::Write,
            flags: SendWqe::SIGNALED,
            to,
            stag,
            payload: Payload::Sges(std::slice::from_ref(&sge)),
        })
    }

    /// The same, and the word is there.
    ///
    /// # Panics
    /// If it is not.
    pub fn work(&mut self, scene: &mut Scene) {
        self.post(scene).expect("room");
        let cqe = scene.until(|_| self.qp.queues.poll());
        assert_eq!(cqe.status, 0, "{cqe:?}");
        let there = scene.peer.mr.to_vec(0, 8).expect("inside");
        assert_eq!(there, self.wrote.to_ne_bytes());
    }
}
