//! The vfio-user transport with servers that are wrong, in every way a server can be.
//!
//! Nothing of it may hang, panic or pass unnoticed: each ends with an error that says what the server did.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::net::{recv, RecvFlags};
use weft_card_transport::dma::PAGE_SIZE;
use weft_card_transport::{Bar, OpenError, Transport, VfioUserTransport};

const VERSION: u16 = 1;
const DMA_MAP: u16 = 2;
const DMA_UNMAP: u16 = 3;
const GET_INFO: u16 = 4;
const GET_REGION_INFO: u16 = 5;
const GET_IRQ_INFO: u16 = 7;
const SET_IRQS: u16 = 8;
const REGION_READ: u16 = 9;
const REGION_WRITE: u16 = 10;
const RESET: u16 = 13;
const DMA_WRITE: u16 = 12;

const REPLY: u32 = 1;
const ERROR: u32 = 1 << 5;
const PATIENCE: Duration = Duration::from_millis(300);

/// A request, as a scripted server sees it.
struct Request {
    id: u16,
    command: u16,
    body: Vec<u8>,
    /// How many of this command came before.
    before: usize,
}

impl Request {
    fn word(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.body[at..at + 4].try_into().expect("long enough"))
    }

    fn message(&self, flags: u32, errno: u32, body: &[u8]) -> Vec<u8> {
        message(self.id, self.command, flags, errno, body)
    }

    fn reply(&self, body: &[u8]) -> Vec<u8> {
        self.message(REPLY, 0, body)
    }

    fn refuse(&self, errno: i32) -> Vec<u8> {
        self.message(REPLY | ERROR, errno as u32, &[])
    }

    /// What a good server answers.
    fn good(&self) -> Vec<u8> {
        let words =
            |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|w| w.to_ne_bytes()).collect() };
        match self.command {
            VERSION => {
                let mut body = words(&[1 << 16]);
                body.extend(b"{\"capabilities\":{\"max_msg_fds\":16}}\0");
                self.reply(&body)
            }
            // PCI, can be reset; nine regions, five kinds of interrupts.
            GET_INFO => self.reply(&words(&[16, 3, 9, 5])),
            GET_REGION_INFO => {
                let index = self.word(8);
                let size = match index {
                    0 | 2 => 0x1_0000,
                    7 => 256,
                    _ => 0,
                };
                self.reply(&words(&[32, 3, index, 0, size, 0, 0, 0]))
            }
            GET_IRQ_INFO => self.reply(&words(&[16, 1, self.word(8), 2])),
            REGION_READ => {
                let mut body = self.body.clone();
                body.resize(16 + self.word(12) as usize, 0x11);
                self.reply(&body)
            }
            REGION_WRITE => self.reply(&self.body[..16]),
            DMA_UNMAP => self.reply(&self.body),
            _ => self.reply(&[]),
        }
    }
}

fn message(id: u16, command: u16, flags: u32, errno: u32, body: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    message.extend(id.to_ne_bytes());
    message.extend(command.to_ne_bytes());
    message.extend((16 + body.len() as u32).to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend(errno.to_ne_bytes());
    message.extend(body);
    message
}

/// What a scripted server does with a request.
enum Act {
    /// As a good server.
    Good,
    /// Sends these bytes.
    Say(Vec<u8>),
    /// Sends these bytes, and closes the connection.
    SayAndClose(Vec<u8>),
    /// Sends nothing, and stays.
    Hang,
    /// Closes the connection.
    Close,
    /// Closes the connection with the request unread, as a server that is killed: the client hears of a reset.
    Reset,
}

/// A server that follows a script.
struct Scripted {
    socket: PathBuf,
    thread: Option<JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

impl Scripted {
    fn start(script: impl Fn(&Request) -> Act + Send + 'static) -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let socket = folder.path().join("scripted.sock");
        let listener = UnixListener::bind(&socket).expect("a socket");
        let thread = std::thread::spawn(move || {
            let (stream, _) = listener.accept().expect("a client");
            serve(&stream, script);
        });
        Self {
            socket,
            thread: Some(thread),
            _folder: folder,
        }
    }

    fn connect(&self) -> Result<VfioUserTransport, OpenError> {
        VfioUserTransport::connect_patiently(&self.socket, PATIENCE)
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            assert!(ended.is_some_and(|e| e.is_ok()), "the script failed");
        }
    }
}

/// The next octets, left in the socket; `None`: the client has closed.
fn peeked(stream: &UnixStream, len: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; len];
    let flags = RecvFlags::PEEK | RecvFlags::WAITALL;
    let (count, _) = recv(stream, &mut bytes[..], flags).ok()?;
    (count == len).then_some(bytes)
}

/// Until the client closes, or the script does.
fn serve(mut stream: &UnixStream, script: impl Fn(&Request) -> Act) {
    let mut seen = std::collections::BTreeMap::<u16, usize>::new();
    loop {
        // The request stays in the socket until the script has spoken: a close with something unread is a reset.
        let Some(header) = peeked(stream, 16) else {
            return;
        };
        let half = |at: usize| u16::from_ne_bytes([header[at], header[at + 1]]);
        let len = u32::from_ne_bytes(header[4..8].try_into().expect("four bytes"));
        let mut message = peeked(stream, len as usize).expect("the rest");
        let body = message.split_off(16);
        let before = seen.entry(half(2)).or_default();
        let request = Request {
            id: half(0),
            command: half(2),
            body,
            before: *before,
        };
        *before += 1;
        let act = script(&request);
        if matches!(act, Act::Reset) {
            return;
        }
        // File descriptors that come along are dropped by plain reads.
        let mut taken = vec![0; len as usize];
        stream.read_exact(&mut taken).expect("it was there");
        let said = match act {
            Act::Good => request.good(),
            Act::Say(bytes) => bytes,
            Act::SayAndClose(bytes) => {
                // The client may be gone already.
                let _ = stream.write_all(&bytes);
                return;
            }
            Act::Hang => continue,
            Act::Close | Act::Reset => return,
        };
        if stream.write_all(&said).is_err() {
            return;
        }
    }
}

/// The error of connecting to a server that answers one command in its own way.
fn refused(command: u16, act: impl Fn(&Request) -> Act + Send + 'static) -> String {
    let server = Scripted::start(move |request| {
        if request.command == command {
            return act(request);
        }
        Act::Good
    });
    let start = Instant::now();
    let error = server.connect().err().expect("it is not connected");
    assert!(start.elapsed() < 10 * PATIENCE, "{error}");
    assert!(
        matches!(
            error,
            OpenError::BadServer { .. }
                | OpenError::NoInterrupts { .. }
                | OpenError::AllOnes { .. }
        ),
        "{error:?}"
    );
    error.to_string()
}

fn has(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in: {text}");
}

#[test]
fn a_good_script_connects() {
    let server = Scripted::start(|_| Act::Good);
    let card = server.connect().expect("connected");
    assert_eq!(card.read32(Bar::Registers, 0), Ok(0x1111_1111));
    let buffer = card.dma_alloc(PAGE_SIZE).expect("memory");
    card.reset().expect("it can");
    drop(card);
    drop(buffer);
}

#[test]
fn hangs_and_closings_at_each_step() {
    for command in [
        VERSION,
        GET_INFO,
        GET_REGION_INFO,
        GET_IRQ_INFO,
        SET_IRQS,
        REGION_READ,
        REGION_WRITE,
    ] {
        has(&refused(command, |_| Act::Hang), "hangs");
        has(&refused(command, |_| Act::Close), "closed the connection");
        has(&refused(command, |_| Act::Reset), "closed the connection");
    }
}

#[test]
fn a_server_that_ends_within_a_message_has_closed_the_connection() {
    let half = |request: &Request| Act::SayAndClose(request.good()[..20].to_vec());
    has(&refused(GET_INFO, half), "closed the connection");
}

#[test]
fn the_version_is_nonsense() {
    let version =
        |body: &'static [u8]| refused(VERSION, move |request| Act::Say(request.reply(body)));
    for body in [
        b"".as_slice(),
        b"\0\0\x01\0",
        b"\0\0\x01\0\0",
        b"\0\0\x01\0{\"capabilities\":7}\0",
        b"\0\0\x01\0not json at all\0",
        b"\0\0\x01\0\xff\xfe\xfd\0",
    ] {
        version(body);
    }
    has(
        &refused(VERSION, |request| Act::Say(request.refuse(95))),
        "refused the version",
    );
    has(
        &refused(VERSION, |_| {
            Act::Say(b"HTTP/1.1 400 Bad Request\r\n".to_vec())
        }),
        "a message of",
    );
}

#[test]
fn messages_that_are_none() {
    // Shorter than a header, longer than anything, cut off in the middle.
    for len in [0u32, 15, 1 << 30, u32::MAX] {
        let act = move |request: &Request| {
            let mut bytes = request.good();
            bytes[4..8].copy_from_slice(&len.to_ne_bytes());
            Act::Say(bytes)
        };
        has(&refused(GET_INFO, act), "a message of");
    }
    let cut = |request: &Request| Act::Say(request.good()[..20].to_vec());
    has(&refused(GET_INFO, cut), "hangs");
    // Another's answer, or an answer to nothing.
    let number =
        |request: &Request| Act::Say(message(request.id + 1, request.command, REPLY, 0, &[0; 16]));
    has(&refused(GET_INFO, number), "answered command 4 number");
    let command = |request: &Request| Act::Say(message(request.id, 99, REPLY, 0, &[0; 16]));
    has(&refused(GET_INFO, command), "answered command 99");
    let twice = |request: &Request| {
        let mut bytes = request.good();
        bytes.extend(request.good());
        Act::Say(bytes)
    };
    refused(GET_INFO, twice);
    // Too short for what was asked.
    let short = |request: &Request| Act::Say(request.reply(&[0; 4]));
    has(&refused(GET_INFO, short), "20 bytes where 32 belong");
    let less = |request: &Request| {
        let mut body = request.body.clone();
        body[12..16].copy_from_slice(&2u32.to_ne_bytes());
        body.extend([0; 4]);
        Act::Say(request.reply(&body))
    };
    has(&refused(REGION_READ, less), "moved 2 bytes");
}

#[test]
fn descriptions_that_cannot_be() {
    let info = |flags: u32, regions: u32| {
        refused(GET_INFO, move |request| {
            let words = [16, flags, regions, 5].map(u32::to_ne_bytes);
            Act::Say(request.reply(&words.concat()))
        })
    };
    has(&info(3, u32::MAX), "4294967295 regions");
    has(&info(1, 9), "PCI");
    has(&info(3, 0), "no configuration space");
    // Capabilities whose length is told in two ways.
    for (argsz, len) in [(64u32, 32), (64, 64), (31, 32), (0, 32), (u32::MAX, 48)] {
        let act = move |request: &Request| {
            let mut body = vec![0; len];
            let first = request.word(0) == 32;
            let says = if first { 48 } else { argsz };
            body[..4].copy_from_slice(&says.to_ne_bytes());
            body[8..12].copy_from_slice(&request.body[8..12]);
            if first {
                body.truncate(32);
            }
            Act::Say(request.reply(&body))
        };
        let text = refused(GET_REGION_INFO, act);
        assert!(!text.is_empty(), "{argsz} {len}");
    }
    for count in [0, u32::MAX] {
        let act = move |request: &Request| {
            let words = [16, 1, 2, count].map(u32::to_ne_bytes);
            Act::Say(request.reply(&words.concat()))
        };
        has(&refused(GET_IRQ_INFO, act), "MSI-X");
    }
    let ones = |request: &Request| {
        let mut body = request.body.clone();
        body.extend([0xff; 4]);
        Act::Say(request.reply(&body))
    };
    has(&refused(REGION_READ, ones), "all ones");
}

#[test]
fn refusals_that_the_client_does_not_see() {
    has(
        &refused(SET_IRQS, |request| Act::Say(request.refuse(22))),
        "Invalid argument",
    );
    // Mapping, unmapping and reset are refused once, then work: the connection lives.
    let server = Scripted::start(|request| match request.command {
        DMA_MAP | RESET if request.before == 0 => Act::Say(request.refuse(28)),
        REGION_READ if request.before == 2 => Act::Say(request.refuse(5)),
        _ => Act::Good,
    });
    let card = server.connect().expect("connected");
    let error = card.read32(Bar::Registers, 0).expect_err("refused");
    has(&error.to_string(), "Input/output error");
    assert_eq!(card.read32(Bar::Registers, 0), Ok(0x1111_1111));
    let error = card.dma_alloc(1).expect_err("refused");
    has(&error.to_string(), "No space left");
    let first = card.dma_alloc(1).expect("memory");
    let error = card.reset().expect_err("refused");
    has(&error.to_string(), "No space left");
    card.reset().expect("it can");
    drop(first);
}

#[test]
fn memory_that_cannot_be_unmapped_is_not_used_again() {
    let server = Scripted::start(|request| match request.command {
        DMA_UNMAP if request.before == 0 => Act::Say(request.refuse(16)),
        _ => Act::Good,
    });
    let card = server.connect().expect("connected");
    let first = card.dma_alloc(PAGE_SIZE).expect("memory");
    let iova = first.iova();
    drop(first);
    let second = card.dma_alloc(PAGE_SIZE).expect("memory");
    assert_ne!(second.iova(), iova, "the server may still have it");
}

#[test]
fn requests_of_the_server_are_declined() {
    // It asks for DMA by message in between; the client answers and goes on.
    let server = Scripted::start(|request| match request.command {
        REGION_READ if request.before == 2 => {
            let mut said = message(77, DMA_WRITE, 0, 0, &[0; 24]);
            said.extend(request.good());
            Act::Say(said)
        }
        // The client's refusal comes as a message of its own.
        DMA_WRITE => Act::Hang,
        _ => Act::Good,
    });
    let card = server.connect().expect("connected");
    assert_eq!(card.read32(Bar::Registers, 0), Ok(0x1111_1111));
    assert_eq!(card.read32(Bar::Registers, 4), Ok(0x1111_1111));
}

#[test]
fn a_server_that_hangs_later_is_given_up() {
    let server = Scripted::start(|request| match request.command {
        REGION_WRITE if request.before == 1 => Act::Hang,
        _ => Act::Good,
    });
    let card = server.connect().expect("connected");
    let start = Instant::now();
    let error = card.write32(Bar::Doorbells, 0, 1).expect_err("it hangs");
    has(&error.to_string(), "hangs");
    // No second wait: the connection is over.
    for _ in 0..100 {
        assert!(card.read32(Bar::Registers, 0).is_err());
    }
    assert!(card.wait(0, None).is_err());
    assert!(start.elapsed() < 10 * PATIENCE);
}
