//! Single modules of the card under test: the models, and what their tests have in common.
//!
//! Each module has a file in `tests` with a reference of its own. `rtl` has a bench for every module whose ports
//! are not a bus that `rtl-sim` knows: it renames, and turns byte counts into strobes and back.

rtl_sim::include_model!("fifo_sync");
rtl_sim::include_model!("fifo_async");
rtl_sim::include_model!("board_pcie");
rtl_sim::include_model!("write_whole");
rtl_sim::include_model!("bar_port");
rtl_sim::include_model!("trace_ring");
rtl_sim::include_model!("counters");
rtl_sim::include_model!("msix_table");
rtl_sim::include_model!("capture_128");
rtl_sim::include_model!("capture_512");
rtl_sim::include_model!("crc32c_128");
rtl_sim::include_model!("crc32c_512");
rtl_sim::include_model!("byte_packer_128");
rtl_sim::include_model!("byte_packer_512");
rtl_sim::include_model!("dma_read_128");
rtl_sim::include_model!("dma_read_512");
rtl_sim::include_model!("dma_write_128");
rtl_sim::include_model!("dma_write_512");
rtl_sim::include_model!("mac_loopback_128");
rtl_sim::include_model!("mac_loopback_512");
rtl_sim::include_model!("mac_rx_fifo_128");
rtl_sim::include_model!("mac_rx_fifo_512");
rtl_sim::include_model!("mac_tx_fifo_128");
rtl_sim::include_model!("mac_tx_fifo_512");
rtl_sim::include_model!("report_writer_128");
rtl_sim::include_model!("report_writer_512");
rtl_sim::include_model!("rq_element_128");
rtl_sim::include_model!("rq_element_512");
rtl_sim::include_model!("rx_front_128");
rtl_sim::include_model!("rx_front_512");
rtl_sim::include_model!("rx_walk_128");
rtl_sim::include_model!("rx_walk_512");
rtl_sim::include_model!("weft_tx_128");
rtl_sim::include_model!("weft_tx_512");
rtl_sim::include_model!("write_watch_128");
rtl_sim::include_model!("write_watch_512");

/// Writes `value` into element `at` of a packed array of numbers of `width` bytes.
pub fn set_element(array: &mut [u8], at: usize, width: usize, value: u64) {
    array[at * width..][..width].copy_from_slice(&value.to_le_bytes()[..width]);
}

/// Sets or clears bit `at`.
pub fn set_bit(bits: &mut u8, at: usize, on: bool) {
    *bits = *bits & !(1 << at) | u8::from(on) << at;
}

/// Bit `at`.
pub fn bit(bits: u8, at: usize) -> bool {
    bits >> at & 1 == 1
}

/// Puts a design in reset with an edge of it, as its registers are random before. It stays in reset.
pub fn enter_reset<M: rtl_sim::Model>(sim: &mut rtl_sim::Sim<M>) {
    for asserted in [false, true] {
        M::set_reset(&mut sim.inputs, asserted);
        sim.settle();
    }
}

/// Frames of random bytes that begin with their number, so that no two are the same.
pub fn numbered_frames(
    count: usize,
    bytes: std::ops::RangeInclusive<usize>,
    rng: &mut fastrand::Rng,
) -> Vec<Vec<u8>> {
    let one = |number: usize| {
        let mut frame = vec![0; rng.usize(bytes.clone())];
        rng.fill(&mut frame);
        frame[..4].copy_from_slice(&(number as u32).to_le_bytes());
        frame
    };
    (0..count).map(one).collect()
}

/// Which of the simulator's cycles are cycles of one of two clocks: at a rate of its own, with jitter.
#[derive(Clone, Debug)]
pub struct Clock {
    rate: f64,
    jitter: f64,
    phase: f64,
    rng: fastrand::Rng,
}

impl Clock {
    /// `rate`: cycles for each of the simulator's, at most 1.
    pub fn new(rate: f64, jitter: f64, mut rng: fastrand::Rng) -> Clock {
        let phase = rng.f64();
        Clock {
            rate,
            jitter,
            phase,
            rng,
        }
    }

    /// A clock of any rate from a tenth on.
    pub fn any(rng: &mut fastrand::Rng) -> Clock {
        let rate = 0.1 + 0.9 * rng.f64();
        let jitter = if rng.bool() { 0.0 } else { 0.4 * rng.f64() };
        Clock::new(rate, jitter, rng.fork())
    }

    /// Whether it has an edge in the next cycle.
    pub fn go(&mut self) -> bool {
        self.phase += self.rate * (1.0 + self.jitter * (self.rng.f64() - 0.5));
        let edge = self.phase >= 1.0;
        if edge {
            self.phase = (self.phase - 1.0).min(1.0);
        }
        edge
    }
}
