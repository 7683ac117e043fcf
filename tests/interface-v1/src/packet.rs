//! What goes over the socket: requests of 64 bytes, answers of 136 and up to two files.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use rustix::net::{
    recvmsg, sendmsg, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

/// Requests, by their first word: "weft-sh1", and numbers.
pub const HELLO: u64 = 0x7765_6674_2d73_6831;
pub const CREATE_QP: u64 = 1;
pub const MEMORY: u64 = 2;

pub fn ask(mut socket: &UnixStream, request: &[u64]) -> io::Result<()> {
    let mut bytes = [0; 64];
    for (place, word) in bytes.chunks_exact_mut(8).zip(request) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    socket.write_all(&bytes)
}

/// The next request; `None`: the client is gone.
pub fn request(mut socket: &UnixStream) -> io::Result<Option<[u64; 8]>> {
    let mut bytes = [0; 64];
    match socket.read_exact(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
        Ok(()) => Ok(Some(std::array::from_fn(|at| word(&bytes, at)))),
    }
}

/// Done, with these words and files, or why not.
pub fn answer(socket: &UnixStream, outcome: Result<(&[u64], &[&File]), &str>) -> io::Result<()> {
    let mut bytes = [0; 136];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let fds: Vec<_>;
    match outcome {
        Ok((words, files)) => {
            for (place, word) in bytes[8..].chunks_exact_mut(8).zip(words) {
                place.copy_from_slice(&word.to_le_bytes());
            }
            fds = files.iter().map(|file| file.as_fd()).collect();
            ancillary.push(SendAncillaryMessage::ScmRights(&fds));
        }
        Err(why) => {
            bytes[0] = 1;
            bytes[8..8 + why.len()].copy_from_slice(why.as_bytes());
        }
    }
    let flags = SendFlags::NOSIGNAL;
    sendmsg(socket, &[IoSlice::new(&bytes)], &mut ancillary, flags)?;
    Ok(())
}

/// The answer's words and files.
pub fn hear(mut socket: &UnixStream) -> io::Result<([u64; 16], Vec<File>)> {
    let mut bytes = [0; 136];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut bytes)],
        &mut ancillary,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let mut files = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(sent) = message {
            files.extend(sent.map(File::from));
        }
    }
    socket.read_exact(&mut bytes[got.bytes..])?;
    if word(&bytes, 0) != 0 {
        let text = bytes[8..].split(|byte| *byte == 0).next();
        let why = String::from_utf8_lossy(text.unwrap_or_default());
        return Err(io::Error::other(why.into_owned()));
    }
    Ok((std::array::from_fn(|at| word(&bytes, 1 + at)), files))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let word = bytes[8 * at..8 * at + 8].try_into();
    word.map_or(0, u64::from_le_bytes)
}
