//! A process that has parts of a card by a broker.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use super::packet::{ask, hear, words, Words, CREATE_QP, EXTENSIONS, MEMORY};
use super::{sized, version};
use weft_card_transport::queue_memory::QueueMemory;
use weft_hostdrv::unstable::control::QpId;
use weft_hostdrv::unstable::{SharedControl, SharedQueues};
use weft_hostdrv::verbs::{Access, ControlTerms, Extensions, QpCap, SharedRange, Terms};

/// The end of who is lent to. When it is dropped, or its process ends, all that it had ends as well.
pub struct Client {
    socket: UnixStream,
    control: SharedControl,
    ip: Ipv4Addr,
    version: u64,
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

pub(super) fn two(files: Vec<OwnedFd>) -> io::Result<[OwnedFd; 2]> {
    let wrong = |_| io::Error::new(io::ErrorKind::InvalidData, "an answer without its files");
    <[OwnedFd; 2]>::try_from(files).map_err(wrong)
}

pub(super) fn half(word: u64) -> u32 {
    u32::try_from(word).unwrap_or(0)
}

impl Client {
    /// Asks a broker for control rings of its own.
    pub fn connect(path: &Path) -> io::Result<Self> {
        let socket = UnixStream::connect(path)?;
        ask(&socket, &version::hello())?;
        let (answer, files): (Words, _) = hear(&socket)?;
        let version = version::chosen(&answer)?;
        let [commands, events, ip, ..] = answer;
        let terms = ControlTerms {
            commands: half(commands),
            events: half(events),
        };
        Ok(Self {
            control: SharedControl::open(two(files)?, terms)?,
            ip: half(ip).into(),
            version,
            socket,
        })
    }

    /// The version of the interface that both speak: 1, or 2.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// What the broker's device can do. Fields that one of the two does not know are 0, or left out. A broker of version 1 cannot say.
    pub fn extensions(&self) -> io::Result<Extensions> {
        if self.version < 2 {
            let why = "the broker speaks version 1 of the interface, which has no EXTENSIONS";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let bytes = sized::whole(|from| {
            ask(&self.socket, &words(&[EXTENSIONS, from]))?;
            Ok(hear(&self.socket)?.0)
        })?;
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "not what extensions look like");
        Extensions::read(&bytes).ok_or_else(wrong)
    }

    /// The device's address.
    pub fn ip(&self) -> Ipv4Addr {
        self.ip
    }

    pub(super) fn socket(&self) -> &UnixStream {
        &self.socket
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
        ask(&self.socket, &words(&sizes))?;
        let ([number, qp_num, send, recv, sges, inline, cqe, ..], files): (Words, _) =
            hear(&self.socket)?;
        let terms = Terms {
            qp_num: half(qp_num),
            max_send_wr: half(send),
            max_recv_wr: half(recv),
            max_sge: half(sges),
            max_inline_data: half(inline),
            cqe: half(cqe),
        };
        let [queues, completions] = two(files)?;
        Ok(SharedQp {
            queues: SharedQueues::open(queues, completions, terms)?,
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
        let request = words(&[MEMORY, bytes, access.bits().into(), domain]);
        ask(&self.socket, &request)?;
        let ([pd, iova, length, ..], files): (Words, _) = hear(&self.socket)?;
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "an answer without its file");
        let file = files.into_iter().next().ok_or_else(wrong)?;
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
