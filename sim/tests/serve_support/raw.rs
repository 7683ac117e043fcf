//! A client written by hand: it can say anything, and it gives its memory by message.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::net::{sendmsg, SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

use super::{Memory, Reach};

pub const VERSION: u16 = 1;
pub const DMA_MAP: u16 = 2;
pub const DMA_UNMAP: u16 = 3;
pub const REGION_READ: u16 = 9;
pub const REGION_WRITE: u16 = 10;
pub const DMA_READ: u16 = 11;
pub const DMA_WRITE: u16 = 12;
pub const NO_REPLY: u32 = 1 << 4;
pub const ERROR: u32 = 1 << 5;

/// A message.
#[derive(Clone, Debug)]
pub struct Message {
    pub id: u16,
    pub command: u16,
    pub flags: u32,
    pub error: u32,
    pub payload: Vec<u8>,
}

/// The bytes of a message.
pub fn bytes(id: u16, command: u16, flags: u32, payload: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    message.extend(id.to_le_bytes());
    message.extend(command.to_le_bytes());
    message.extend((16 + payload.len() as u32).to_le_bytes());
    message.extend(flags.to_le_bytes());
    message.extend(0u32.to_le_bytes());
    message.extend(payload);
    message
}

/// Fields of a payload, 4 or 8 bytes each.
pub enum Field {
    W(u32),
    L(u64),
}

pub fn payload(fields: &[Field]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in fields {
        match field {
            Field::W(word) => bytes.extend(word.to_le_bytes()),
            Field::L(long) => bytes.extend(long.to_le_bytes()),
        }
    }
    bytes
}

/// The number of commands that go with answers.
const EAGER: u16 = 0xffff;

/// How the client answers the card's messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// As the protocol says.
    Properly,
    /// With 32 bits of count, and the data right behind it.
    Narrow,
    /// Not before its own commands are answered.
    OwnFirst,
    /// Each answer together with a command of its own.
    Eager,
    /// With errors.
    Refusing,
    /// Not at all.
    Never,
}

/// The client.
pub struct Raw {
    pub stream: UnixStream,
    next_id: u16,
    pub manner: Manner,
    /// Its memory, by address.
    pub memory: BTreeMap<u64, Vec<u8>>,
    /// Questions that it answers later.
    later: Vec<Message>,
    /// Replies to the commands that went with answers.
    pub eager: u64,
    /// Messages of DMA that it got.
    pub asked: u64,
    /// The longest of them.
    pub longest: usize,
}

impl Raw {
    /// Connects, and says nothing.
    pub fn connect(path: &Path) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        Self {
            stream,
            next_id: 0,
            manner: Manner::Properly,
            memory: BTreeMap::new(),
            later: Vec::new(),
            eager: 0,
            asked: 0,
            longest: 0,
        }
    }

    /// Connects and agrees on the version, and on so many bytes in a message.
    pub fn greet(path: &Path, max_data: usize) -> Self {
        let mut raw = Self::connect(path);
        let json = format!("{{\"capabilities\":{{\"max_data_xfer_size\":{max_data}}}}}\0");
        let mut version = vec![0, 0, 1, 0];
        version.extend(json.as_bytes());
        let reply = raw.ask(VERSION, &version);
        assert_eq!(reply.flags & ERROR, 0);
        raw
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Sends bytes with descriptors.
    pub fn send_with(&mut self, bytes: &[u8], fds: &[BorrowedFd<'_>]) {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(64))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(fds)));
        let sent = sendmsg(
            self.stream.as_fd(),
            &[std::io::IoSlice::new(bytes)],
            &mut control,
            SendFlags::empty(),
        );
        assert_eq!(sent.unwrap(), bytes.len());
    }

    /// The same, where the server may have closed.
    pub fn try_send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    pub fn try_send_with(&mut self, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> bool {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(64))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(fds)));
        sendmsg(
            self.stream.as_fd(),
            &[std::io::IoSlice::new(bytes)],
            &mut control,
            SendFlags::NOSIGNAL,
        )
        .is_ok()
    }

    /// Throws away what the server has said so far.
    pub fn drop_replies(&mut self) {
        self.stream.set_nonblocking(true).unwrap();
        let mut bytes = [0; 4096];
        while self.stream.read(&mut bytes).is_ok_and(|n| n > 0) {}
        self.stream.set_nonblocking(false).unwrap();
    }

    /// Sends a command and does not wait.
    pub fn command(&mut self, command: u16, payload: &[u8]) -> u16 {
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        self.send(&bytes(id, command, 0, payload));
        id
    }

    /// Sends a command and waits for its reply; DMA messages on the way are answered.
    pub fn ask(&mut self, command: u16, payload: &[u8]) -> Message {
        let id = self.command(command, payload);
        self.reply_to(id)
    }

    pub fn reply_to(&mut self, id: u16) -> Message {
        loop {
            let message = self.receive().expect("the server closed the socket");
            if message.flags & 1 == 1 && message.id == EAGER {
                self.eager += 1;
                continue;
            }
            if message.flags & 1 == 1 {
                assert_eq!(message.id, id);
                for question in std::mem::take(&mut self.later) {
                    self.answer(&question);
                }
                return message;
            }
            if self.manner == Manner::OwnFirst {
                self.later.push(message);
            } else {
                self.answer(&message);
            }
        }
    }

    /// The next message; `None`: the server closed.
    pub fn receive(&mut self) -> Option<Message> {
        let mut header = [0; 16];
        if self.stream.read_exact(&mut header).is_err() {
            return None;
        }
        let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().unwrap());
        let mut payload = vec![0; word(4) as usize - 16];
        self.stream.read_exact(&mut payload).ok()?;
        Some(Message {
            id: word(0) as u16,
            command: (word(0) >> 16) as u16,
            flags: word(8),
            error: word(12),
            payload,
        })
    }

    /// Is the server still there? Nothing must be on its way.
    pub fn is_closed(&mut self) -> bool {
        self.receive().is_none()
    }

    /// Answers DMA messages for a while.
    pub fn attend(&mut self, time: Duration) {
        self.stream.set_read_timeout(Some(time)).unwrap();
        while let Some(message) = self.receive() {
            if message.flags & 1 == 0 {
                self.answer(&message);
            } else {
                assert_eq!(message.id, EAGER);
                self.eager += 1;
            }
        }
        self.stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
    }

    fn answer(&mut self, message: &Message) {
        let long = |at: usize| u64::from_le_bytes(message.payload[at..at + 8].try_into().unwrap());
        let (address, mut count) = (long(0), long(8));
        self.asked += 1;
        if self.manner == Manner::Never {
            return;
        }
        let mut data = &message.payload[16..];
        if self.manner == Manner::Narrow {
            count &= 0xffff_ffff;
            data = &message.payload[12..];
        }
        let place = self
            .memory
            .range_mut(..=address)
            .next_back()
            .map(|(start, bytes)| ((address - start) as usize, bytes))
            .filter(|(at, bytes)| count <= 1 << 20 && at + count as usize <= bytes.len());
        let (Some((at, memory)), false) = (place, self.manner == Manner::Refusing) else {
            self.send(&bytes(message.id, message.command, 1 | ERROR, &[]));
            return;
        };
        self.longest = self.longest.max(count as usize);
        let range = at..at + count as usize;
        let reply = match (message.command, self.manner) {
            (DMA_READ, Manner::Narrow) => {
                let mut reply = message.payload[..12].to_vec();
                reply.extend(&memory[range]);
                reply.extend([0; 4]);
                reply
            }
            (DMA_READ, _) => {
                let mut reply = message.payload[..16].to_vec();
                reply.extend(&memory[range]);
                reply
            }
            (DMA_WRITE, manner) => {
                memory[range].copy_from_slice(&data[..count as usize]);
                match manner {
                    Manner::Narrow => Vec::new(),
                    _ => message.payload[..12].to_vec(),
                }
            }
            (other, _) => panic!("the server sent command {other}"),
        };
        let mut answer = bytes(message.id, message.command, 1, &reply);
        if self.manner == Manner::Eager {
            let read = [Field::L(0), Field::W(0), Field::W(4)];
            answer.extend(bytes(EAGER, REGION_READ, 0, &payload(&read)));
        }
        self.send(&answer);
    }

    /// Maps memory without a descriptor, and gives it by message.
    pub fn share(&mut self, iova: u64, len: u64) {
        self.memory.insert(iova, vec![0; len as usize]);
        let reply = self.ask(
            DMA_MAP,
            &payload(&[
                Field::W(32),
                Field::W(3),
                Field::L(0),
                Field::L(iova),
                Field::L(len),
            ]),
        );
        assert_eq!(reply.flags & ERROR, 0);
    }
}

impl Reach for Raw {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) {
        let fields = [
            Field::L(offset),
            Field::W(region),
            Field::W(data.len() as u32),
        ];
        let reply = self.ask(REGION_READ, &payload(&fields));
        assert_eq!(reply.flags & ERROR, 0);
        data.copy_from_slice(&reply.payload[16..]);
    }

    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) {
        let mut payload = payload(&[
            Field::L(offset),
            Field::W(region),
            Field::W(data.len() as u32),
        ]);
        payload.extend(data);
        let reply = self.ask(REGION_WRITE, &payload);
        assert_eq!(reply.flags & ERROR, 0);
    }
}

/// A copy of a client's memory, for the driver of a few lines.
pub struct Lent<'a>(pub &'a mut BTreeMap<u64, Vec<u8>>, pub u64);

impl Memory for Lent<'_> {
    fn write(&mut self, offset: u64, bytes: &[u8]) {
        let memory = self.0.get_mut(&self.1).unwrap();
        memory[offset as usize..][..bytes.len()].copy_from_slice(bytes);
    }
    fn read(&mut self, offset: u64, bytes: &mut [u8]) {
        let memory = &self.0[&self.1];
        bytes.copy_from_slice(&memory[offset as usize..][..bytes.len()]);
    }
}
