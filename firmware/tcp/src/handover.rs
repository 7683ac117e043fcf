//! A connection's state, as one stack hands it to another: what RFC 9293 §3.3.1 calls the variables, what the handshake agreed on, and the
//! bytes that are on neither side's account yet. Linux gives and takes the same by TCP_REPAIR.
//!
//! What is not in it is learned anew: round-trip time, congestion window, what lies beyond a gap (a receiver may drop that, RFC 2018 §8).
//!
//! ```text
//!   unacknowledged:  snd_una ─── sent ─── snd_nxt ─── not sent ───      unread:  ─── in order ─── rcv_nxt ··· rcv_edge
//! ```

use alloc::vec::Vec;
use core::fmt;

use crate::seq;

/// Bytes of one direction that are handed over at most.
pub const MOST: usize = 1 << 30;

/// An established connection. Numbers are absolute, windows in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handover {
    /// Oldest byte that the peer has not acknowledged.
    pub snd_una: u32,
    /// Next byte to be sent.
    pub snd_nxt: u32,
    /// How much the peer takes beyond `snd_una`.
    pub snd_wnd: u32,
    /// The most that it has ever taken.
    pub snd_wnd_max: u32,
    /// Sequence number of the segment that said so last (SND.WL1).
    pub snd_wl1: u32,
    /// Next byte expected; behind the peer's FIN, if that has come.
    pub rcv_nxt: u32,
    /// Right edge of the window that the peer was told.
    pub rcv_edge: u32,
    /// Most payload in a segment, timestamps already taken off.
    pub mss: u32,
    /// Shifts of the peer's window field and of ours; `None`: windows are not scaled.
    pub scales: Option<(u8, u8)>,
    /// The peer permits SACK.
    pub sack: bool,
    /// Both sides send timestamps.
    pub timestamps: Option<Timestamps>,
    /// Both sides have agreed to ECN.
    pub ecn: bool,
    /// The peer's FIN has come.
    pub peer_closed: bool,
    /// Bytes from `snd_una` on: first those up to `snd_nxt`, then those that were not sent.
    pub unacknowledged: Vec<u8>,
    /// Bytes up to `rcv_nxt`, acknowledged, that no user has read.
    pub unread: Vec<u8>,
}

/// Clocks of RFC 7323, of milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// Our TSval at the moment of the hand-over.
    pub now: u32,
    /// TS.Recent, if it is known: Linux does not tell. The peer's next segment sets it.
    pub recent: Option<u32>,
}

/// Why a state cannot be one of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Impossible {
    /// More was sent than there are bytes.
    Sent,
    /// The right edge lies before what is expected, or further off than any window.
    Edge,
    /// The window of the peer, or a shift, is larger than any (RFC 7323 §2.3).
    Window,
    /// A segment without payload.
    Mss,
    /// More bytes than [`MOST`].
    TooLong,
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Impossible::Sent => "more was sent than there are bytes",
            Impossible::Edge => "the right edge of the window is not ahead of what was received",
            Impossible::Window => "a window of more than 2^30 bytes",
            Impossible::Mss => "segments without payload",
            Impossible::TooLong => "more than 2^30 bytes",
        })
    }
}

impl core::error::Error for Impossible {}

impl Handover {
    /// Bytes sent and not acknowledged.
    pub fn flight(&self) -> u32 {
        self.snd_nxt.wrapping_sub(self.snd_una)
    }

    /// Can a connection be in this state?
    pub fn check(&self) -> Result<(), Impossible> {
        let window = 1 << 30;
        let shifts = self.scales.is_none_or(|(peer, own)| peer.max(own) <= 14);
        if self.unacknowledged.len() > MOST || self.unread.len() > MOST {
            Err(Impossible::TooLong)
        } else if self.flight() as usize > self.unacknowledged.len() {
            Err(Impossible::Sent)
        } else if !(0..=window).contains(&i64::from(seq::diff(self.rcv_edge, self.rcv_nxt))) {
            Err(Impossible::Edge)
        } else if i64::from(self.snd_wnd.max(self.snd_wnd_max)) > window || !shifts {
            Err(Impossible::Window)
        } else if self.mss == 0 {
            Err(Impossible::Mss)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> Handover {
        Handover {
            snd_una: u32::MAX - 9,
            snd_nxt: 10,
            snd_wnd: 1000,
            snd_wnd_max: 1000,
            rcv_nxt: u32::MAX,
            rcv_edge: 100,
            mss: 1460,
            unacknowledged: alloc::vec![1; 30],
            ..Handover::default()
        }
    }

    #[test]
    fn what_no_connection_can_be_in_is_refused() {
        let verdict = |change: fn(&mut Handover)| {
            let mut state = state();
            change(&mut state);
            state.check()
        };
        assert_eq!(verdict(|_| ()), Ok(()));
        assert_eq!(verdict(|s| s.unacknowledged.truncate(20)), Ok(()));
        let sent = Err(Impossible::Sent);
        assert_eq!(verdict(|s| s.unacknowledged.truncate(19)), sent);
        assert_eq!(verdict(|s| s.snd_nxt = s.snd_una.wrapping_sub(1)), sent);
        assert_eq!(verdict(|s| s.rcv_edge = s.rcv_nxt), Ok(()));
        let edge = Err(Impossible::Edge);
        assert_eq!(verdict(|s| s.rcv_edge = s.rcv_nxt.wrapping_sub(1)), edge);
        let window = Err(Impossible::Window);
        assert_eq!(verdict(|s| s.snd_wnd = u32::MAX), window);
        assert_eq!(verdict(|s| s.scales = Some((14, 14))), Ok(()));
        assert_eq!(verdict(|s| s.scales = Some((15, 0))), window);
        assert_eq!(verdict(|s| s.mss = 0), Err(Impossible::Mss));
    }
}
