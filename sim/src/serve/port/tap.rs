//! `tap:NAME`: a TAP interface of Linux, whose wire is the card's.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use weft_tools::tap::{Tap, TapConfig, Written};

use super::{is_frame, pad, Outside, PortCounts};

/// Frames kept while the kernel has no room.
const MOST_WAITING: usize = 4096;
/// How often it is tried again.
const RETRY: Duration = Duration::from_millis(1);

/// The port.
pub struct TapPort {
    tap: Tap,
    waiting: VecDeque<Vec<u8>>,
    counts: PortCounts,
}

impl TapPort {
    /// Opens the interface, and makes it if there is none.
    pub fn open(name: &str) -> io::Result<Self> {
        Ok(Self {
            tap: Tap::open(name, &TapConfig::default()).map_err(io::Error::other)?,
            waiting: VecDeque::new(),
            counts: PortCounts::default(),
        })
    }

    fn write_waiting(&mut self) {
        while let Some(frame) = self.waiting.front() {
            match self.tap.write_frame(frame) {
                Ok(Written::Taken) => self.counts.sent += 1,
                Ok(Written::Full) => return,
                // As if the cable were not plugged in.
                Ok(Written::Down) | Err(_) => self.counts.dropped += 1,
            }
            self.waiting.pop_front();
        }
    }
}

impl Outside for TapPort {
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.tap.as_fd())
    }

    fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        while let Some(mut frame) = self.tap.read_frame().map_err(io::Error::other)? {
            if is_frame(frame.len()) {
                self.counts.received += 1;
                pad(&mut frame);
                return Ok(Some(frame));
            }
            self.counts.refused += 1;
        }
        Ok(None)
    }

    fn send(&mut self, mut frame: Vec<u8>) {
        if self.waiting.len() >= MOST_WAITING {
            self.counts.dropped += 1;
            return;
        }
        pad(&mut frame);
        self.waiting.push_back(frame);
        self.write_waiting();
    }

    fn tick(&mut self, _ready: bool) -> Option<Duration> {
        self.write_waiting();
        (!self.waiting.is_empty()).then_some(RETRY)
    }

    fn counts(&self) -> PortCounts {
        self.counts
    }
}
