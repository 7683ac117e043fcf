//! `dgram:LOCAL[,PEER]`: a unix datagram socket, an Ethernet frame without FCS in each datagram. The same as QEMU's
//! `-netdev dgram` with two unix paths, with the paths the other way round.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::Duration;

use weft_card_transport::listening;

use super::{is_frame, pad, Outside, PortCounts, LONGEST};

/// Frames kept while the peer's socket is full.
const MOST_WAITING: usize = 4096;
/// How often a full socket is tried again.
const RETRY: Duration = Duration::from_millis(1);

/// The port.
pub struct Datagram {
    socket: UnixDatagram,
    local: PathBuf,
    peer: Option<PathBuf>,
    fixed: bool,
    waiting: VecDeque<Vec<u8>>,
    counts: PortCounts,
}

impl Datagram {
    /// Binds the local path. A socket that is there and belongs to nobody is replaced.
    pub fn open(local: &Path, peer: Option<&Path>) -> io::Result<Self> {
        let socket = listening::bind_datagram(local)?;
        Ok(Self {
            socket,
            local: local.to_owned(),
            peer: peer.map(Path::to_owned),
            fixed: peer.is_some(),
            waiting: VecDeque::new(),
            counts: PortCounts::default(),
        })
    }

    /// Sends what waits, until the peer takes no more.
    fn flush(&mut self) {
        while let Some(frame) = self.waiting.front() {
            let result = match &self.peer {
                Some(peer) => self.socket.send_to(frame, peer),
                None => Err(io::ErrorKind::NotConnected.into()),
            };
            match result {
                Ok(_) => self.counts.sent += 1,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                // Nobody is there: as if the cable were not plugged in.
                Err(_) => self.counts.dropped += 1,
            }
            self.waiting.pop_front();
        }
    }
}

impl Outside for Datagram {
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }

    fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut frame = vec![0; LONGEST + 1];
        loop {
            let (len, from) = match self.socket.recv_from(&mut frame) {
                Ok(got) => got,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(e) => return Err(e),
            };
            if !self.fixed {
                if let Some(path) = from.as_pathname() {
                    self.peer = Some(path.to_owned());
                }
            }
            if is_frame(len) {
                self.counts.received += 1;
                frame.truncate(len);
                pad(&mut frame);
                return Ok(Some(frame));
            }
            self.counts.refused += 1;
        }
    }

    fn send(&mut self, mut frame: Vec<u8>) {
        if self.waiting.len() >= MOST_WAITING {
            self.counts.dropped += 1;
            return;
        }
        pad(&mut frame);
        self.waiting.push_back(frame);
        self.flush();
    }

    fn tick(&mut self, _ready: bool) -> Option<Duration> {
        self.flush();
        (!self.waiting.is_empty()).then_some(RETRY)
    }

    fn counts(&self) -> PortCounts {
        self.counts
    }
}

impl Drop for Datagram {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.local);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_go_both_ways_and_short_ones_are_padded() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        let mut port = Datagram::open(&a, Some(&b)).unwrap();
        port.send(vec![1; 20]);
        assert_eq!(port.counts().dropped, 1, "nobody is there");
        let peer = UnixDatagram::bind(&b).unwrap();
        port.send(vec![1; 20]);
        let mut frame = [0; 100];
        assert_eq!(peer.recv(&mut frame).unwrap(), SHORTEST_FRAME);
        peer.send_to(&[2; 1000], &a).unwrap();
        peer.send_to(&[2; 13], &a).unwrap();
        peer.send_to(&[2; 9217], &a).unwrap();
        peer.send_to(&[2; 42], &a).unwrap();
        assert_eq!(port.receive().unwrap(), Some(vec![2; 1000]));
        let short = port.receive().unwrap().unwrap();
        assert_eq!((short.len(), short[41], short[42]), (SHORTEST_FRAME, 2, 0));
        assert_eq!(port.receive().unwrap(), None);
        assert_eq!(port.counts().refused, 2);
    }

    const SHORTEST_FRAME: usize = super::super::SHORTEST;

    #[test]
    fn a_full_socket_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        let peer = UnixDatagram::bind(&b).unwrap();
        let mut port = Datagram::open(&a, Some(&b)).unwrap();
        for n in 0..1000u32 {
            port.send([&n.to_le_bytes()[..], &[0; 96]].concat());
        }
        let mut frame = [0; 200];
        for n in 0..1000u32 {
            assert_eq!(peer.recv(&mut frame).unwrap(), 100);
            assert_eq!(frame[..4], n.to_le_bytes());
            port.tick(true);
        }
        assert_eq!(port.tick(true), None);
        assert_eq!(port.counts().sent, 1000);
    }

    #[test]
    fn without_a_peer_the_last_sender_is_answered() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        let mut port = Datagram::open(&a, None).unwrap();
        let peer = UnixDatagram::bind(&b).unwrap();
        peer.send_to(&[3; 64], &a).unwrap();
        assert!(port.receive().unwrap().is_some());
        port.send(vec![4; 64]);
        let mut frame = [0; 100];
        assert_eq!(peer.recv(&mut frame).unwrap(), 64);
        // A path in use is not taken over; one that was left behind is.
        assert!(Datagram::open(&b, None).is_err());
        drop(peer);
        assert!(Datagram::open(&b, None).is_ok());
    }
}
