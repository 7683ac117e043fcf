// Checks the card's writes at its AXI port in simulation. Every byte with a strobe is the next one of a granted placement, or lies in one of the
// card's rings.
//
// Handshake: Observes only.
// Pipeline:  copies of grants, addresses and rings; each beat is compared in its cycle.
// Why:       It covers the path between the walk's exit (place_watch) and the bus: rx_output, dma_write, reset_drain.
//            Placements are written whole, without a gap, in the order in which they were granted. The rings are those of the registers, or while
//            writes are in flight those of before.
//            A burst's address is taken from AW alone, and beats are counted here.
//            The bus lives on through a reset (rst_ni), the grants do not (core_rst_ni): then no strobe is expected until the core writes again.

`include "weft_assert.svh"

module write_watch #(
  parameter int unsigned DATA_W = 512,
  parameter int unsigned RINGS  = 3,
  parameter int unsigned BURSTS = 128,  // shown, and their data not written yet
  parameter int unsigned GRANTS = 256   // placements that are not written yet
) (
  input logic clk_i,
  input logic rst_ni,
  input logic core_rst_ni,

  // A placement is granted.
  input logic        grant_i,
  input logic [63:0] grant_addr_i,
  input logic [15:0] grant_bytes_i,

  // Raw slots, reports, capture: first byte, log2 of the bytes.
  input logic [RINGS-1:0][63:0] ring_base_i,
  input logic [RINGS-1:0][ 7:0] ring_log2_i,
  input logic                   idle_i,       // the card has nothing to write, and no reset is in progress

  input logic [        63:0] awaddr_i,
  input logic                awvalid_i,
  input logic                awready_i,
  input logic [DATA_W/8-1:0] wstrb_i,
  input logic                wlast_i,
  input logic                wvalid_i,
  input logic                wready_i
);

  localparam int unsigned BYTES = DATA_W / 8;
  localparam int unsigned LANE_W = $clog2(BYTES);
  localparam int unsigned BURST_W = $clog2(BURSTS);
  localparam int unsigned GRANT_W = $clog2(GRANTS);

  typedef struct packed {
    logic [63:0] addr;
    logic [15:0] bytes;
  } grant_t;

  // ---------------------------------------------------------------- which burst a beat belongs to
  // An AW counts from the cycle in which it is first shown: W may be taken before it.
  logic [63:0] bursts[BURSTS];
  logic [BURST_W:0] burst_in_q, burst_out_q;
  logic aw_stands_q, aw_new, no_burst, beat;
  logic [63:0] burst_addr, beat_addr;
  logic [8:0] beat_no_q;

  assign aw_new     = awvalid_i && !aw_stands_q;
  assign no_burst   = burst_in_q == burst_out_q;
  assign burst_addr = no_burst ? awaddr_i : bursts[burst_out_q[BURST_W-1:0]];
  assign beat       = wvalid_i && wready_i;
  assign beat_addr  = {burst_addr[63:LANE_W], LANE_W'(0)} + (64'(beat_no_q) << LANE_W);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_stands_q <= 1'b0;
      burst_in_q  <= '0;
      burst_out_q <= '0;
      beat_no_q   <= '0;
    end else begin
      aw_stands_q <= awvalid_i && !awready_i;
      if (aw_new) burst_in_q <= burst_in_q + 1'b1;
      if (beat) beat_no_q <= wlast_i ? '0 : beat_no_q + 1'b1;
      if (beat && wlast_i) burst_out_q <= burst_out_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (aw_new) bursts[burst_in_q[BURST_W-1:0]] <= awaddr_i;
  end

  // ---------------------------------------------------------------- its bytes
  logic [LANE_W:0] first, count;
  logic gap, any;
  logic [63:0] from;

  always_comb begin
    first = '0;
    count = '0;
    gap   = 1'b0;
    for (int unsigned i = 0; i < BYTES; i++) begin
      if (wstrb_i[i]) begin
        if (count == '0) first = (LANE_W + 1)'(i);
        else if (first + count != (LANE_W + 1)'(i)) gap = 1'b1;
        count = count + 1'b1;
      end
    end
  end

  assign any  = beat && count != '0;
  assign from = beat_addr + 64'(first);

  // ---------------------------------------------------------------- rings, now and before
  logic [RINGS-1:0][63:0] base_q, before_base_q;
  logic [RINGS-1:0][7:0] log2_q, before_log2_q;
  logic [RINGS-1:0] in_ring, changed;

  function automatic logic lies_in(input logic [63:0] addr, input logic [LANE_W:0] bytes, input logic [63:0] base, input logic [7:0] log2);
    logic [64:0] into;
    into = 65'(addr - base);
    return into + 65'(bytes) <= 65'd1 << log2;
  endfunction

  for (genvar r = 0; r < RINGS; r++) begin : gen_ring
    assign changed[r] = base_q[r] != ring_base_i[r] || log2_q[r] != ring_log2_i[r];
    assign in_ring[r] = lies_in(
        from, count, ring_base_i[r], ring_log2_i[r]
    ) || lies_in(
        from, count, base_q[r], log2_q[r]
    ) || lies_in(
        from, count, before_base_q[r], before_log2_q[r]
    );
    always_ff @(posedge clk_i) begin
      base_q[r] <= ring_base_i[r];
      log2_q[r] <= ring_log2_i[r];
      if (idle_i && !changed[r] && !any) begin
        before_base_q[r] <= ring_base_i[r];
        before_log2_q[r] <= ring_log2_i[r];
      end
    end
  end

  // ---------------------------------------------------------------- placements
  grant_t grants[GRANTS];
  grant_t next;
  logic [GRANT_W:0] grant_in_q, grant_out_q;
  logic [15:0] written_q;  // bytes of the first one
  logic granted, is_next, is_last;

  assign granted = grant_in_q != grant_out_q;
  assign next    = grants[grant_out_q[GRANT_W-1:0]];
  assign is_next = granted && from == next.addr + 64'(written_q) && 16'(count) <= next.bytes - written_q;
  assign is_last = 16'(count) == next.bytes - written_q;

  always_ff @(posedge clk_i or negedge core_rst_ni) begin
    if (!core_rst_ni) begin
      grant_in_q  <= '0;
      grant_out_q <= '0;
      written_q   <= '0;
    end else begin
      if (grant_i) grant_in_q <= grant_in_q + 1'b1;
      if (any && is_next) begin
        written_q <= is_last ? '0 : written_q + 16'(count);
        if (is_last) grant_out_q <= grant_out_q + 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (grant_i) grants[grant_in_q[GRANT_W-1:0]] <= '{addr: grant_addr_i, bytes: grant_bytes_i};
  end

  logic unused;
  assign unused = ^burst_addr[LANE_W-1:0];

  // ---------------------------------------------------------------- the judgement
  logic [BURST_W:0] bursts_open;
  logic [GRANT_W:0] grants_open;
  assign bursts_open = burst_in_q - burst_out_q;
  assign grants_open = grant_in_q - grant_out_q;

`ifndef SYNTHESIS
  // verilator lint_off SYNCASYNCNET
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      legal_write :
      assert (!any || is_next || in_ring != '0)
      else
        $error(
            "write_watch: %0d bytes at %h are of no ring, and not the next of a placement (%0d bytes left at %h)",
            count,
            from,
            granted ? next.bytes - written_q : 16'd0,
            next.addr + 64'(written_q)
        );
    end
  end
  // verilator lint_on SYNCASYNCNET
  `WEFT_ASSERT(data_after_address, !beat || !no_burst || aw_new)
  `WEFT_ASSERT(strobes_without_gap, !beat || !gap)
  `WEFT_ASSERT(nothing_left, !idle_i || !core_rst_ni || !granted)
  `WEFT_ASSERT(room, 32'(bursts_open) < BURSTS && 32'(grants_open) < GRANTS)
`endif

endmodule
