//! Explicit congestion notification: a switch marks what it would else have to drop, the receiver echoes the mark, the sender heeds it
//! (RFC 3168; RFC 8257 for DCTCP).

use crate::interface::config::EngineConfig;

impl EngineConfig {
    /// ECN as agreed on in the handshake.
    pub(crate) fn ecn_state(&self, agreed: bool) -> EcnState {
        EcnState {
            agreed,
            exact: self.congestion.has_exact_ecn(),
            ..EcnState::default()
        }
    }
}

/// What a connection knows of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnState {
    /// Both sides want it.
    pub agreed: bool,
    /// What is acknowledged is told as it came, marked or not (RFC 8257 §3.2). Else a mark is told until the peer has heeded it
    /// (RFC 3168 §6.1.3).
    pub exact: bool,
    /// The data that came last was marked. Then `echo` is true.
    pub marked: bool,
    /// Each segment that is sent tells of a mark.
    pub echo: bool,
}

impl EcnState {
    /// An acknowledgment owed for earlier data has to go first: together they would say of one what is true of the other.
    pub fn differs(&self, marked: bool) -> bool {
        self.agreed && self.exact && marked != self.marked
    }

    /// Data came; `heeded`: its sender has heeded an echo (CWR).
    pub fn data(&mut self, marked: bool, heeded: bool) {
        if self.agreed {
            self.marked = marked;
            self.echo = marked || self.echo && !self.exact && !heeded;
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn echoes(exact: bool, came: &[(bool, bool)]) -> Vec<bool> {
        let mut ecn = EcnState {
            agreed: true,
            exact,
            ..EcnState::default()
        };
        let echo = |(marked, heeded): &(bool, bool)| {
            ecn.data(*marked, *heeded);
            ecn.echo
        };
        came.iter().map(echo).collect()
    }

    /// RFC 3168 §6.1.3: from a mark to a CWR, also if that is marked itself.
    #[test]
    fn a_mark_is_told_until_it_is_heeded() {
        let came = [
            (false, false),
            (true, false),
            (false, false),
            (false, true),
            (false, false),
            (true, false),
            (true, true),
            (false, false),
            (false, true),
        ];
        let told = [false, true, true, false, false, true, true, true, false];
        assert_eq!(echoes(false, &came), told);
    }

    /// RFC 8257 §3.2.
    #[test]
    fn each_mark_is_told_as_it_came() {
        let came = [(true, false), (false, false), (true, true), (false, false)];
        assert_eq!(echoes(true, &came), [true, false, true, false]);
    }

    #[test]
    fn without_an_agreement_no_mark_counts() {
        let mut ecn = EcnState::default();
        ecn.data(true, false);
        assert_eq!(ecn, EcnState::default());
        assert!(!ecn.differs(true));
    }
}
