//! The sending half from a state handed over, and to such a state again.

use super::{Sender, Settings};
use crate::handover::Handover;

impl Sender {
    /// A sender that goes on where another one stopped, on a way that takes segments of `most` bytes. What that one had under way is not on this one's account yet: the caller says
    /// so by [`sent`](Self::sent), and by [`timeout`](Self::timeout) that nothing is known of it.
    pub fn take_over(
        state: &Handover,
        most: u32,
        initial_segments: u32,
        settings: &Settings,
    ) -> Self {
        let mut sender = Sender::new(state.snd_una, settings);
        let numbers = (state.snd_wl1, state.snd_una);
        let window = state.snd_wnd;
        let mss = state.mss.min(most);
        sender.establish(mss, initial_segments, state.sack, window, numbers);
        sender.max_window = sender.max_window.max(state.snd_wnd_max);
        sender
    }

    /// Writes what the other one needs.
    pub fn hand_over(&self, state: &mut Handover) {
        state.snd_una = self.una;
        state.snd_nxt = self.nxt;
        state.snd_wnd = self.window;
        state.snd_wnd_max = self.max_window;
        state.snd_wl1 = self.window_seq;
        state.mss = self.mss;
        state.sack = self.sack;
    }
}
