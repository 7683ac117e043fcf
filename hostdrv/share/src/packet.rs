//! What goes over a broker's socket: requests of fixed size, answers of fixed size with files.

use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::retry_on_intr;
use rustix::net::{
    recvmsg, sendmsg, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

/// Words of a request; the first says what it is.
pub(super) const REQUEST: usize = 8;
/// Words of an answer, behind its status.
pub(super) const ANSWER: usize = 16;
/// Files of an answer at most.
const FILES: usize = 4;

/// Nothing is asked for that is not one of these.
pub(super) const HELLO: u64 = u64::from_be_bytes(*b"weft-sh1");
pub(super) const CREATE_QP: u64 = 1;
pub(super) const MEMORY: u64 = 2;
/// XRC, since version 2. In version 2 a file came with the first; it names nothing any more.
pub(super) const OPEN_XRCD_BY_FILE: u64 = 3;
pub(super) const XRC_SRQ: u64 = 4;
pub(super) const TARGET: u64 = 5;
pub(super) const CLOSE_TARGET: u64 = 6;
/// Since version 3: a domain by its name, and the broker woken, which is not answered.
pub(super) const OPEN_XRCD: u64 = 7;
pub(super) const RING: u64 = 8;
/// Since version 4: domains, queue pairs in them, shared receive queues, each given back; memory joined.
pub(super) const DOMAIN: u64 = 9;
pub(super) const LEAVE_DOMAIN: u64 = 10;
pub(super) const QUEUE_PAIR: u64 = 11;
pub(super) const LEAVE_QUEUE_PAIR: u64 = 12;
pub(super) const SHARED_RECEIVES: u64 = 13;
pub(super) const LEAVE_SHARED_RECEIVES: u64 = 14;
/// Parts of memory as one range, and its end.
pub(super) const JOIN: u64 = 15;
pub(super) const LEAVE_JOINED: u64 = 16;
/// Since version 5, XRC of a device: a domain by a file, or a new one; its end; shared receives of it, and targets, in the client's own protection domains.
pub(super) const XRCD: u64 = 17;
/// How a domain is opened: one that is there, or a new one, or either.
pub(super) const XRCD_EXISTING: u64 = 0;
pub(super) const XRCD_OR_NEW: u64 = 1;
pub(super) const XRCD_NEW: u64 = 2;
pub(super) const LEAVE_XRCD: u64 = 18;
pub(super) const XRC_RECEIVES: u64 = 19;
pub(super) const XRC_TARGET: u64 = 20;
/// Since version 6: a file of the client's own, all of it, as memory that the card reaches. It is left as joined parts are.
pub(super) const MAP: u64 = 21;
/// Since version 2.
pub(super) const EXTENSIONS: u64 = u64::from_be_bytes(*b"weft-ext");

/// Two numbers in a word, each of 32 bits.
pub(super) fn pair([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// The same, the other way.
pub(super) fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

pub(super) type Request = [u64; REQUEST];
pub(super) type Words = [u64; ANSWER];

pub(super) const REQUEST_BYTES: usize = 8 * REQUEST;
const ANSWER_BYTES: usize = 8 * (1 + ANSWER);
const DONE: u64 = 0;
const REFUSED: u64 = 1;

/// These words, and zeros.
pub(super) fn words<const N: usize>(given: &[u64]) -> [u64; N] {
    std::array::from_fn(|at| given.get(at).copied().unwrap_or(0))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let chunk = bytes.get(8 * at..).and_then(|rest| rest.first_chunk());
    chunk.map_or(0, |word| u64::from_le_bytes(*word))
}

/// A request by its bytes.
pub(super) fn request(bytes: &[u8; REQUEST_BYTES]) -> Request {
    std::array::from_fn(|at| word(bytes, at))
}

pub(super) fn ask(mut socket: &UnixStream, request: &Request) -> io::Result<()> {
    io::Write::write_all(&mut socket, &bytes_of(request))
}

/// The same with a file.
pub(super) fn ask_with(
    mut socket: &UnixStream,
    request: &Request,
    file: BorrowedFd<'_>,
) -> io::Result<()> {
    let bytes = bytes_of(request);
    // Nothing waits there: whoever asks has heard all answers.
    let sent = send(socket, &bytes, &[file])?;
    io::Write::write_all(&mut socket, &bytes[sent..])
}

/// The next request, and a file that came along. Without `with_files` the system lets go of those that come, in this thread.
pub(super) fn take(
    mut socket: &UnixStream,
    with_files: bool,
) -> io::Result<(Request, Option<OwnedFd>)> {
    let mut bytes = [0; REQUEST_BYTES];
    if !with_files {
        socket.read_exact(&mut bytes)?;
        return Ok((request(&bytes), None));
    }
    let (mut at, mut file) = (0, None);
    while at < bytes.len() {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let got = retry_on_intr(|| {
            let mut space = [IoSliceMut::new(&mut bytes[at..])];
            recvmsg(socket, &mut space, &mut ancillary, RecvFlags::CMSG_CLOEXEC)
        })?;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(sent) = message {
                // The others are closed here.
                file = sent.fold(file, |first: Option<OwnedFd>, next| first.or(Some(next)));
            }
        }
        match got.bytes {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            some => at += some,
        }
    }
    Ok((request(&bytes), file))
}

fn bytes_of(request: &Request) -> [u8; REQUEST_BYTES] {
    let mut bytes = [0; REQUEST_BYTES];
    for (place, word) in bytes.chunks_exact_mut(8).zip(request) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// A request that has no answer, without waiting: where there is no room the broker has something to read anyway.
pub(super) fn ring(socket: &UnixStream) {
    let bytes = bytes_of(&words(&[RING]));
    let _ = send(socket, &bytes, &[]);
}

/// Sends these bytes with these files, without waiting; how many went.
fn send(socket: &UnixStream, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let bytes = [IoSlice::new(bytes)];
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    let sent = retry_on_intr(|| sendmsg(socket, &bytes, &mut ancillary, flags));
    Ok(sent?)
}

/// Answers a request: what was done, with files, or why not. It is sent at once or not at all.
pub(super) fn answer(
    socket: &UnixStream,
    outcome: Result<(Words, Vec<BorrowedFd<'_>>), String>,
) -> io::Result<()> {
    let mut bytes = [0; ANSWER_BYTES];
    let mut files = Vec::new();
    match outcome {
        Ok((words, given)) => {
            bytes[..8].copy_from_slice(&DONE.to_le_bytes());
            for (place, word) in bytes[8..].chunks_exact_mut(8).zip(&words) {
                place.copy_from_slice(&word.to_le_bytes());
            }
            files = given;
        }
        Err(why) => {
            bytes[..8].copy_from_slice(&REFUSED.to_le_bytes());
            for (place, byte) in bytes[8..].iter_mut().zip(why.bytes()) {
                *place = byte;
            }
        }
    }
    match send(socket, &bytes, &files)? == bytes.len() {
        true => Ok(()),
        false => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// The answer to what was asked: its words and files.
pub(super) fn hear(mut socket: &UnixStream) -> io::Result<(Words, Vec<OwnedFd>)> {
    let mut bytes = [0; ANSWER_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let got = retry_on_intr(|| {
        let mut space = [IoSliceMut::new(&mut bytes)];
        recvmsg(socket, &mut space, &mut ancillary, RecvFlags::CMSG_CLOEXEC)
    })?;
    if got.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut files = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(sent) = message {
            files.extend(sent);
        }
    }
    socket.read_exact(&mut bytes[got.bytes..])?;
    if word(&bytes, 0) == DONE {
        return Ok((std::array::from_fn(|at| word(&bytes, 1 + at)), files));
    }
    let text = bytes[8..].split(|byte| *byte == 0).next();
    let why = String::from_utf8_lossy(text.unwrap_or_default()).into_owned();
    Err(io::Error::other(why))
}
