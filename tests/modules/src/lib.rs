//! Single modules of the card under test: the models, and what their tests have in common.
//!
//! Each module has a file in `tests` with a reference of its own. `rtl` has a bench for every module whose ports
//! are not a bus that `rtl-sim` knows: it renames, and turns byte counts into strobes and back.

rtl_sim::include_model!("fifo_sync");
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
rtl_sim::include_model!("report_writer_128");
rtl_sim::include_model!("report_writer_512");
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
