//! Compiles single modules of the card, each at the two ends of its data width.

use rtl_sim::build::{Design, Project};
use std::path::{Path, PathBuf};

const DMA_READ: &[&str] = &[
    "prim/ram_1r1w.sv",
    "prim/fifo_sync.sv",
    "stream/stream_rules.sv",
    "stream/stream_slice.sv",
    "host/axi4_if.sv",
    "host/axi4_read_pins.sv",
    "host/dma_read_client.sv",
    "host/dma_read.sv",
];
const DMA_WRITE: &[&str] = &[
    "prim/ram_1r1w.sv",
    "prim/fifo_sync.sv",
    "stream/stream_rules.sv",
    "stream/stream_slice.sv",
    "host/axi4_if.sv",
    "host/axi4_write_pins.sv",
    "host/dma_write.sv",
];
const WRITE_WATCH: &[&str] = &[
    "prim/ram_1r1w.sv",
    "prim/fifo_sync.sv",
    "stream/stream_rules.sv",
    "stream/stream_slice.sv",
    "host/axi4_if.sv",
    "host/axi4_write_pins.sv",
    "host/dma_write.sv",
    "host/write_watch.sv",
];
const REPORT_WRITER: &[&str] = &[
    "pkg/weft_card_pkg.sv",
    "pkg/weft_int_pkg.sv",
    "prim/ram_1r1w.sv",
    "prim/fifo_sync.sv",
    "stream/stream_rules.sv",
    "stream/stream_slice.sv",
    "host/axi4_if.sv",
    "host/axi4_write_pins.sv",
    "host/dma_write.sv",
    "host/report_bulk.sv",
    "host/report_interrupt.sv",
    "host/report_writer.sv",
];
const TRACE_RING: &[&str] = &[
    "pkg/weft_card_pkg.sv",
    "pkg/weft_int_pkg.sv",
    "prim/ram_1r1w.sv",
    "prim/fifo_sync.sv",
    "stream/stream_rules.sv",
    "observe/trace_ring.sv",
];
const CAPTURE: &[&str] = &[
    "pkg/weft_card_pkg.sv",
    "pkg/weft_int_pkg.sv",
    "prim/ram_1r1w.sv",
    "prim/fifo_sync.sv",
    "stream/stream_rules.sv",
    "stream/stream_slice.sv",
    "host/axi4_if.sv",
    "host/axi4_write_pins.sv",
    "host/dma_write.sv",
    "observe/capture_buffer.sv",
    "observe/capture_writer.sv",
    "observe/capture.sv",
];
const RX_FRONT: &[&str] = &[
    "pkg/weft_card_pkg.sv",
    "pkg/weft_int_pkg.sv",
    "rx/walk/walk_pkg.sv",
    "rx/front/rx_front_pkg.sv",
    "prim/ram_1r1w.sv",
    "prim/fifo_sync.sv",
    "stream/stream_rules.sv",
    "stream/stream_pair.sv",
    "stream/read_ahead.sv",
    "stream/table_request.sv",
    "rx/front/rx_accept.sv",
    "rx/front/rx_checksum.sv",
    "rx/front/rx_delay.sv",
    "rx/front/rx_stand.sv",
    "rx/front/rx_raw_room.sv",
    "rx/front/rx_close.sv",
    "rx/front/rx_dispatch.sv",
    "rx/front/rx_ended.sv",
    "rx/front/rx_flow_state.sv",
    "rx/front/rx_layers.sv",
    "rx/front/rx_lookup.sv",
    "rx/front/rx_parse.sv",
    "rx/front/rx_payload.sv",
    "rx/front/rx_raw_slots.sv",
    "rx/front/rx_report.sv",
    "rx/front/rx_store.sv",
    "rx/front/rx_tcp_options.sv",
    "rx/front/rx_verdict.sv",
    "rx/front/rx_walks.sv",
];
const RX_WALK: &[&str] = &[
    "pkg/weft_card_pkg.sv",
    "pkg/weft_int_pkg.sv",
    "crc/crc32c_pkg.sv",
    "rx/walk/walk_pkg.sv",
    "prim/ram_1r1w.sv",
    "prim/fifo_sync.sv",
    "stream/stream_rules.sv",
    "stream/stream_pair.sv",
    "stream/table_request.sv",
    "crc/crc32c.sv",
    "crc/crc32c_core.sv",
    "crc/crc32c_unpad.sv",
    "rx/walk/place_cut.sv",
    "rx/walk/place_fifo.sv",
    "rx/walk/place_watch.sv",
    "rx/walk/rq_ahead.sv",
    "rx/walk/rq_answer.sv",
    "rx/walk/rq_element.sv",
    "rx/walk/rq_forget.sv",
    "rx/walk/rq_oldest.sv",
    "rx/walk/rq_request.sv",
    "rx/walk/rq_tail.sv",
    "rx/walk/rx_fence.sv",
    "rx/walk/rx_walk.sv",
    "rx/walk/stag_check.sv",
    "rx/walk/stag_table.sv",
    "rx/walk/walk_check.sv",
    "rx/walk/walk_crc.sv",
    "rx/walk/walk_ddp.sv",
    "rx/walk/walk_fpdus.sv",
    "rx/walk/walk_framer.sv",
    "rx/walk/walk_head.sv",
    "rx/walk/walk_pack.sv",
    "rx/walk/walk_place.sv",
    "rx/walk/walk_progress.sv",
    "rx/walk/walk_region.sv",
    "rx/walk/walk_report.sv",
    "rx/walk/walk_rows.sv",
    "rx/walk/walk_scatter.sv",
    "rx/walk/walk_strip.sv",
];
const RQ_ELEMENT: &[&str] = &[
    "pkg/weft_card_pkg.sv",
    "pkg/weft_int_pkg.sv",
    "prim/ram_1r1w.sv",
    "prim/fifo_sync.sv",
    "stream/stream_rules.sv",
    "rx/walk/rq_ahead.sv",
    "rx/walk/rq_answer.sv",
    "rx/walk/rq_element.sv",
    "rx/walk/rq_forget.sv",
    "rx/walk/rq_oldest.sv",
    "rx/walk/rq_request.sv",
    "rx/walk/rq_tail.sv",
];
const TX: &[&str] = &[
    "pkg/weft_card_pkg.sv",
    "pkg/weft_int_pkg.sv",
    "crc/crc32c_pkg.sv",
    "tx/weft_tx_pkg.sv",
    "prim/ram_1r1w.sv",
    "prim/fifo_sync.sv",
    "stream/stream_rules.sv",
    "crc/crc32c.sv",
    "crc/crc32c_core.sv",
    "crc/crc32c_unpad.sv",
    "stream/byte_packer.sv",
    "stream/read_ahead.sv",
    "stream/stream_slice.sv",
    "stream/table_request.sv",
    "host/axi4_if.sv",
    "host/axi4_read_pins.sv",
    "host/dma_read_client.sv",
    "host/dma_read.sv",
    "tx/tx_digest.sv",
    "tx/tx_emit.sv",
    "tx/tx_flow_table.sv",
    "tx/tx_framer.sv",
    "tx/tx_gather.sv",
    "tx/tx_job_check.sv",
    "tx/tx_job_fetch.sv",
    "tx/tx_job_push.sv",
    "tx/tx_jobs.sv",
    "tx/tx_markers.sv",
    "tx/tx_reports.sv",
    "tx/tx_segmenter.sv",
    "tx/tx_store.sv",
    "tx/tx_tcp.sv",
    "tx/weft_tx.sv",
];
const CROSSING: &[&str] = &[
    "stream/stream_rules.sv",
    "boards/cdc/reset_sync.sv",
    "boards/cdc/bit_sync.sv",
    "boards/cdc/word_sync.sv",
    "boards/cdc/gray_sync.sv",
    "boards/cdc/fifo_async.sv",
];
const MAC_RX_FIFO: &[&str] = &[
    "stream/stream_rules.sv",
    "stream/stream_slice.sv",
    "boards/cdc/reset_sync.sv",
    "boards/cdc/bit_sync.sv",
    "boards/cdc/word_sync.sv",
    "boards/cdc/gray_sync.sv",
    "boards/cdc/fifo_async.sv",
    "boards/cdc/ram_2clk.sv",
    "boards/mac/frame_fifo.sv",
    "boards/mac/mac_rx_fifo.sv",
];
const MAC_TX_FIFO: &[&str] = &[
    "stream/stream_rules.sv",
    "stream/stream_slice.sv",
    "boards/cdc/reset_sync.sv",
    "boards/cdc/bit_sync.sv",
    "boards/cdc/gray_sync.sv",
    "boards/cdc/fifo_async.sv",
    "boards/cdc/ram_2clk.sv",
    "boards/mac/frame_fifo.sv",
    "boards/mac/mac_tx_fifo.sv",
];
const BOARD_PCIE: &[&str] = &[
    "stream/stream_rules.sv",
    "boards/pcie/irq_request.sv",
    "boards/pcie/flr_request.sv",
    "boards/board_regs.sv",
];
const WRITE_WHOLE: &[&str] = &[
    "prim/ram_1r1w.sv",
    "prim/fifo_sync.sv",
    "stream/stream_rules.sv",
    "stream/stream_slice.sv",
    "boards/pcie/write_whole.sv",
];
const COUNTERS: &[&str] = &["pkg/weft_card_pkg.sv", "host/counters.sv"];
const CRC32C: &[&str] = &[
    "crc/crc32c_pkg.sv",
    "crc/crc32c_core.sv",
    "crc/crc32c_unpad.sv",
    "crc/crc32c.sv",
];

/// The module or, where its ports are not what the bus models speak, its bench in `rtl`.
fn design(name: &str, top: &str, sources: &[&str]) -> Design {
    let rtl = Path::new("../../rtl");
    let bench = Some(PathBuf::from(format!("rtl/{top}.sv"))).filter(|file| file.exists());
    Design::new(name)
        .top(top)
        .argument("../../rtl/syn/lint.vlt")
        .include_dir(rtl.join("prim"))
        .files(sources.iter().map(|file| rtl.join(file)))
        .files(bench)
        .optimise(false) // they run for seconds
        .trace(false) // a good part of what there would be to compile; RTL_SIM_TRACE=1 brings them
        .reset_low("rst_ni")
        .suffixes("_i", "_o")
}

fn main() {
    let mut project = Project::new()
        .design(design(
            "fifo_sync",
            "fifo_sync_bench",
            &[
                "prim/ram_1r1w.sv",
                "stream/stream_rules.sv",
                "prim/fifo_sync.sv",
            ],
        ))
        .design(design("counters", "counters_bench", COUNTERS))
        .design(design("fifo_async", "fifo_async_bench", CROSSING))
        .design(design("board_pcie", "board_pcie_bench", BOARD_PCIE))
        .design(design("write_whole", "write_whole", WRITE_WHOLE).parameter("DATA_W", 128))
        .design(
            design(
                "bar_port",
                "bar_port",
                &[
                    "stream/stream_rules.sv",
                    "stream/stream_slice.sv",
                    "boards/pcie/bar_port.sv",
                ],
            )
            .parameter("DATA_W", 128),
        )
        .design(
            design(
                "msix_table",
                "msix_table",
                &["stream/stream_rules.sv", "host/msix_table.sv"],
            )
            .parameter("VECTORS", 5)
            .axi_lite_slave("s_axil", "s_axil_"),
        )
        .design(design("trace_ring", "trace_ring_bench", TRACE_RING));
    for width in [128, 512] {
        let sized = |name: &str, top: &str, sources: &[&str]| {
            design(&format!("{name}_{width}"), top, sources).parameter("DATA_W", width)
        };
        project = project
            .design(sized("crc32c", "crc32c", CRC32C))
            .design(
                sized(
                    "byte_packer",
                    "byte_packer_bench",
                    &["stream/stream_rules.sv", "stream/byte_packer.sv"],
                )
                .stream_out("m_axis", "m_axis_")
                .stream_in("s_axis", "s_axis_"),
            )
            .design(
                sized(
                    "mac_loopback",
                    "mac_loopback",
                    &["stream/stream_rules.sv", "observe/mac_loopback.sv"],
                )
                .stream_in("tx", "tx_")
                .stream_out("rx", "rx_")
                .stream_out("mac_tx", "mac_tx_")
                .stream_in("mac_rx", "mac_rx_"),
            )
            .design(
                sized("mac_rx_fifo", "mac_rx_fifo_bench", MAC_RX_FIFO)
                    .stream_in("mac", "mac_")
                    .stream_out("rx", "rx_"),
            )
            .design(
                sized("mac_tx_fifo", "mac_tx_fifo_bench", MAC_TX_FIFO)
                    .stream_in("tx", "tx_")
                    .stream_out("mac", "mac_"),
            )
            .design(
                sized("capture", "capture_bench", CAPTURE)
                    .stream_in("rx", "rx_")
                    .stream_in("tx", "tx_")
                    .axi_master("m_axi", "m_axi_"),
            )
            .design(
                sized("dma_read", "dma_read_bench", DMA_READ)
                    .stream_out("gather", "gather_")
                    .stream_out("job", "job_")
                    .stream_out("element", "element_")
                    .axi_master("m_axi", "m_axi_"),
            )
            .design(
                sized("dma_write", "dma_write_bench", DMA_WRITE)
                    .stream_in("place", "place_")
                    .stream_in("report", "report_")
                    .stream_in("low", "low_")
                    .axi_master("m_axi", "m_axi_"),
            )
            .design(
                sized("write_watch", "write_watch_bench", WRITE_WATCH)
                    .stream_in("place", "place_")
                    .stream_in("report", "report_")
                    .axi_master("m_axi", "m_axi_"),
            )
            .design(sized("rx_front", "rx_front_bench", RX_FRONT).stream_in("mac_rx", "mac_rx_"))
            .design(sized("rx_walk", "rx_walk_bench", RX_WALK))
            .design(sized("rq_element", "rq_element", RQ_ELEMENT))
            .design(
                sized("weft_tx", "weft_tx_bench", TX)
                    .stream_out("mac_tx", "mac_tx_")
                    .stream_out("replay", "replay_")
                    .axi_master("m_axi", "m_axi_"),
            )
            .design(
                sized("report_writer", "report_writer_bench", REPORT_WRITER)
                    .axi_master("m_axi", "m_axi_"),
            );
    }
    project.build();
}
