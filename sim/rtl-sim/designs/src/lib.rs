//! The small designs, good and broken, that rtl-sim is tested with.
//!
//! Each has an input `fault` that selects one deliberate mistake (0: none), described in its source.

rtl_sim::include_model!("stream_fifo");
rtl_sim::include_model!("stream_fifo_512");
rtl_sim::include_model!("copier");
