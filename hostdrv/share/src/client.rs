//! A process that has parts of a card by a broker.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::borrowed_device::BorrowedDevice;
use super::packet::{self, ask, hear, Words, CREATE_QP, EXTENSIONS, MEMORY};
use super::talk::{half, some, Talk};
use super::{sized, version};
use weft_card_transport::fork::Birthplace;
use weft_card_transport::queue_memory::QueueMemory;
use weft_card_transport::{Bell, BorrowedCard};
use weft_hostdrv::device::{Device, LentDevice};
use weft_hostdrv::unstable::control::QpId;
use weft_hostdrv::unstable::{SharedControl, SharedQueues};
use weft_hostdrv::verbs::{
    Access, ControlTerms, Extensions, QpCap, SharedLine, SharedRange, Terms,
};

/// How long a broker may take to answer who comes.
const FIRST_ANSWER: Duration = Duration::from_secs(20);

/// The end of who is lent to. When it is dropped, or its process ends, all that it had ends as well.
pub struct Client {
    talk: Talk,
    control: SharedControl,
    ip: Ipv4Addr,
    network: (Ipv4Addr, Option<Ipv4Addr>),
    bell: Bell,
}

/// A queue pair: its queues, and what commands call it.
pub struct SharedQp {
    /// Its queues, to post to and poll.
    pub queues: SharedQueues,
    /// Its name in commands.
    pub id: QpId,
}

/// Memory that the card reaches, mapped here as well: to be registered, in parts or as a whole.
pub struct SharedRegion {
    memory: QueueMemory,
    /// Its name in commands.
    pub lent: SharedRange,
}

impl Client {
    /// Asks a broker for control rings of its own.
    pub fn connect(path: &Path) -> io::Result<Self> {
        let socket = Arc::new(UnixStream::connect(path)?);
        // Whoever else listens there may say nothing, for ever.
        socket.set_read_timeout(Some(FIRST_ANSWER))?;
        // Who is turned away is told why, and may not be heard any more.
        let asked = ask(&socket, &version::hello());
        let (answer, mut files): (Words, _) = match (hear(&socket), asked) {
            (Err(why), Err(gone)) if why.kind() != io::ErrorKind::Other => return Err(gone),
            (heard, _) => heard?,
        };
        socket.set_read_timeout(None)?;
        let version = version::chosen(&answer)?;
        let [commands, events, ip, ..] = answer;
        let terms = ControlTerms {
            commands: half(commands),
            events: half(events),
        };
        let bell = Bell::new()?;
        let line = match version {
            ..=2 => None,
            _ => {
                let files = files.split_off(2.min(files.len()));
                let ringing = socket.clone();
                let (ring, hear) = (move || packet::ring(&ringing), bell.clone());
                let heard = move || hear.ring();
                Some(SharedLine::open_with(some(files)?, ring, heard)?)
            }
        };
        let control = SharedControl::open(some(files)?, terms)?;
        Ok(Self {
            control: match &line {
                Some(line) => control.on(line.clone()),
                None => control,
            },
            talk: Talk {
                socket,
                asking: Mutex::default(),
                line,
                version,
                born: Birthplace::here(),
            },
            ip: half(ip).into(),
            network: version::network(&answer),
            bell,
        })
    }

    /// A device of it, for programs that are written for one: its queue pairs, completion queues, regions are the same types, and its threads are as many as
    /// a program likes. It makes progress in the broker, and nothing here drives it.
    ///
    /// # Errors
    /// The broker is gone, or speaks a version of the interface before 4.
    pub fn into_device(self) -> io::Result<Device> {
        if self.talk.version < 4 {
            let why = "the broker speaks a version of the interface before 4, which lends no whole device";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let can = self.extensions()?;
        let (netmask, gateway) = self.network;
        let lent = LentDevice {
            ip: self.ip,
            netmask,
            gateway,
            mtu: u16::try_from(can.mtu).unwrap_or(1500),
            most: [can.max_qp, can.max_mr].map(half),
        };
        let Self {
            talk,
            control,
            bell,
            ip,
            ..
        } = self;
        let lender = Arc::new(BorrowedDevice::new(talk)?);
        let card = BorrowedCard::new(format!("card of {ip}, lent"), lender.clone(), bell);
        Ok(control.into_device(Arc::new(card), lender, &lent))
    }

    /// The version of the interface that both speak: 1 to 6.
    pub fn version(&self) -> u64 {
        self.talk.version
    }

    /// To sleep until the broker has done something, and to hear that it is gone. A broker before version 3 wakes nobody.
    pub fn line(&self) -> io::Result<&Arc<SharedLine>> {
        let none = || {
            let why = "the broker speaks a version of the interface before 3, which wakes nobody";
            io::Error::new(io::ErrorKind::Unsupported, why)
        };
        self.talk.line.as_ref().ok_or_else(none)
    }

    pub(super) fn on_line<T>(&self, queues: T, on: impl FnOnce(T, Arc<SharedLine>) -> T) -> T {
        match &self.talk.line {
            Some(line) => on(queues, line.clone()),
            None => queues,
        }
    }

    pub(super) fn request(&self, request: &[u64]) -> io::Result<(Words, Vec<OwnedFd>)> {
        self.talk.request(request)
    }

    /// What the broker's device can do. Fields that one of the two does not know are 0, or left out. A broker of version 1 cannot say.
    pub fn extensions(&self) -> io::Result<Extensions> {
        if self.talk.version < 2 {
            let why = "the broker speaks version 1 of the interface, which has no EXTENSIONS";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let bytes = sized::whole(|from| Ok(self.request(&[EXTENSIONS, from])?.0))?;
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "not what extensions look like");
        Extensions::read(&bytes).ok_or_else(wrong)
    }

    /// The device's address.
    pub fn ip(&self) -> Ipv4Addr {
        self.ip
    }

    /// Its control rings.
    pub fn control(&mut self) -> &mut SharedControl {
        &mut self.control
    }

    /// A queue pair and a completion queue of `cqe` entries. An error says why the broker refused.
    pub fn create_qp(&self, cap: QpCap, cqe: usize) -> io::Result<SharedQp> {
        self.make_qp(cap, cqe, false)
    }

    pub(super) fn make_qp(&self, cap: QpCap, cqe: usize, initiator: bool) -> io::Result<SharedQp> {
        let sizes = [
            CREATE_QP,
            cap.max_send_wr.into(),
            cap.max_recv_wr.into(),
            cap.max_send_sge as u64,
            cap.max_recv_sge as u64,
            cap.max_inline_data as u64,
            cqe as u64,
            initiator.into(),
        ];
        let ([number, qp_num, send, recv, sges, inline, cqe, ..], files) = self.request(&sizes)?;
        let terms = Terms {
            qp_num: half(qp_num),
            max_send_wr: half(send),
            max_recv_wr: half(recv),
            max_sge: half(sges),
            max_inline_data: half(inline),
            cqe: half(cqe),
        };
        let [queues, completions] = some(files)?;
        let queues = SharedQueues::open(queues, completions, terms)?;
        Ok(SharedQp {
            queues: self.on_line(queues, SharedQueues::on),
            id: QpId::from_number(half(number)),
        })
    }

    /// So many bytes, zero at first, of which parts may be registered with no more access than this.
    pub fn memory(&self, bytes: u64, access: Access) -> io::Result<SharedRegion> {
        self.make_memory(bytes, access, 0)
    }

    /// `domain`: 0 is this client's own, else an XRC domain's place and one.
    pub(super) fn make_memory(
        &self,
        bytes: u64,
        access: Access,
        domain: u64,
    ) -> io::Result<SharedRegion> {
        let ([pd, iova, length, ..], files) =
            self.request(&[MEMORY, bytes, access.bits().into(), domain])?;
        let [file] = some(files)?;
        Ok(SharedRegion {
            memory: QueueMemory::map(file)?,
            lent: SharedRange {
                pd: half(pd),
                iova,
                length,
            },
        })
    }
}

impl SharedRegion {
    /// Its bytes, as words in the order of the processor. The card reads and writes them at any time.
    pub fn words(&self) -> &[AtomicU64] {
        self.memory.words()
    }
}
