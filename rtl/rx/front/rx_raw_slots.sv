// Slots of the raw ring: who may take one, and which is next.
//
// Frames of no flow leave RAW_RESERVE slots free, so that junk takes none from the flows. A segment is walked only with a slot
// set aside for it: its last FPDU may turn out partial.

module rx_raw_slots
  import weft_int_pkg::rx_cfg_t;
#(
  parameter int unsigned WALKS = 4,
  localparam int unsigned COUNT_W = $clog2(WALKS + 1)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // verilator lint_off UNUSEDSIGNAL
  input  rx_cfg_t            cfg_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic [COUNT_W-1:0] walks_i,        // segments in the walk
  input  logic               take_i,         // slot_o is taken
  output logic [15:0]        slot_o,
  output logic               room_o,         // for a segment of a flow that is not walked
  output logic               room_walk_o,    // for one more in the walk
  output logic               room_plain_o    // for a frame of no flow
);

  logic [31:0] tail_q, used, slots;

  assign slots        = 32'd1 << cfg_i.raw_count_log2[4:0];
  assign used         = tail_q - cfg_i.raw_head;
  assign room_o       = used < slots;
  assign room_walk_o  = used + 32'(walks_i) < slots;
  assign room_plain_o = 33'(used) + 33'(cfg_i.raw_reserve) < 33'(slots);
  assign slot_o       = tail_q[15:0] & (slots[15:0] - 16'd1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) tail_q <= '0;
    else if (cfg_i.raw_reset) tail_q <= '0;
    else if (take_i) tail_q <= tail_q + 32'd1;
  end

`ifndef SYNTHESIS
  // verilator lint_off SYNCASYNCNET
  slots_fit: assert property (@(posedge clk_i) disable iff (!rst_ni) take_i |-> room_o || cfg_i.raw_reset);
  // verilator lint_on SYNCASYNCNET
`endif

endmodule
