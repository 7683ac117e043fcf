//! The counters, by name.

use weft_layout::{Counter, NUM_COUNTERS};

/// All counters of a card: 32 bits each, wrapping.
#[derive(Clone, Debug)]
pub struct Counters([u32; NUM_COUNTERS]);

impl Default for Counters {
    fn default() -> Self {
        Self([0; NUM_COUNTERS])
    }
}

impl Counters {
    /// An event.
    pub fn count(&mut self, counter: Counter) {
        self.add(counter, 1);
    }

    /// Several, or bytes.
    pub fn add(&mut self, counter: Counter, amount: usize) {
        let value = &mut self.0[counter as usize];
        *value = value.wrapping_add(amount as u32);
    }

    /// By index; 0 beyond the last.
    pub fn word(&self, index: usize) -> u32 {
        self.0.get(index).copied().unwrap_or(0)
    }
}
