//! The way to a broker.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use super::packet::{ask, ask_with, hear, words, Request, Words};
use weft_card_transport::fork::Birthplace;
use weft_hostdrv::verbs::SharedLine;

/// The way to a broker. When it is dropped the broker ends what was lent.
pub(super) struct Talk {
    pub(super) socket: Arc<UnixStream>,
    /// One request at a time.
    pub(super) asking: Mutex<()>,
    pub(super) line: Option<Arc<SharedLine>>,
    pub(super) version: u64,
    pub(super) born: Birthplace,
}

pub(super) fn some<const N: usize>(files: Vec<OwnedFd>) -> io::Result<[OwnedFd; N]> {
    let wrong = |_| io::Error::new(io::ErrorKind::InvalidData, "an answer without its files");
    <[OwnedFd; N]>::try_from(files).map_err(wrong)
}

pub(super) fn half(word: u64) -> u32 {
    u32::try_from(word).unwrap_or(0)
}

impl Talk {
    /// Asks, and hears.
    pub(super) fn request(&self, request: &[u64]) -> io::Result<(Words, Vec<OwnedFd>)> {
        self.request_with(request, None)
    }

    /// The same with a file.
    pub(super) fn request_with(
        &self,
        request: &[u64],
        file: Option<BorrowedFd<'_>>,
    ) -> io::Result<(Words, Vec<OwnedFd>)> {
        let request: Request = words(request);
        let _asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = match file {
            None => ask(&self.socket, &request),
            Some(file) => ask_with(&self.socket, &request, file),
        };
        let heard = asked.and_then(|()| hear(&self.socket));
        heard.map_err(
            |error| match self.line.as_ref().and_then(|line| line.gone()) {
                Some(gone) if error.kind() != io::ErrorKind::Other => gone.into(),
                _ => error,
            },
        )
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // A child made by fork lets go of its files, and of nothing that is its parent's.
        if !self.born.is_here() {
            return;
        }
        // Whoever still has queues may ring, but nobody listens any more.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        if let Some(line) = &self.line {
            line.close();
        }
    }
}
