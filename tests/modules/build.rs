//! Compiles single modules of the card, each at the two ends of its data width.

use rtl_sim::build::{needed, Design, Project};
use std::path::Path;

/// The module or, where its ports are not what the bus models speak, its bench in `rtl`.
fn design(name: &str, top: &str) -> Design {
    let rtl = Path::new("../../rtl");
    Design::new(name)
        .top(top)
        .argument("../../rtl/syn/lint.vlt")
        .include_dir(rtl.join("prim"))
        .files(needed(top, &[rtl.to_owned(), "rtl".into()]))
        .optimise(false) // they run for seconds
        .trace(false) // a good part of what there would be to compile; RTL_SIM_TRACE=1 brings them
        .reset_low("rst_ni")
        .suffixes("_i", "_o")
}

fn main() {
    let mut project = Project::new()
        .design(design("fifo_sync", "fifo_sync_bench"))
        .design(design("counters", "counters_bench"))
        .design(design("fifo_async", "fifo_async_bench"))
        .design(design("board_pcie", "board_pcie_bench"))
        .design(design("write_whole", "write_whole").parameter("DATA_W", 128))
        .design(design("bar_port", "bar_port").parameter("DATA_W", 128))
        .design(
            design("msix_table", "msix_table")
                .parameter("VECTORS", 5)
                .axi_lite_slave("s_axil", "s_axil_"),
        )
        .design(design("trace_ring", "trace_ring_bench"));
    for width in [128, 512] {
        let sized = |name: &str, top: &str| {
            design(&format!("{name}_{width}"), top).parameter("DATA_W", width)
        };
        project = project
            .design(sized("crc32c", "crc32c"))
            .design(
                sized("byte_packer", "byte_packer_bench")
                    .stream_out("m_axis", "m_axis_")
                    .stream_in("s_axis", "s_axis_"),
            )
            .design(
                sized("mac_loopback", "mac_loopback")
                    .stream_in("tx", "tx_")
                    .stream_out("rx", "rx_")
                    .stream_out("mac_tx", "mac_tx_")
                    .stream_in("mac_rx", "mac_rx_"),
            )
            .design(
                sized("mac_rx_fifo", "mac_rx_fifo_bench")
                    .stream_in("mac", "mac_")
                    .stream_out("rx", "rx_"),
            )
            .design(
                sized("mac_tx_fifo", "mac_tx_fifo_bench")
                    .stream_in("tx", "tx_")
                    .stream_out("mac", "mac_"),
            )
            .design(
                sized("capture", "capture_bench")
                    .stream_in("rx", "rx_")
                    .stream_in("tx", "tx_")
                    .axi_master("m_axi", "m_axi_"),
            )
            .design(
                sized("dma_read", "dma_read_bench")
                    .stream_out("gather", "gather_")
                    .stream_out("job", "job_")
                    .stream_out("element", "element_")
                    .axi_master("m_axi", "m_axi_"),
            )
            .design(
                sized("dma_write", "dma_write_bench")
                    .stream_in("place", "place_")
                    .stream_in("report", "report_")
                    .stream_in("low", "low_")
                    .axi_master("m_axi", "m_axi_"),
            )
            .design(
                sized("write_watch", "write_watch_bench")
                    .stream_in("place", "place_")
                    .stream_in("report", "report_")
                    .axi_master("m_axi", "m_axi_"),
            )
            .design(sized("rx_front", "rx_front_bench").stream_in("mac_rx", "mac_rx_"))
            .design(sized("rx_walk", "rx_walk_bench"))
            .design(sized("rq_element", "rq_element"))
            .design(
                sized("weft_tx", "weft_tx_bench")
                    .stream_out("mac_tx", "mac_tx_")
                    .stream_out("replay", "replay_")
                    .axi_master("m_axi", "m_axi_"),
            )
            .design(sized("report_writer", "report_writer_bench").axi_master("m_axi", "m_axi_"));
    }
    project.build();
}
