//! Compiles the designs in `../rtl`.

use rtl_sim::build::{Design, Project};

fn main() {
    let stream_fifo = |name: &str, data_w: u32| {
        Design::new(name)
            .top("stream_fifo")
            .parameter("DATA_W", data_w)
            .files(["../rtl/stream_fifo.sv"])
            .reset_low("rst_ni")
            .suffixes("_i", "_o")
            .stream_in("s_axis", "s_axis_")
            .stream_out("m_axis", "m_axis_")
    };
    let copier = Design::new("copier")
        .files(["../rtl/copier.sv"])
        .reset_low("rst_ni")
        .suffixes("_i", "_o")
        .axi_lite_slave("s_axil", "s_axil_")
        .axi_master("m_axi", "m_axi_")
        .coverage(true);
    Project::new()
        .design(stream_fifo("stream_fifo", 64))
        .design(stream_fifo("stream_fifo_512", 512))
        .design(copier)
        .build();
}
