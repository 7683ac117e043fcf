// FLOW_RX rows and receive positions of all flows, and the attach protocol (docs/card.md "Receiving: verdicts", "Attach").
//
// Handshake: `fetch_valid_i` is a read; row and position are valid in the next cycle only. `upd_valid_i` writes a position. A table request is taken
//            in Idle and answered ANSWER cycles later; it waits for nothing. `hold_o` covers the access: dispatch then fetches, decides and ends
//            nothing. After `changed_o` dispatch fetches again. After reset the rows are cleared for NUM_FLOWS cycles, in which nothing is accepted
//            (`busy_o`).
// Pipeline:  state  | registers                   | what happens
//            Idle   | req_q                       | a request is taken; fetches and updates run, each one cycle
//            Read   | RAM output                  | the row and position of the request are read; an index out of range goes to Refuse
//            Latch  | row_q, position_q, walked_q | they arrive, with which segments in the walk are of the flow
//            Judge  | attach_ok_q, keep_*         | mark and walk decide on an ATTACH; a kept ATTACH replaces the position that is read
//            Apply  | RAM, kept_q                 | row or position is written, or the ATTACH kept for the flow's walks; the answer is registered
//            Refuse |                             | the answer is registered
// Why:       A table access waits for nothing: a host that waits for it cannot make room for the reports on which a packet may wait.
//            A flow may have segments in the walk (`busy_i`). An ATTACH with attached = 0 is then kept for all of them and written when they end
//            (`finish_i`). An ATTACH with attached = 1 is refused: the card has not left the flow yet. Behind a kept ATTACH no segment of the flow is
//            started.
//            A flow's *mark* is the number behind the last raw slot taken by a segment of it that was not walked whole. Slots are counted since the
//            ring was set up; the mark has 16 bits of that. Only a taken slot moves it.
//            An ATTACH with attached = 1 says that the host has handled the reports of slots 0 to raw_seen - 1. The slots not handled are those from
//            raw_seen to the ring's tail T. It is refused if the mark is behind one of these: mark in raw_seen + 1 .. T, modulo 2^16.
//            Never applied unseen: the host returns slots only after it has handled their reports, so T - raw_seen <= 4096. The numbers raw_seen + 1
//            .. T are distinct modulo 2^16, and the mark of an unseen slot is among them, however late the host.
//            Never refused for good: the mark of a seen slot is among them only if it is at least 2^16 - 4096 slots old. That lasts at most 4096
//            slots; it does not occur if the host has handled all. The flow's next raw segment ends it in any case.
//            RAW_LOG2 written: numbers start again, and earlier frames are nobody's. An old mark is refused or not, as a very old one is.
//            Two ports: numbers, raw_seen and T are of the port that the FLOW_RX row names.
//            An ATTACH with attached = 0 leaves the mark. One with freshen changes TS.Recent alone.

`include "weft_assert.svh"

module rx_flow_state
  import rx_front_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
  import walk_pkg::flow_pulse_t;
  import walk_pkg::rq_place_t;
#(
  parameter int unsigned NUM_FLOWS = 256,
  parameter int unsigned PORTS     = 1,
  parameter int unsigned WALKS     = 8     // segments in the walk
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic                fetch_valid_i,
  input  logic         [15:0] fetch_flow_i,
  output flow_rx_row_t        row_o,
  output rx_position_t        position_o,

  // verilator lint_off UNUSEDSIGNAL
  input raw_count_t [PORTS-1:0] raw_i,
  // verilator lint_on UNUSEDSIGNAL

  input logic                upd_valid_i,
  input logic         [15:0] upd_flow_i,
  input rx_position_t        upd_position_i,

  input  walk_place_t  [        WALKS-1:0] busy_i,
  input  logic         [$clog2(WALKS)-1:0] busy_head_i,    // the oldest
  input  logic         [        WALKS-1:0] finish_i,
  output logic         [        WALKS-1:0] kept_valid_o,   // an ATTACH is kept, to be written at its end
  output rx_position_t                     kept_o,         // for the oldest
  output logic                             hold_o,
  output logic                             changed_o,
  output flow_pulse_t                      row_written_o,
  output rq_place_t                        rq_place_o,     // the flow becomes the card's
  output flow_pulse_t                      left_o,         // it is not the card's any more, or anew

  input  logic       tbl_req_valid_i,  // FLOW_RX and ATTACH only
  output logic       tbl_req_ready_o,
  input  table_req_t tbl_req_i,
  output logic       tbl_rsp_valid_o,
  output table_rsp_t tbl_rsp_o,

  output logic attach_o,   // counters
  output logic refused_o,
  output logic busy_o,
  output logic idle_o
);

  localparam int unsigned FLOW_W = $clog2(NUM_FLOWS);
  localparam int unsigned WALK_W = $clog2(WALKS);

  localparam int unsigned ANSWER = 5;  // cycles from a request taken to its answer

  typedef struct packed {
    logic [63:0] rq_base;
    logic [31:0] marker_base;
    logic [31:0] pd;
    logic [7:0]  epoch;
    logic [7:0]  rq_log2;
    logic [7:0]  flags;
  } row_t;

  typedef enum logic [2:0] {
    Idle,
    Read,
    Latch,
    Judge,
    Apply,
    Refuse
  } state_e;

  state_e state_q, state_d;
  table_req_t req_q;
  row_t row_rd, row_wr, row_q;
  rx_position_t position_rd, position_wr, position_req, position_q;
  // A kept ATTACH is stored at the flow's youngest segment, as none is started behind it: LUT RAM, one read port.
  rx_position_t kept_q[WALKS];
  logic [WALK_W-1:0] place, place_q;
  logic [WALKS-1:0][WALK_W-1:0] kept_place_q;  // where the kept ATTACH of each segment is stored
  logic [     15:0]             left_flow_q;
  logic attached_q, placed_q, left_q;  // placed_q: an ATTACH has replaced the position
  logic [WALKS-1:0] kept_valid_q, walked, walked_q, keep_q;  // walked_q: the flow's segments in the walk, unchanged during hold_o
  logic [FLOW_W:0] clear_q;
  logic [FLOW_W-1:0] row_waddr, position_waddr, raddr, req_flow;
  logic
      row_we,
      position_we,
      is_attach,
      flow_in_walk,
      apply,
      applied,
      keep_all_q,
      keep_any_q,
      in_range,
      attach_ok,
      attach_ok_q,
      freshens,
      unseen,
      wraps_q;
  logic [15:0] seen, tail, tail_q;
  flow_rx_row_t row_req;
  attach_row_t  attach_req;

  assign busy_o = !clear_q[FLOW_W];
  assign row_req = flow_rx_row_t'(req_q.row);
  assign attach_req = attach_row_t'(req_q.row);
  assign is_attach = req_q.number == TBL_ATTACH;
  assign req_flow = req_q.index[FLOW_W-1:0];
  assign in_range = req_q.index >> FLOW_W == '0;
  assign position_req = '{
          attached: attach_req.attached[ATTACH_ROW_ATTACHED_BIT],
          gap: 1'b0,
          ts_valid: attach_req.attached[ATTACH_ROW_TS_RECENT_VALID_BIT],
          taken: '0,
          mark: '0,
          rcv_nxt: attach_req.rcv_nxt,
          msn: attach_req.msn,
          mo: attach_req.mo,
          ts_recent: attach_req.ts_recent,
          window: attach_req.window
      };

  always_comb begin
    place = '0;
    for (int unsigned i = 0; i < WALKS; i++) begin
      walked[i] = busy_i[i].valid && busy_i[i].flow == 16'(req_flow);
      if (walked[i] && busy_i[i].last) place |= WALK_W'(i);
    end
    flow_in_walk = walked_q != '0;
  end

  // ---------------------------------------------------------------- table accesses
  assign tbl_req_ready_o = state_q == Idle && !busy_o;
  assign apply           = state_q == Apply;
  assign freshens        = attach_req.attached[ATTACH_ROW_FRESHEN_BIT];
  assign attach_ok       = freshens ? position_q.attached && !flow_in_walk : !position_req.attached || (!flow_in_walk && !unseen);

  // Whether the mark is in seen + 1 .. tail, modulo 2^16: two comparisons side by side.
  assign seen            = attach_req.raw_seen[15:0];
  assign tail            = raw_i[PORTS!=1&&row_rd.flags[FLOW_RX_ROW_PORT_BIT]].tail;
  assign unseen          = wraps_q ? position_q.mark > seen || position_q.mark <= tail_q : position_q.mark > seen && position_q.mark <= tail_q;
  assign applied         = keep_all_q;
  // The request and the row stand until the next access.
  assign rq_place_o      = '{valid: attached_q, flow : row_written_o.flow, msn: attach_req.msn, rq_base: row_q.rq_base, rq_log2: row_q.rq_log2};
  // No position comes from dispatch in the cycles around Apply.
  assign left_o          = '{valid: left_q || placed_q, flow : placed_q ? row_written_o.flow : left_flow_q};
  assign kept_valid_o    = kept_valid_q;
  // No walk ends in Judge.
  assign kept_o          = kept_q[state_q==Judge?place_q : kept_place_q[busy_head_i]];

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle:    if (tbl_req_valid_i && tbl_req_ready_o) state_d = Read;
      Read:    state_d = in_range ? Latch : Refuse;
      Latch:   state_d = Judge;
      Judge:   state_d = Apply;
      Apply:   state_d = Idle;
      Refuse:  state_d = Idle;
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q             <= Idle;
      hold_o              <= 1'b0;
      clear_q             <= '0;
      kept_valid_q        <= '0;
      keep_all_q          <= 1'b0;
      keep_any_q          <= 1'b0;
      keep_q              <= '0;
      tbl_rsp_valid_o     <= 1'b0;
      changed_o           <= 1'b0;
      row_written_o.valid <= 1'b0;
      row_written_o.flow  <= '0;
      attach_o            <= 1'b0;
      attached_q          <= 1'b0;
      placed_q            <= 1'b0;
      left_q              <= 1'b0;
      refused_o           <= 1'b0;
    end else begin
      state_q <= state_d;
      // One cycle more: dispatch sees a kept ATTACH a cycle late.
      hold_o  <= state_d inside {Read, Latch, Judge, Apply} || apply;
      if (busy_o) clear_q <= clear_q + 1'b1;
      kept_valid_q        <= (kept_valid_q & ~finish_i) | keep_q;
      // Whether an ATTACH is kept, and for which segments.
      keep_all_q          <= state_q == Judge && req_q.write && is_attach && attach_ok;
      keep_q              <= state_q == Judge && req_q.write && is_attach && attach_ok ? walked_q : '0;
      keep_any_q          <= state_q == Judge && req_q.write && is_attach && attach_ok && flow_in_walk;
      tbl_rsp_valid_o     <= apply || state_q == Refuse;
      changed_o           <= apply && req_q.write;
      row_written_o.valid <= apply && req_q.write && !is_attach;
      row_written_o.flow  <= 16'(req_flow);
      attach_o            <= applied;
      attached_q          <= applied && position_req.attached && !freshens;
      placed_q            <= applied && !flow_in_walk && !freshens;
      left_q              <= upd_valid_i && !upd_position_i.attached;
      refused_o           <= apply && req_q.write && is_attach && !attach_ok_q;
    end
  end

  always_ff @(posedge clk_i) begin
    left_flow_q <= upd_flow_i;
    if (tbl_req_valid_i && tbl_req_ready_o) req_q <= tbl_req_i;
    if (keep_any_q) kept_q[place_q] <= position_req;
    for (int unsigned i = 0; i < WALKS; i++) begin
      if (keep_q[i]) kept_place_q[i] <= place_q;
    end
    if (state_q == Latch) begin
      walked_q   <= walked;
      place_q    <= place;
      row_q      <= row_rd;
      position_q <= position_rd;
      tail_q     <= tail;
      wraps_q    <= tail < seen;
    end
    // A kept ATTACH is newer than the position in the table.
    if (state_q == Judge && (walked_q & kept_valid_q) != '0) begin
      position_q       <= kept_o;
      position_q.taken <= position_q.taken;
      position_q.mark  <= position_q.mark;
    end
    attach_ok_q       <= attach_ok;
    tbl_rsp_o         <= '0;
    tbl_rsp_o.refused <= state_q == Refuse || (req_q.write && is_attach && !attach_ok_q);
    if (is_attach) begin
      tbl_rsp_o.row <= 512'({
        16'd0,
        position_q.mark,
        position_q.window,
        position_q.ts_recent,
        position_q.mo,
        position_q.msn,
        position_q.rcv_nxt,
        30'd0,
        position_q.ts_valid,
        position_q.attached
      });
    end else begin
      tbl_rsp_o.row <= 512'({row_q.rq_base, 32'd0, row_q.marker_base, row_q.pd, 8'd0, row_q.epoch, row_q.rq_log2, row_q.flags});
    end
  end

  // ---------------------------------------------------------------- memories
  // A read is used in the next cycle only, so every cycle may read.
  assign raddr = state_q == Read ? req_flow : fetch_flow_i[FLOW_W-1:0];

  assign row_we = busy_o || (apply && req_q.write && !is_attach);
  assign row_waddr = busy_o ? clear_q[FLOW_W-1:0] : req_flow;
  assign row_wr = busy_o ? '0 : '{
          rq_base: row_req.rq_base,
          marker_base: row_req.marker_base,
          pd: row_req.pd,
          epoch: row_req.epoch,
          rq_log2: row_req.rq_log2,
          flags: row_req.flags
      };

  always_comb begin
    position_we    = busy_o || upd_valid_i || (applied && !flow_in_walk);
    // No position comes from dispatch with `hold_o`, so `upd_valid_i`, which is late, selects nothing.
    position_waddr = upd_flow_i[FLOW_W-1:0];
    position_wr    = upd_position_i;
    if (busy_o) begin
      position_waddr = clear_q[FLOW_W-1:0];
      position_wr    = '0;
    end else if (apply) begin
      position_waddr        = req_flow;
      position_wr           = freshens ? position_q : position_req;
      position_wr.taken     = position_q.taken;
      position_wr.mark      = position_q.mark;
      position_wr.ts_valid  = position_req.ts_valid;
      position_wr.ts_recent = position_req.ts_recent;
    end
  end

  ram_1r1w #(
    .WIDTH ($bits(row_t)),
    .DEPTH (NUM_FLOWS),
    .UNSEEN(1'b1)
  ) u_rows (
    .clk_i,
    .we_i   (row_we),
    .waddr_i(row_waddr),
    .wdata_i(row_wr),
    .re_i   (1'b1),
    .raddr_i(raddr),
    .rdata_o(row_rd)
  );
  ram_1r1w #(
    .WIDTH ($bits(rx_position_t)),
    .DEPTH (NUM_FLOWS),
    .UNSEEN(1'b1)
  ) u_positions (
    .clk_i,
    .we_i   (position_we),
    .waddr_i(position_waddr),
    .wdata_i(position_wr),
    .re_i   (1'b1),
    .raddr_i(raddr),
    .rdata_o(position_rd)
  );

  always_comb begin
    row_o             = '0;
    row_o.rq_base     = row_rd.rq_base;
    row_o.marker_base = row_rd.marker_base;
    row_o.pd          = row_rd.pd;
    row_o.rq_log2     = row_rd.rq_log2;
    row_o.epoch       = row_rd.epoch;
    row_o.flags       = row_rd.flags;
    position_o        = position_rd;
  end

  assign idle_o = !busy_o && state_q == Idle && kept_valid_q == '0 && !tbl_rsp_valid_o;

  logic unused;
  assign unused = ^{row_req, attach_req, req_q.index, fetch_flow_i, upd_flow_i};

`ifndef SYNTHESIS
  logic [WALKS-1:0] youngest;
  always_comb for (int unsigned i = 0; i < WALKS; i++) youngest[i] = walked_q[i] && busy_i[i].last;
  if ((1 << FLOW_W) != NUM_FLOWS || FLOW_W > 16 || NUM_FLOWS < 2) begin : gen_param_check
    $error("rx_flow_state: NUM_FLOWS must be a power of two, 2 to 65536");
  end
  `WEFT_ASSERT(one_leaves, !(left_q && placed_q))
  `WEFT_ASSERT(only_own_tables, tbl_req_valid_i -> tbl_req_i.number == TBL_FLOW_RX || tbl_req_i.number == TBL_ATTACH)
  `WEFT_ASSERT(kept_as_judged, keep_all_q == (apply && req_q.write && is_attach && attach_ok_q) && keep_q == (keep_all_q ? walked_q : '0))
  `WEFT_ASSERT(walked_stay, apply -> walked_q == walked)
  `WEFT_ASSERT(kept_any, keep_any_q == (keep_q != '0))
  `WEFT_ASSERT(one_youngest, apply && flow_in_walk -> $onehot(youngest) && walked_q[place_q])
  `WEFT_ASSERT(kept_beside_all, apply -> (walked_q & kept_valid_q) == '0 || (walked_q & ~kept_valid_q) == '0)
  `WEFT_ASSERT(held, hold_o -> !fetch_valid_i && !upd_valid_i)

  // What is kept for each segment, by another way; the mark is not the host's.
  function automatic rx_position_t unmarked(input rx_position_t position);
    unmarked       = position;
    unmarked.taken = position_q.taken;
    unmarked.mark  = position_q.mark;
  endfunction
  rx_position_t [WALKS-1:0] told_q;
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < WALKS; i++) begin
      if (keep_q[i]) told_q[i] <= position_req;
    end
  end
  for (genvar i = 0; i < int'(WALKS); i++) begin : gen_kept_for_it
    `WEFT_ASSERT(kept_for_it, !(finish_i[i] && kept_valid_q[i]) || (busy_head_i == WALK_W'(i) && kept_o == told_q[i]))
    `WEFT_ASSERT(kept_answer, !(apply && walked_q[i] && kept_valid_q[i]) || position_q == unmarked(told_q[i]))
  end

  // No access waits for anything but the clearing after reset.
  logic [3:0] waited_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) waited_q <= '0;
    else if (busy_o || tbl_rsp_valid_o || (state_q == Idle && !tbl_req_valid_i)) waited_q <= '0;
    else waited_q <= waited_q + 4'd1;
  end
  `WEFT_ASSERT(bounded, 32'(waited_q) <= ANSWER)
`endif

endmodule
