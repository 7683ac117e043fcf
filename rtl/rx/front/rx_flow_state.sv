// FLOW_RX rows and receive positions of all flows, and the attach protocol (docs/card.md "Attach").
//
// `fetch`: row and position come one cycle later, valid in that cycle. `upd`: dispatch writes a position.
// Table accesses never wait for a packet, because a host that waits for one cannot make room for the reports
// on which the packet may wait. They are applied between two decisions of dispatch: `hold_o` forbids a decision
// in this cycle; `stuck_i` says that one has been offered and cannot be taken back; after `changed_o` all that
// was fetched is fetched again. A flow may have packets in the walk (`busy_*`): an ATTACH with attached = 0 is then
// kept and written behind them, one with attached = 1 is refused (the card has not left the flow yet).
// After reset all rows are cleared, NUM_FLOWS cycles in which nothing is accepted (`busy_o`).

module rx_flow_state
  import rx_front_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned NUM_FLOWS = 256,
  parameter int unsigned WALKS = 4               // segments in the walk
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             fetch_valid_i,
  input  logic [15:0]      fetch_flow_i,
  output flow_rx_row_t     row_o,
  output rx_position_t     position_o,

  input  logic             upd_valid_i,
  input  logic [15:0]      upd_flow_i,
  input  rx_position_t     upd_position_i,

  input  logic [WALKS-1:0] busy_valid_i,
  input  logic [WALKS-1:0][15:0] busy_flow_i,
  input  logic             stuck_i,
  output logic             hold_o,
  output logic             changed_o,
  output logic             row_written_o,

  input  logic             tbl_req_valid_i,     // FLOW_RX and ATTACH only
  output logic             tbl_req_ready_o,
  input  table_req_t       tbl_req_i,
  output logic             tbl_rsp_valid_o,
  output table_rsp_t       tbl_rsp_o,

  output logic             attach_o,            // counters
  output logic             refused_o,
  output logic             busy_o,
  output logic             idle_o
);

  localparam int unsigned FLOW_W = $clog2(NUM_FLOWS);

  typedef struct packed {
    logic [63:0] rq_base;
    logic [31:0] marker_base;
    logic [31:0] pd;
    logic [7:0]  rq_log2;
    logic [2:0]  flags;
  } row_t;

  typedef enum logic [2:0] {IDLE, READ, LATCH, APPLY, REFUSE} state_e;

  state_e            state_q, state_d;
  table_req_t        req_q;
  row_t              row_rd, row_wr, row_q;
  rx_position_t      position_rd, position_wr, position_req, position_q, late_q;
  logic              late_valid_q, late_write;   // an ATTACH that waits for the packets in the walk
  logic [15:0]       late_flow_q;
  logic [FLOW_W:0]   clear_q;
  logic [FLOW_W-1:0] row_waddr, position_waddr, raddr, req_flow;
  logic              row_we, position_we, re, is_attach, flow_in_walk, late_in_walk, apply, applied, in_range;
  logic              attach_ok, late_set, table_position_we;
  flow_rx_row_t      row_req;
  attach_row_t       attach_req;

  assign busy_o       = !clear_q[FLOW_W];
  assign row_req      = flow_rx_row_t'(req_q.row);
  assign attach_req   = attach_row_t'(req_q.row);
  assign is_attach    = req_q.number == TBL_ATTACH;
  assign req_flow     = req_q.index[FLOW_W-1:0];
  assign in_range     = tbl_req_i.index < 24'(NUM_FLOWS);
  assign position_req = '{attached: attach_req.attached[0], raw_count: attach_req.raw_count,
                          rcv_nxt: attach_req.rcv_nxt, msn: attach_req.msn, mo: attach_req.mo};

  always_comb begin
    flow_in_walk = 1'b0;
    late_in_walk = 1'b0;
    for (int unsigned i = 0; i < WALKS; i++) begin
      if (busy_valid_i[i] && busy_flow_i[i] == 16'(req_flow)) flow_in_walk = 1'b1;
      if (busy_valid_i[i] && busy_flow_i[i] == late_flow_q) late_in_walk = 1'b1;
    end
    // A kept ATTACH is the newest word on its flow.
    if (late_valid_q && late_flow_q == 16'(req_flow)) flow_in_walk = 1'b1;
  end

  assign late_write = late_valid_q && !late_in_walk && !upd_valid_i && !stuck_i;

  // ---------------------------------------------------------------- table accesses
  assign tbl_req_ready_o = state_q == IDLE && !busy_o;
  assign hold_o          = late_valid_q || (state_q == APPLY && req_q.write);

  // A second kept ATTACH of another flow has to wait for the first.
  assign apply = state_q == APPLY && !upd_valid_i && !stuck_i && !late_write &&
                 !(req_q.write && is_attach && flow_in_walk && !position_req.attached &&
                   late_valid_q && late_flow_q != 16'(req_flow));

  assign attach_ok         = !position_req.attached || (!flow_in_walk && position_q.raw_count == position_req.raw_count);
  assign applied           = apply && req_q.write && is_attach && attach_ok;
  assign late_set          = applied && flow_in_walk;
  assign table_position_we = applied && !flow_in_walk;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      IDLE:    if (tbl_req_valid_i && tbl_req_ready_o) state_d = in_range ? READ : REFUSE;
      READ:    if (!fetch_valid_i) state_d = upd_valid_i || late_write ? READ : LATCH;
      LATCH:   state_d = APPLY;
      APPLY: begin
        // A position written meanwhile makes what was read old.
        if (upd_valid_i || late_write) state_d = READ;
        else if (apply) state_d = IDLE;
      end
      REFUSE:  state_d = IDLE;
      default: state_d = IDLE;
    endcase
    if (state_q == LATCH && (upd_valid_i || late_write)) state_d = READ;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q         <= IDLE;
      clear_q         <= '0;
      late_valid_q    <= 1'b0;
      tbl_rsp_valid_o <= 1'b0;
      changed_o       <= 1'b0;
      row_written_o   <= 1'b0;
      attach_o        <= 1'b0;
      refused_o       <= 1'b0;
    end else begin
      state_q <= state_d;
      if (busy_o) clear_q <= clear_q + 1'b1;
      if (late_set) late_valid_q <= 1'b1;
      else if (late_write) late_valid_q <= 1'b0;
      tbl_rsp_valid_o <= apply || state_q == REFUSE;
      changed_o       <= late_write || (apply && req_q.write);
      row_written_o   <= apply && req_q.write && !is_attach;
      attach_o        <= applied;
      refused_o       <= apply && req_q.write && is_attach && !attach_ok;
    end
  end

  always_ff @(posedge clk_i) begin
    if (tbl_req_valid_i && tbl_req_ready_o) req_q <= tbl_req_i;
    if (late_set) begin
      late_q      <= position_req;
      late_flow_q <= 16'(req_flow);
    end
    if (state_q == LATCH) begin
      row_q      <= row_rd;
      position_q <= position_rd;
    end
    tbl_rsp_o         <= '0;
    tbl_rsp_o.refused <= state_q == REFUSE || (req_q.write && is_attach && !attach_ok);
    if (is_attach) begin
      tbl_rsp_o.row <= 512'({position_q.mo, position_q.msn, position_q.rcv_nxt, 16'd0, position_q.raw_count,
                             7'd0, position_q.attached});
    end else begin
      tbl_rsp_o.row <= 512'({row_q.rq_base, 32'd0, row_q.marker_base, row_q.pd, 16'd0, row_q.rq_log2, 5'd0, row_q.flags});
    end
  end

  // ---------------------------------------------------------------- memories
  assign raddr = fetch_valid_i ? fetch_flow_i[FLOW_W-1:0] : req_flow;
  assign re    = fetch_valid_i || state_q == READ;

  assign row_we    = busy_o || (apply && req_q.write && !is_attach);
  assign row_waddr = busy_o ? clear_q[FLOW_W-1:0] : req_flow;
  assign row_wr    = busy_o ? '0 : '{rq_base: row_req.rq_base, marker_base: row_req.marker_base, pd: row_req.pd,
                                     rq_log2: row_req.rq_log2, flags: row_req.flags[2:0]};

  always_comb begin
    position_we    = busy_o || upd_valid_i || late_write || table_position_we;
    position_waddr = req_flow;
    position_wr    = position_req;
    if (busy_o) begin
      position_waddr = clear_q[FLOW_W-1:0];
      position_wr    = '0;
    end else if (upd_valid_i) begin
      position_waddr = upd_flow_i[FLOW_W-1:0];
      position_wr    = upd_position_i;
    end else if (late_write) begin
      position_waddr = late_flow_q[FLOW_W-1:0];
      position_wr    = late_q;
    end
  end

  ram_1r1w #(.WIDTH($bits(row_t)), .DEPTH(NUM_FLOWS)) i_rows (
    .clk_i, .we_i(row_we), .waddr_i(row_waddr), .wdata_i(row_wr), .re_i(re), .raddr_i(raddr), .rdata_o(row_rd)
  );
  ram_1r1w #(.WIDTH($bits(rx_position_t)), .DEPTH(NUM_FLOWS)) i_positions (
    .clk_i, .we_i(position_we), .waddr_i(position_waddr), .wdata_i(position_wr),
    .re_i(re), .raddr_i(raddr), .rdata_o(position_rd)
  );

  always_comb begin
    row_o             = '0;
    row_o.rq_base     = row_rd.rq_base;
    row_o.marker_base = row_rd.marker_base;
    row_o.pd          = row_rd.pd;
    row_o.rq_log2     = row_rd.rq_log2;
    row_o.flags       = {5'd0, row_rd.flags};
    position_o        = position_rd;
  end

  assign idle_o = !busy_o && state_q == IDLE && !late_valid_q && !tbl_rsp_valid_o;

  logic unused;
  assign unused = ^{row_req.rsvd_24, row_req.rsvd_12, row_req.rsvd_2, row_req.flags[7:3], attach_req.rsvd_16,
                    attach_req.rsvd_2, attach_req.attached[7:1], req_q.index, fetch_flow_i, upd_flow_i};

`ifndef SYNTHESIS
  // verilator lint_off SYNCASYNCNET
  if ((1 << FLOW_W) != NUM_FLOWS || FLOW_W > 16 || NUM_FLOWS < 2) begin : gen_param_check
    $error("rx_flow_state: NUM_FLOWS must be a power of two, 2 to 65536");
  end
  only_own_tables: assert property (@(posedge clk_i) disable iff (!rst_ni)
    tbl_req_valid_i |-> tbl_req_i.number == TBL_FLOW_RX || tbl_req_i.number == TBL_ATTACH);
  // verilator lint_on SYNCASYNCNET
`endif

endmodule
