//! What goes over a broker's socket: requests of fixed size, answers of fixed size with files.

use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    recvmsg, sendmsg, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

/// Words of a request; the first says what it is.
pub(super) const REQUEST: usize = 8;
/// Words of an answer, behind its status.
pub(super) const ANSWER: usize = 16;
/// Files of an answer at most.
const FILES: usize = 2;

/// Nothing is asked for that is not one of these.
pub(super) const HELLO: u64 = u64::from_be_bytes(*b"weft-sh1");
pub(super) const CREATE_QP: u64 = 1;
pub(super) const MEMORY: u64 = 2;
/// XRC, since version 2. The first comes with a file.
pub(super) const OPEN_XRCD: u64 = 3;
pub(super) const XRC_SRQ: u64 = 4;
pub(super) const TARGET: u64 = 5;
pub(super) const CLOSE_TARGET: u64 = 6;
/// Since version 2.
pub(super) const EXTENSIONS: u64 = u64::from_be_bytes(*b"weft-ext");

pub(super) type Request = [u64; REQUEST];
pub(super) type Words = [u64; ANSWER];

const REQUEST_BYTES: usize = 8 * REQUEST;
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

/// Bytes of a request, as they come in.
pub(super) struct Incoming {
    bytes: [u8; REQUEST_BYTES],
    filled: usize,
    /// What came with it.
    file: Option<OwnedFd>,
}

impl Incoming {
    pub(super) fn new() -> Self {
        Self {
            bytes: [0; REQUEST_BYTES],
            filled: 0,
            file: None,
        }
    }

    /// The next request; `None`: it is not all there. An error: who asks is gone.
    pub(super) fn take(&mut self, socket: &UnixStream) -> io::Result<Option<Request>> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let got = recvmsg(
            socket,
            &mut [IoSliceMut::new(&mut self.bytes[self.filled..])],
            &mut ancillary,
            RecvFlags::CMSG_CLOEXEC,
        );
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(mut files) = message {
                self.file = files.next().or(self.file.take());
            }
        }
        match got.map(|got| got.bytes).map_err(io::Error::from) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                self.filled += count;
                if self.filled < REQUEST_BYTES {
                    return Ok(None);
                }
                self.filled = 0;
                Ok(Some(std::array::from_fn(|at| word(&self.bytes, at))))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The file that came with it.
    pub(super) fn take_file(&mut self) -> Option<OwnedFd> {
        self.file.take()
    }
}

pub(super) fn ask(socket: &UnixStream, request: &Request) -> io::Result<()> {
    ask_with(socket, request, None)
}

/// The same, with a file.
pub(super) fn ask_with(
    socket: &UnixStream,
    request: &Request,
    file: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let mut bytes = [0; REQUEST_BYTES];
    for (place, word) in bytes.chunks_exact_mut(8).zip(request) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    let sent = send(socket, &bytes, file.as_slice())?;
    io::Write::write_all(&mut &*socket, &bytes[sent..])
}

/// Sends these bytes with these files; how many went.
fn send(socket: &UnixStream, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let bytes = [IoSlice::new(bytes)];
    Ok(sendmsg(
        socket,
        &bytes,
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )?)
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
    let got = recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut bytes)],
        &mut ancillary,
        RecvFlags::CMSG_CLOEXEC,
    )?;
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
