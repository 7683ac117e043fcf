//! The counters, by name.

use weft_layout::{Counter, NUM_COUNTERS};

/// All counters of a card, wrapping: 32 bits each, those of bytes 64.
#[derive(Clone, Debug)]
pub struct Counters([u64; NUM_COUNTERS]);

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
        *value = value.wrapping_add(amount as u64);
    }

    /// The low half, by index; 0 beyond the last.
    pub fn word(&self, index: usize) -> u32 {
        self.0.get(index).copied().unwrap_or(0) as u32
    }

    /// The high half, of counters that have one.
    pub fn high(&self, index: usize) -> u32 {
        let wide = Counter::ALL
            .get(index)
            .is_some_and(|c| c.name().ends_with("_bytes"));
        if wide {
            (self.0[index] >> 32) as u32
        } else {
            0
        }
    }
}
