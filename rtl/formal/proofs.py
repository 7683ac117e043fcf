"""What prove.py proves: the table, and the faults that have to refute each proof."""

import dataclasses
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "syn"))

import needs  # noqa: E402
from configs import CONFIGS  # noqa: E402

# In the place of the module: a FIFO of two words.
SHORT = ("formal/fifo_short.sv",)


@dataclasses.dataclass
class Proof:
    """`faults`: (file, text that is there once, text of the fault).

    method: "induction" (from reset, and from any `depth` cycles that keep the properties),
    "correspondence" (the same in ABC, with the equal nodes inside that it finds), "pdr" (ABC finds what is missing for
    an induction by itself), "bounded" (the first `depth` cycles from reset, nothing about later ones), or "linear" (linear.py:
    control as it is given there, all data). "paths" is about wires: no combinational loop, and none from a ready to a valid.
    """

    top: str
    faults: list[tuple[str, str, str]]
    parameters: dict = dataclasses.field(default_factory=dict)
    method: str = "induction"
    depth: int = 2
    # Assertions that are left out, as they are proven by themselves, or told in another line of the table.
    without: tuple[str, ...] = ()
    # It takes many minutes: left out of a list with few faults, unless it is asked for by name.
    long: bool = False
    # Files in the place of the modules that have their names.
    instead: tuple[str, ...] = ()

    @property
    def files(self) -> list[str]:
        """Those that the top needs."""
        return needs.needed(self.top, self.instead)


PROOFS = [
    Proof("fifo_sync_formal", [
        ("prim/fifo_sync.sv", "assign rd_data_o = mem[rd_ptr_q];", "assign rd_data_o = mem[wr_ptr_q];"),
        ("prim/fifo_sync.sv", "full_q  <= push && more == COUNT_W'(DEPTH);", "full_q  <= push && count_q == COUNT_W'(DEPTH);"),
    ], {"DEPTH": 4}),
    Proof("fifo_sync_formal", [
        ("prim/fifo_sync.sv", "rd_ptr_q <= (rd_ptr_q == LAST) ? '0 :", "rd_ptr_q <="),
    ], {"DEPTH": 5}),
    Proof("fifo_sync_formal", [
        ("prim/fifo_sync.sv", "&& (!head_valid_q || rd_ready_i)", ""),
        ("prim/fifo_sync.sv", "else if (rd_ready_i) head_valid_q <= 1'b0;", ""),
        ("prim/fifo_sync.sv", "full_q  <= push && more == COUNT_W'(DEPTH);", "full_q  <= push && count_q == COUNT_W'(DEPTH);"),
    ], {"DEPTH": 6, "LUT_RAM_DEPTH": 2}),
    Proof("fifo_sync_formal", [
        ("prim/fifo_sync.sv", "if (!kept_q) kept_word_q <= word;", "kept_word_q <= word;"),
        ("prim/fifo_sync.sv", "kept_q <= head_valid_q && !rd_ready_i;", "kept_q <= !rd_ready_i;"),
        ("prim/fifo_sync.sv", "assign fetch      = any_stored_q && (!head_valid_q || rd_ready_i);", "assign fetch      = any_stored_q;"),
    ], {"DEPTH": 6, "LUT_RAM_DEPTH": 2, "STEADY": 1}),
    Proof("fifo_sync_formal", [
        ("prim/fifo_sync.sv", "assign past      = !more_q && (!any_q || pop);", "assign past      = !any_q || pop;"),
        ("prim/fifo_sync.sv", "more_q <= push ? any_q : less > COUNT_W'(1);", "more_q <= push && any_q;"),
    ], {"DEPTH": 5, "HEAD": 1}),
    Proof("stream_slice_formal", [
        ("stream/stream_slice.sv", "assign in_ready_o  = !spare_q;", "assign in_ready_o  = free;"),
        ("stream/stream_slice.sv", "if (!spare_q) spare_data_q <= in_data_i;", "spare_data_q <= in_data_i;"),
        ("stream/stream_slice.sv", "out_valid_q <= in_valid_i || spare_q;", "out_valid_q <= in_valid_i;"),
    ], {"WIDTH": 64}, "pdr"),
    Proof("read_pace_formal", [
        ("boards/pcie/read_pace.sv", "open_q <= left_q == '0;", "open_q <= left_q <= 9'd1;"),
        ("boards/pcie/read_pace.sv", "left_q <= 9'(s_axi_arlen);", "left_q <= 9'(s_axi_arlen[6:0]);"),
        ("boards/pcie/read_pace.sv", "assign s_axi_arready = m_axi_arready && open_q;", "assign s_axi_arready = m_axi_arready;"),
        ("boards/pcie/read_pace.sv", "left_q <= 9'(s_axi_arlen);", "left_q <= 9'(s_axi_arlen) + 9'd1;"),
    ], {}, "pdr"),
    Proof("stream_queue_formal", [
        ("stream/stream_pair.sv", "first_q <= first_q ^ (out_valid_q && out_ready_i);", "first_q <= first_q ^ out_valid_q;"),
        ("stream/stream_pair.sv", "if (!spare_q && !(out_valid_q && first_q == 1'(i))) data_q", "if (!(out_valid_q && first_q == 1'(i))) data_q"),
        ("stream/stream_pair.sv", "out_valid_q <= in_valid_i || spare_q;", "out_valid_q <= in_valid_i;"),
    ], {"WIDTH": 64}, "pdr"),
    Proof("stream_queue_formal", [
        ("stream/stream_fifo.sv", "if (!full_q) buffer", "buffer"),
        ("stream/stream_fifo.sv", "some_q <= push || rd_q + 1'b1 != wr_q;", "some_q <= push;"),
        ("stream/stream_fifo.sv", "full_q <= push && wr_q + 1'b1 ==", "full_q <= push && wr_q =="),
    ], {"WIDTH": 8, "DEPTH": 4}, "pdr"),
    Proof("stream_skid_formal", [
        ("stream/stream_skid.sv", "assign in_ready_o  = ready_q;", "assign in_ready_o  = ready_q || out_ready_i;"),
        ("stream/stream_skid.sv", "if (!spare_q) spare_data_q <= in_data_i;", "spare_data_q <= in_data_i;"),
        ("stream/stream_skid.sv", "spare_q <= out_valid_o && !out_ready_i;", "spare_q <= in_valid_i && !out_ready_i;"),
    ], {"WIDTH": 64}, "pdr"),
    Proof("rx_replay_formal", [
        ("rx/front/rx_replay.sv", "assign ready_o       = state_q == Drain || (pass", "assign ready_o       = state_q == Drain || ((pass || start_i)"),
        ("rx/front/rx_replay.sv", "if (flush_i) state_d = Drain;", "if (flush_i) state_d = Offer;"),
        ("rx/front/rx_replay.sv", "assign walk_valid_o = pass ? valid_i : pl_valid_i;", "assign walk_valid_o = valid_i || pl_valid_i;"),
        ("rx/front/rx_replay.sv", "count |= COUNT_W'(i + 1);", "count |= COUNT_W'(i);"),
        ("rx/front/rx_replay.sv", "assign pl_ready_o   = walk_ready_i && !pass;", "assign pl_ready_o   = walk_ready_i;"),
    ], {"DATA_W": 128}, "pdr"),
    Proof("rx_walks_formal", [
        ("rx/front/rx_walks.sv", "assign done_free = !done_valid_q || ended;", "assign done_free = !done_valid_q || finish_i;"),
        ("rx/front/rx_walks.sv", "walked_q[tail_q]      <= entry_i.walked;", "walked_q[tail_q]      <= 1'b1;"),
        ("rx/front/rx_walks.sv", "if (chained_q) last_q[place_q] <= 1'b0;", ""),
        ("rx/front/rx_walks.sv", "same_q[i] <= flow_q[i] == flow_next_i;", "same_q[i] <= 1'b1;"),
        ("rx/front/rx_walks.sv", "in_walk && !near && !far_q", "1'b0"),
        ("rx/front/rx_walks.sv", "count_q + COUNT_W'(slot_i)", "count_q + COUNT_W'(start_i)"),
    ], {"WALKS": 4}, "bounded", 12),
    Proof("rq_ahead_formal", [
        ("rx/walk/rq_ahead.sv", "looked_msn_q == msn_i && ", ""),
        ("rx/walk/rq_ahead.sv", "collides_q == '0 && ", ""),
        ("rx/walk/rq_reads.sv", "read_flow_q[i] == gone_flow_i) stale_q[i] <= 1'b1;", "read_flow_q[i] == gone_flow_i) stale_q[i] <= 1'b0;"),
        ("rx/walk/rq_forget.sv", "forget_q <= (SLOT_W + 1)'(ELEMENTS);", "forget_q <= (SLOT_W + 1)'(ELEMENTS - 1);"),
    ], {"ELEMENTS": 2}, "bounded", 24, instead=SHORT),
    Proof("byte_packer_formal", [
        ("stream/byte_packer.sv", "r_last_q && r_sum_q > COUNT_W'(UNITS);", "r_last_q && r_sum_q >= COUNT_W'(UNITS);"),
        ("stream/byte_packer.sv", "fill_q <= in_last_i ? '0 : sum[FILL_W-1:0];", "fill_q <= sum[FILL_W-1:0];"),
        ("stream/byte_packer.sv", "assign r_take = o_free && !flush_q;", "assign r_take = o_free;"),
        ("stream/byte_packer.sv", "flush_q || (r_last_q && !spill);", "flush_q || r_last_q;"),
    ], {"DATA_W": 128}),
    *(Proof("crc32c", [
        ("crc/crc32c_pkg.sv", "32'h82F6_3B78", "32'hEDB8_8320"),
        ("crc/crc32c_core.sv", "COUNT_W'(b) < count ?", "COUNT_W'(b) <= count ?"),
        ("crc/crc32c_core.sv", "if (mark_q[0].valid)", "if (mark_q[1].valid)"),
        ("crc/crc32c_core.sv", "mark_q[1].first ? FIRST_STATE", "mark_q[0].first ? FIRST_STATE"),
        ("crc/crc32c.sv", "assign crc_o = ~state[STAGES];", "assign crc_o = state[STAGES];"),
    ] if width == 128 else [], {"DATA_W": width}, "linear") for width in (128, 512)),
    *(Proof("crc32c_unpad", [
        ("crc/crc32c_unpad.sv", "advance_matrix(-8 *", "advance_matrix(8 *"),
        ("crc/crc32c_unpad.sv", "state_q <= pad_i[$clog2(PAD_BYTES)]", "state_q <= pad_i[0]"),
    ] if size == 4 else [], {"PAD_BYTES": size, "PAD_W": 6}, "linear") for size in (1, 2, 4, 8, 16, 32)),
    *(Proof("walk_crc", [
        ("rx/walk/walk_crc.sv", "RESIDUE[4'(pad>>2)]", "RESIDUE[4'(pad>>3)]"),
        ("rx/walk/walk_crc.sv", "COUNT_W'({beat_i.words, 2'b00})", "COUNT_W'({beat_i.words, 2'b01})"),
        ("rx/walk/walk_crc.sv", "valid_i && beat_i.last};", "valid_i && beat_i.last && beat_i.words != 5'd0};"),
        ("crc/crc32c_pkg.sv", "t[words] = advance(INIT, 32 + 32 * words);", "t[words] = advance(INIT, 32 * words);"),
    ] if width == 128 else [], {"DATA_W": width}, "linear") for width in (128, 512)),
    Proof("card_regs_formal", [
        ("host/card_writes.sv", "WrCollect: if (aw_held_q && w_held_q)", "WrCollect: if (aw_held_q)"),
        ("host/card_writes.sv", "WrTableWait: if (table_done_o || !core_rst_ni) wr_state_d", "WrTableWait: if (table_done_o) wr_state_d"),
        ("host/card_reads.sv", "s_axil.arready  = state_q == Idle;", "s_axil.arready  = state_q inside {Idle, Look};"),
    ], method="pdr"),
    Proof("control_share_formal", [
        ("control/control_share.sv", "wants_q && none_q && !aw_shown_q;", "wants_q && !aw_shown_q;"),
        ("control/control_share.sv", "assign let_aw = !wants_q || aw_shown_q;", "assign let_aw = !wants_q;"),
        ("control/control_share.sv", "some_q || aw_shown_q && none_q;", "some_q;"),
        ("control/control_share.sv", "less ? ahead_q > 1 : some_q;", "less ? ahead_q > 0 : some_q;"),
        ("control/control_share.sv", "more ? !some_q && !none_q :", "more ? 1'b0 :"),
        ("control/control_share.sv", "proc.arvalid && !ar_shown_q;", "proc.arvalid;"),
        ("control/control_share.sv", " && !(proc.wvalid && !(m_axi.wready && proc.wlast));", ";"),
    ], method="pdr"),
    # Copies of up to three blocks, from any word of four on; what a copy is counts, not where.
    Proof("control_dma_formal", [
        ("control/control_dma.sv", "assign m_axi.wlast   = beat_q[BEAT_W-1:0] == to_beat;", "assign m_axi.wlast   = &beat_q[BEAT_W-1:0];"),
        ("control/control_dma.sv", "to_q    <= more >= 30'(to_end) ? '1 :", "to_q    <="),
        ("control/control_dma.sv", "assign there     = {1'b0, host_q[2+LANE_W +: BEAT_W]} < beat_q;", "assign there     = 1'b1;"),
        ("control/control_dma.sv", "if (stop_i || failed_o) state_q <= all_there ? Idle : Drain;", "if (stop_i || failed_o) state_q <= Idle;"),
        ("control/control_dma.sv", "if (state_q == Sent) first_q <= '1;", ""),
        ("control/control_dma.sv", "if (bad) failed_o <= 1'b1;", ""),
        ("control/control_dma.sv", "word == to_q && words_q == 0 ? last_q : '1", "word == to_q ? last_q : '1"),
    ], method="bounded", depth=14),
    Proof("control_join_formal", [
        ("control/control_join.sv", "assign write_proc = wr_open_q ? wr_proc_q :", "assign write_proc ="),
        ("control/control_join.sv", "proc.awvalid && (!host.awvalid || !wr_proc_q);", "proc.awvalid && !host.awvalid;"),
        ("control/control_join.sv", "assign host.bvalid = m_axil.bvalid && wr_open_q && !wr_proc_q;", "assign host.bvalid = m_axil.bvalid && wr_open_q;"),
        ("control/control_join.sv", "if (m_axil.bvalid && m_axil.bready) wr_open_q <= 1'b0;", "if (m_axil.bvalid) wr_open_q <= 1'b0;"),
    ], method="pdr"),
    # Its queues have their own proof. That every beat has its request is not said here.
    Proof("dma_read_formal", [
        ("host/dma_read_client.sv", "ROOM_W'(burst_beats_q) <= room_q;", "'1;"),
        ("host/dma_read_client.sv", "assign to_boundary   = ~addr_q[LANE_W +: BURST_64];", "assign to_boundary   = '1;"),
        ("host/dma_read.sv", "assign m_axi.rready  = 1'b1;", "assign m_axi.rready  = rsp_ready_i[0];"),
    ], {"DATA_W": 128}, without=("*fifo.*", "*u_buffer.*", "*client.u_rules.data_stays", "*u_answer.u_rules.data_stays", "*answer_expected")),
    Proof("dma_read_client_formal", [
        ("host/dma_read_client.sv", "assign joined      = need_new_q && new_tag_q.last && !new_tag_q.flush;", "assign joined      = need_new_q && new_tag_q.last;"),
        ("host/dma_read_client.sv", "DATA_W'({buf_data, buf_data} >> {desc.offset[LANE_W-1:FINE_W], FINE_W'(0), 3'd0});", "buf_data;"),
        ("host/dma_read_client.sv", "assign burst_final   = left_q <= BEATS_W'(to_boundary);", "assign burst_final   = left_q < BEATS_W'(to_boundary);"),
        ("host/dma_read_client.sv", "buf_error || (!bus_first && new_tag_q.error)", "buf_error"),
        ("host/dma_read_client.sv", "&& ROOM_W'(burst_beats_q) <= room_q;", "&& ROOM_W'(burst_beats_q) < room_q;"),
    ], {"DATA_W": 128}, "correspondence", instead=SHORT),
    # W and AW of a write apart: who goes with whom is a sum over two queues, followed from reset only.
    Proof("dma_write_formal", [
        ("host/dma_write.sv", "assign to_page_end = ~burst_addr[11:LANE_W];", "assign to_page_end = '1;"),
        ("host/dma_write.sv", "assign m_axi.bready = 1'b1;", "assign m_axi.bready = !bad_q;"),
        ("host/dma_write.sv", ".in_valid_i (burst_valid && track_ready), .in_ready_o (aw_ready)", ".in_valid_i (burst_valid), .in_ready_o (aw_ready)"),
    ], {"DATA_W": 128, "OUTSTANDING": 4}, "pdr", without=("*fifo.*", "*u_rotated.*", "u_w.last_*", "u_w.w_behind_aw", "*given_told", "*none_told")),
    Proof("dma_write_formal", [
        ("host/dma_write_data.sv", "assign w_last    = out_final || page_beat == '1;", "assign w_last    = out_final;"),
        ("host/dma_write_data.sv", "&& (!burst_start || any_shown);", ";"),
        ("host/dma_write.sv", "extra:     over", "extra: 1'b0"),
    ], {"DATA_W": 128, "OUTSTANDING": 4}, "bounded", 10, without=("dut.*", "u_aw.*", "u_w.u_stands.*", "u_w.outstanding", "*told_once")),
    Proof("dma_write_order_formal", [
        ("host/dma_write_data.sv", "page_beat_q  <= page_beat + 1'b1;", "page_beat_q  <= page_beat;"),
        ("host/dma_write_data.sv", "& (out_final ? below_end : '1);", "& (out_final ? tag_q.below_end : '1);"),
        ("host/dma_write_data.sv", "{in_data, in_data} >> {LANE_W'(0) - cmd_offset_i, 3'd0}", "{in_data, in_data} >> {cmd_offset_i, 3'd0}"),
        ("host/dma_write.sv", "assign burst_addr  = split_q ? {next_page_q, PAGE_BEAT_W'(0)} : burst.addr;", "assign burst_addr  = burst.addr;"),
        ("host/dma_write.sv", "end_lane:  offset + bytes[LANE_W-1:0],", "end_lane:  bytes[LANE_W-1:0],"),
        ("host/dma_write_data.sv", "&& (!burst_start || any_shown);", "&& (!burst_start || any_shown || extra_q);"),
    ], {"DATA_W": 128, "OUTSTANDING": 4}, without=("u_w.last_*",), long=True, instead=SHORT),
    # That it goes on is in the line above, for ever. Here it is alone, so that what would stop it is found soon.
    Proof("dma_write_order_formal", [
        ("host/dma_write_data.sv", "more_given_q || (some_given_q && aw_ready_i);", "more_given_q;"),
        ("host/dma_write.sv", "high_out    = data_pop && data.client != LOW;", "high_out    = data_pop && data.client == 2'd0;"),
        ("host/dma_write.sv", "(room && !low_turn_q ? cmd_valid_i[1] && !passed_q : passed_q);", "(room && !low_turn_q ? !cmd_valid_i[1] || passed_q : passed_q);"),
        ("host/dma_write.sv", "low_turn_q <= !low_turn_q && cmd_valid_i == 3'b100", "low_turn_q <= cmd_valid_i[LOW]"),
    ], {"DATA_W": 128, "OUTSTANDING": 4}, "bounded", 10,
        without=("dut.*", "u_w.*", "inv_*", "gen_*", "aw_*", "w_*", "data_of_its_client", "byte_*"), instead=SHORT),
    Proof("reset_drain_formal", [
        ("host/reset_drain.sv", "Stop:    if (!offered) state_d", "Stop:    state_d"),
        ("host/reset_drain.sv", "Drain:   if (!owed) state_d", "Drain:   state_d"),
        ("host/reset_drain.sv", "m_axi.wstrb  = fill_q ? '0 : core.wstrb;", "m_axi.wstrb  = core.wstrb;"),
        ("host/reset_drain.sv", "m_axi.wlast  = fill_q ? fill_last_q : core.wlast;", "m_axi.wlast  = fill_q || core.wlast;"),
        ("host/reset_drain.sv", "assign pass_ar   = !stop || ar_open_q;", "assign pass_ar   = !stop;"),
        ("host/reset_drain.sv", "assign owed      = len_valid || b_owed_q != '0 || r_owed_q != '0;",
         "assign owed      = len_valid || b_owed_q != '0;"),
    ], {"DATA_W": 8, "BURSTS": 2}),
    Proof("rx_lookup_formal", [
        ("rx/front/rx_lookup.sv", "rsp_valid_o     <= compared_q && !changed_o;", "rsp_valid_o     <= compared_q;"),
        ("rx/front/rx_lookup.sv", "assign match[p] = row_valid_q[p] &&", "assign match[p] ="),
        ("rx/front/rx_lookup.sv", "found = row_flow_q[p];", "found = row_flow_q[0];"),
    ], {"NUM_FLOWS": 4}, "bounded", 10, without=("dut.*",)),
    Proof("report_writer_formal", [
        ("host/report_writer.sv", "(took_q[1] ? two_q : one_q) && !took_q[0]", "one_q && !took_q[0]"),
        ("host/report_writer.sv", "!taken_q[cfg_i.log2[4:0]]", "taken_q[0]"),
        ("host/report_writer.sv", "assign tx_ready_o = load && (prefer_tx_q || !rx_valid_i);", "assign tx_ready_o = load;"),
        ("host/report_writer.sv", "<= taken_q - cfg_i.head;", "<= taken_q - cfg_i.head + 32'd1;"),
        ("host/report_writer.sv", "prefer_tx_q  <= !tx_ready_o;", "prefer_tx_q  <= tx_ready_o;"),
        ("host/report_interrupt.sv", "if (counts && !failed_i && !broken_o) written_o", "if (counts && !broken_o) written_o"),
        ("host/report_interrupt.sv", "past_armed_q[5:0] > arm_more_q", "past_armed_q[5:1] > arm_more_q[5:1]"),
        ("host/report_interrupt.sv", "alarm_q  <= !broken_o;", "alarm_q  <= 1'b0;"),
    ]),
    Proof("stag_check_formal", [
        ("rx/walk/stag_check.sv", "bad_o.bounds = below_q || beyond;", "bad_o.bounds = beyond;"),
        ("rx/walk/stag_check.sv", "bad_d.access || below;", "bad_d.access;"),
        ("rx/walk/stag_check.sv", "other_bad_q || bad_q.wrap || beyond", "other_bad_q || beyond"),
        ("rx/walk/stag_check.sv", "(row_q.access & right_q) == 8'd0", "row_q.access == 8'd0"),
        ("rx/walk/stag_check.sv", "end_low[16] && end_low[15:0] != 16'd0", "end_low[16]"),
        ("rx/walk/stag_check.sv", "mid = low[22] ? mid_1[23:1] : mid_0[23:1];", "mid = mid_0[23:1];"),
    ], depth=3),
    Proof("walk_region_formal", [
        ("rx/walk/walk_region.sv", "(step_q[2] ? pd : pd_q) != pd_i;", "pd_q != pd_i;"),
        ("rx/walk/walk_region.sv", "header_q.rdmap_control[1] ? ACCESS_READ_SINK : ACCESS_REMOTE_WRITE;", "ACCESS_REMOTE_WRITE;"),
        ("rx/walk/walk_region.sv", "assign take = head_valid_i && tables_ready_i && !sge_look_i && (", "assign take = head_valid_i && tables_ready_i && ("),
        ("rx/walk/walk_region.sv", "assign over = answered_q && given_q;", "assign over = given_q;"),
        ("rx/walk/walk_region.sv", "{free_i ? 2'd0 : step_q[1:0], take};", "{step_q[1:0], take};"),
        ("rx/walk/walk_region.sv", ".right_i(sge_q ? ACCESS_LOCAL_WRITE : right),", ".right_i(right),"),
        ("rx/walk/walk_region.sv", "region_bad_o.pd = bad_pd_q;", ""),
    ], depth=4, instead=("formal/stag_check_any.sv",)),
    Proof("tx_markers_formal", [
        ("tx/tx_markers.sv", "{5'd0, in_layout_i.to_marker, 2'b00};", "{6'd0, in_layout_i.to_marker, 1'b0};"),
        ("tx/tx_markers.sv", "8'(to_marker) < words;", "8'(to_marker) <= words;"),
        ("tx/tx_markers.sv", "WORD_W'(w) == r_fill_q ? r_extra_q", "1'b0 ? r_extra_q"),
        ("tx/tx_markers.sv", "to_marker + (7'd127 - 7'(words))", "to_marker + (7'd3 - 7'(words))"),
        ("tx/tx_markers.sv", "assign seen      = !first_q && seen_q;", "assign seen      = seen_q;"),
    ], {"DATA_W": 128}),
    Proof("tx_pack_formal", [
        ("tx/tx_pack.sv", "!frame_i.apart && !full_q", "!full_q"),
        ("tx/tx_pack.sv", "frame_i.length <= 14'(room_q);", "frame_i.length <= 14'(frame_q.pack);"),
        ("tx/tx_pack.sv", "more: joins,", "more: fits_q,"),
        ("tx/tx_pack.sv", "if (state_q == Take || goes) begin", "if (state_q == Take || frame_ready_o) begin"),
        ("tx/tx_pack.sv", "if (has_payload_q) sum_q <= sum_q +", "if (has_payload_q) sum_q <= "),
        ("tx/tx_pack.sv", "assign segment_valid_o = goes && !frame_q.drop;", "assign segment_valid_o = goes;"),
        ("tx/tx_pack.sv", "(goes && has_payload_q);", "goes;"),
        ("tx/tx_pack.sv", "frame_q.says.tcp_flags | frame_i.says.tcp_flags;", "frame_i.says.tcp_flags;"),
    ], {}, depth=3),
    Proof("rx_islands_formal", [
        ("rx/front/rx_islands.sv", "meets_q  <= meets_q || (before_right_q && behind_left_q);", "meets_q <= meets_q || (before_right_q && from_left_q);"),
        ("rx/front/rx_islands.sv", "covers_q <= covers_q || (from_left_q && to_right_q);", "covers_q <= covers_q || from_left_q;"),
        ("rx/front/rx_islands.sv", "end_q          <= last.right;", "end_q <= last.right + 32'd1;"),
        ("rx/front/rx_islands.sv", "list_rd[i].valid && gap_i;", "list_rd[i].valid;"),
        ("rx/front/rx_islands.sv", "less[LAST].valid = last.valid && !drop;", ""),
        ("rx/front/rx_islands.sv", "write_q  <= start_i && valid_o;", "write_q <= valid_o;"),
    ], {"ISLANDS": 2}, "bounded", 19),
    Proof("walk_check_formal", [
        ("rx/walk/walk_check.sv", "&& !crc_good_i);", "&& 1'b0);"),
        ("rx/walk/walk_check.sv", "!silent && !mpa_bad && region_q && region_bad == '0;", "!silent && !mpa_bad && region_q && !region_bad.bounds;"),
        ("rx/walk/walk_check.sv", "!silent && !mpa_bad && region_q && region_bad == '0;", "!mpa_bad && region_q && region_bad == '0;"),
        ("rx/walk/walk_check.sv", "sge_bad && has_payload_q && !too_long;", "sge_bad && has_payload_q && !too_long && first_sge;"),
        ("rx/walk/walk_check.sv", "assign ops = state_q == Ops && !refused_q && !hold;", "assign ops = state_q == Ops && !hold;"),
        ("rx/walk/walk_runs.sv", "assign bytes_o = run_bytes_q[run_q];", "assign bytes_o = first_bytes_i;"),
        ("rx/walk/walk_check.sv", "seg_i.row.flags[FLOW_RX_ROW_CHECK_ONLY_BIT] && next_header.err", "1'b0 && next_header.err"),
        ("rx/walk/walk_check.sv", "assign ops = state_q == Ops && !refused_q && !hold;", "assign ops = state_q == Ops && !refused_q;"),
    ], depth=5, instead=("formal/ram_any.sv",)),
    # Without FEW, for all lengths, it is too long for a list: that was proven once, in 12 minutes.
    Proof("walk_scatter_formal", [
        ("rx/walk/walk_scatter.sv", "assign following = sge_q + 2'd1;", "assign following = sge_q | 2'd1;"),
        ("rx/walk/walk_scatter.sv", "beyond_q <= skip_q >= left_q;", "beyond_q <= 1'b1;"),
        ("rx/walk/walk_scatter.sv", "beyond_q <= skip_q >= left_q;", "beyond_q <= skip_q > left_q;"),
        ("rx/walk/walk_scatter.sv", "beyond_q <= skip_q >= left_q;", "beyond_q <= skip_q[15:0] >= left_q[15:0];"),
        ("rx/walk/walk_scatter.sv", "low[32] ? to_q[63:32] + 32'd1 : to_q[63:32]", "to_q[63:32]"),
        ("rx/walk/walk_scatter.sv", "if (next_i) rest_q <= rest_q - taken_q;", "if (cut_i) rest_q <= rest_q - taken_q;"),
        ("rx/walk/walk_scatter.sv", "ends_q <= taken_q == rest_q;", "ends_q <= taken_q > rest_q;"),
        ("rx/walk/walk_scatter.sv", "third_counts_q       <= &some[1:0];", "third_counts_q       <= some[1];"),
        ("rx/walk/walk_scatter.sv", "second_counts_q ? both_left_q : first_left_q;", "both_left_q;"),
    ], {"FEW": 1}, depth=1, long=True),
    Proof("walk_framer_formal", [
        ("rx/walk/walk_framer.sv", "assign leading = lead_q;", "assign leading = 1'b0;"),
        ("rx/walk/walk_framer.sv", "(17'(ulpdu_len_q) + 17'd9) >> 2", "(17'(ulpdu_len_q) + 17'd10) >> 2"),
        ("rx/walk/walk_framer.sv", "(want == left[4:0] && !odd)", "want == left[4:0]"),
        ("rx/walk/walk_framer.sv", "rest_q        <= rest - 15'(WORDS) + 15'(near_q);", "rest_q <= rest - 15'(WORDS);"),
        ("rx/walk/walk_framer.sv", "marks && !at_end ? 5'd4 : 5'd3", "marks ? 5'd4 : 5'd3"),
        ("rx/walk/walk_framer.sv", "{distance_q + 14'(marker_lane_q), 2'd0};", "{distance_q, 2'd0};"),
        ("rx/walk/walk_framer.sv", "fire && (beat_q.seg_last ? held_last_q : next_lane[LANE_W]);", "fire && next_lane[LANE_W];"),
        ("rx/walk/walk_framer.sv", "start = waits_q ? wait_q :", "start = waits_q && state_q == Idle ? wait_q :"),
        ("rx/walk/walk_framer.sv", "beat_q.seg_last && (held_last_q || (next_valid && next_last));", "beat_q.seg_last;"),
        ("rx/walk/walk_framer.sv", "if (!waits_q) wait_q <= start;", "wait_q <= '{len: seg_len_i, markers: seg_markers_i, phase: seg_phase_i};"),
    ], {"DATA_W": 128}, "correspondence"),
    Proof("walk_strip_formal", [
        ("rx/walk/walk_strip.sv", "4'(i) >= fp_beat_i.lane", "4'(i) > fp_beat_i.lane"),
        ("rx/walk/walk_strip.sv", "fp_beat_i.words - 5'(fp_beat_i.marker)", "fp_beat_i.words"),
        ("rx/walk/walk_strip.sv", "pointer[15:9] != fp_beat_i.distance[15:9]", "pointer[13:9] != fp_beat_i.distance[13:9]"),
    ], {"DATA_W": 128}),
    Proof("walk_carry_formal", [
        ("rx/walk/walk_carry.sv", "!fin_q && fp_beat_i.partial && !too_long;", "!fin_q && fp_beat_i.partial;"),
        ("rx/walk/walk_carry.sv", "if (takes && joins_q) valid_q[place_q] <= 1'b0;", ""),
        ("rx/walk/walk_carry.sv", "if (left_i.valid && flow_q[i] == left_i.flow) valid_q[i] <= 1'b0;", ""),
        ("rx/walk/walk_carry.sv", "joins = same ? kept : found;", "joins = found;"),
        ("rx/walk/walk_carry.sv", "same = same_q && framing_q;", "same = framing_q;"),
        ("rx/walk/walk_carry.sv", "free[i] = !valid_q[i] && !(framing_q && has_place_q && place_q == INDEX_W'(i));", "free[i] = !valid_q[i];"),
        ("rx/walk/walk_carry.sv", "prepared_q && wants_i && fresh_q &&", "prepared_q && wants_i &&"),
        ("rx/walk/walk_carry.sv", "open_q == '0 && (framed_q == '0 ||", "(framed_q == '0 ||"),
        ("rx/walk/walk_carry.sv", "held_odd != '0 ? Odd : Body;", "Body;"),
        ("rx/walk/walk_carry.sv", "pl_data_o >> {pl_count_o[COUNT_W-2:2], 5'd0};", "pl_data_o;"),
        ("rx/walk/walk_carry.sv", "(state_q == Issue ? wants_i :", "(state_q == Issue ? 1'b1 :"),
        ("rx/walk/walk_carry.sv", "none_q && !framing_q && !kept_q);", "none_q && !framing_q);"),
        ("rx/walk/walk_carry.sv", "none_q && !framing_q && !kept_q);", "none_q && !kept_q);"),
        ("rx/walk/walk_carry.sv", "none_q && !framing_q && !kept_q);", "!framing_q && !kept_q);"),
    ], {}, "bounded", 18, without=("dut.*",)),
    Proof("walk_pack_formal", [
        ("rx/walk/walk_pack.sv", "st_data_i[23] ? 3'd4 : 3'd5", "3'd4"),
        ("rx/walk/walk_pack.sv", "spill3_q <= mark2_q.last && over_q;", "spill3_q <= mark2_q.last && full_q;"),
        ("rx/walk/walk_pack.sv", "assign tail_o.beats = beats + 12'(over_q);", "assign tail_o.beats = beats;"),
        ("rx/walk/walk_pack.sv", "out_data_q <= spill_q ? keep_q : merged;", "out_data_q <= merged;"),
        ("rx/walk/walk_pack.sv", "assign kept = mark1_q.first ? '0 : kept_q;", "assign kept = kept_q;"),
        ("rx/walk/walk_pack.sv", "(17'(ulpdu_len) + 17'd5) >> 2", "(17'(ulpdu_len) + 17'd6) >> 2"),
    ], {"DATA_W": 128}),
    Proof("ones_complement_formal", [
        ("formal/ones_complement_formal.sv", "return {a[7:0], a[15:8]};", "return a >> 1;"),
        ("formal/ones_complement_formal.sv", "begins: assert (folded(32'd0)", "begins: assert (folded(32'd65536)"),
        ("formal/ones_complement_formal.sv", "of_the_sum: assert (more[32] || ", "of_the_sum: assert ("),
    ], depth=1),
    Proof("rx_checksum_formal", [
        ("rx/front/rx_checksum.sv", "REL_W'(i) >= start1_q && REL_W'(i) < stop1_q", "REL_W'(i) >= start1_q && REL_W'(i) <= stop1_q"),
        ("rx/front/rx_checksum.sv", "17'(sum6_q[15:0]) + 17'(sum6_q[31:16]);", "17'(sum6_q[15:0]);"),
        ("rx/front/rx_checksum.sv", "(first_q[4] ? 32'd0 : sum5_q)", "(first_q[3] ? 32'd0 : sum5_q)"),
        ("rx/front/rx_checksum.sv", ".CYCLES(5)", ".CYCLES(4)"),
        ("rx/front/rx_checksum.sv", "if (valid_q[2]) group3_q", "if (valid_q[1]) group3_q"),
        ("rx/front/rx_checksum.sv", "if (distance >= 17'(LANES))", "if (distance >= 17'(LANES - 1))"),
    ], {"DATA_W": 128}),
    Proof("rx_output_formal", [
        ("rx/front/rx_output.sv", "bytes: in_raw.raw_len, iova", "bytes: 16'(in_raw.raw_slot), iova"),
        ("rx/front/rx_raw_copy.sv", "addr_valid_o = raw_steps_q[2];", "addr_valid_o = raw_steps_q[1];"),
        ("rx/front/rx_raw_copy.sv", "raw_last_q  <= frame_bytes_i <= 16'(LANES);", "raw_last_q  <= frame_bytes_i < 16'(LANES);"),
        ("rx/front/rx_output.sv", ".rd_ready_i(pop), .rd_data_o(head)", ".rd_ready_i(pop || wr_cmd_ready_i), .rd_data_o(head)"),
        ("rx/front/rx_output.sv", "assign place_ready_o = placing && wr_ready_i;", "assign place_ready_o = placing;"),
        ("rx/front/rx_output.sv", "pop = given_q || (", "pop = ("),
        ("rx/front/rx_output.sv", "Placing: if (last_beat)", "Placing: if (wr_ready_i)"),
    ], {"DATA_W": 128}, without=("*write_expected", "*owed_full", "*fate_fits", "*told_fits", "*copy_behind_reports", "*of_one_segment", "*u_rules.*"), instead=SHORT),
    Proof("rx_report_formal", [
        ("rx/front/rx_report_merge.sv", "old_q.ack != mid_q.ack && mid_q.ack != newer_q.ack", "old_q.ack != mid_q.ack"),
        ("rx/front/rx_report_merge.sv", "mid_q.shape == BARE && ", ""),
        ("rx/front/rx_report_merge.sv", "mid_q.window <= newer_q.window", "1'b1"),
        ("rx/front/rx_report_merge.sv", "merge_o <= there_i && ", "merge_o <= "),
        ("rx/front/rx_report.sv", "if (take && !replace) used", "if (take) used"),
        ("rx/front/rx_report.sv", "|| (replace && head_q != 1'(i))", "|| replace"),
    ], {}, "bounded", 12, without=("*of_one_segment",)),
    Proof("place_fifo_formal", [
        ("rx/walk/place_fifo.sv", "assign fetch = keeping_q && some_q", "assign fetch = some_q"),
        ("rx/walk/place_fifo.sv", "!keeping_q && !enough_q && 12'(stored_q)", "!enough_q && 12'(stored_q)"),
        ("rx/walk/place_fifo.sv", "(ADDR_W + 1)'(verdict_beats_i) : (ADDR_W + 1)'(fetch);", "(ADDR_W + 1)'(1) : (ADDR_W + 1)'(fetch);"),
        ("rx/walk/place_fifo.sv", "verdict_keep_i ? !keeping_q : enough_q;", "verdict_keep_i || enough_q;"),
        ("rx/walk/place_fifo.sv", "stored_q <= (ADDR_W + 1)'(DEPTH - SLACK);", "stored_q <= (ADDR_W + 1)'(DEPTH);"),
        ("rx/walk/place_fifo.sv", "if (verdict_valid_i && verdict_keep_i && !keeping_q) begin", "if (verdict_valid_i && !keeping_q) begin"),
    ], {"DATA_W": 4, "DEPTH": 8, "SLACK": 4}),
    Proof("place_cut_formal", [
        ("rx/walk/place_cut.sv", "(last_q && end_q ? '0 : reach_q);", "reach_q;"),
        ("rx/walk/place_cut.sv", "skip_d == '0 || reach_d > (COUNT_W + 1)'(BYTES);", "skip_d == '0 || reach_d >= (COUNT_W + 1)'(BYTES);"),
        ("rx/walk/place_cut.sv", "assign whole = left > 16'(BYTES);", "assign whole = left >= 16'(BYTES);"),
        ("rx/walk/place_cut.sv", "{rd_data_i, held_q ? held_data_q : rd_data_i}", "{rd_data_i, held_data_q}"),
    ], {"DATA_W": 64}),
    Proof("weft_card", [
        ("stream/stream_slice.sv", "assign free        = !out_valid_q || out_ready_i;",
         "assign free        = !out_valid_q || (out_ready_i && shown_o);"),
    ], CONFIGS["small"].parameters, "paths"),
    *(Proof(top, [
        ("stream/stream_slice.sv", "assign out_valid_o = out_valid_q;", "assign out_valid_o = out_valid_q && out_ready_i;"),
    ] if top == "stream_slice" else [], method="paths") for top in (
        "stream_slice", "fifo_sync", "byte_packer", "tx_markers", "dma_write", "dma_read", "card_regs", "reset_drain", "report_writer")),
]
