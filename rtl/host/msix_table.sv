// MSI-X table, masks and pending bits for wrappers whose PCIe core has none (PCI Express Base Specification 6.1.4).
//
// Handshake: AXI4-Lite for table and pending bits; only writes of whole words have an effect. A vector request is always taken. `msg_valid_o` is held
//            until `msg_ready_i`.
// Pipeline:  AXI4-Lite ─► table: address, data, mask of each vector      at 0x000, 16 bytes a vector
//                     ◄─ pending bits                                    at 0x800
//            vector ─► pending ─► not masked ─► message {address, data}
//            stage   | registers              | what happens
//            request | pending_q              | the vector becomes pending
//            message | msg_addr_o, msg_data_o | the lowest vector that is pending and not masked
// Why:       Requests of one vector that were not sent are one. While vector or function is masked a request stays pending; while MSI-X is off it is
//            dropped.
//            A message has to go behind all writes that host memory answered before the request (docs/card.md "The RTL boundary"). After reset all
//            vectors are masked.

`include "weft_assert.svh"

module msix_table #(
  parameter int unsigned VECTORS = 1  // at most 128
) (
  input logic clk_i,
  input logic rst_ni, // with the function-level reset, too

  input  logic [11:0] s_axil_awaddr,
  input  logic        s_axil_awvalid,
  output logic        s_axil_awready,
  input  logic [31:0] s_axil_wdata,
  input  logic [ 3:0] s_axil_wstrb,
  input  logic        s_axil_wvalid,
  output logic        s_axil_wready,
  output logic [ 1:0] s_axil_bresp,
  output logic        s_axil_bvalid,
  input  logic        s_axil_bready,
  input  logic [11:0] s_axil_araddr,
  input  logic        s_axil_arvalid,
  output logic        s_axil_arready,
  output logic [31:0] s_axil_rdata,
  output logic [ 1:0] s_axil_rresp,
  output logic        s_axil_rvalid,
  input  logic        s_axil_rready,

  // Message Control of the capability.
  input logic enable_i,
  input logic mask_i,    // Function Mask

  input  logic       vector_valid_i,  // from the card
  output logic       vector_ready_o,
  input  logic [4:0] vector_i,

  output logic        msg_valid_o,
  input  logic        msg_ready_i,
  output logic [63:0] msg_addr_o,
  output logic [31:0] msg_data_o
);

  localparam logic [11:0] PBA = 12'h800;
  localparam int unsigned WORDS = 4 * VECTORS;
  localparam int unsigned PBA_WORDS = (VECTORS + 31) / 32;

  typedef struct packed {
    logic        masked;
    logic [31:0] data;
    logic [63:0] addr;
  } entry_t;

  entry_t [VECTORS-1:0] entry_q;
  logic [VECTORS-1:0] pending_q, wanted, asked, pick;
  logic [PBA_WORDS*32-1:0] pba;

  // ---------------------------------------------------------------- writes
  logic aw_held_q, w_held_q, w_whole_q, b_valid_q, execute;
  logic [11:2] waddr_q;
  logic [31:0] wdata_q;

  assign s_axil_awready = !aw_held_q;
  assign s_axil_wready  = !w_held_q;
  assign s_axil_bvalid  = b_valid_q;
  assign s_axil_bresp   = 2'b00;
  assign execute        = aw_held_q && w_held_q && !b_valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_held_q <= 1'b0;
      w_held_q  <= 1'b0;
      w_whole_q <= 1'b0;
      b_valid_q <= 1'b0;
      waddr_q   <= '0;
      wdata_q   <= '0;
    end else begin
      if (s_axil_awvalid && s_axil_awready) begin
        aw_held_q <= 1'b1;
        waddr_q   <= s_axil_awaddr[11:2];
      end
      if (s_axil_wvalid && s_axil_wready) begin
        w_held_q  <= 1'b1;
        w_whole_q <= &s_axil_wstrb;
        wdata_q   <= s_axil_wdata;
      end
      if (execute) b_valid_q <= 1'b1;
      if (s_axil_bvalid && s_axil_bready) begin
        b_valid_q <= 1'b0;
        aw_held_q <= 1'b0;
        w_held_q  <= 1'b0;
      end
    end
  end

  for (genvar v = 0; v < int'(VECTORS); v++) begin : gen_entry
    logic mine;
    assign mine = execute && w_whole_q && 32'(waddr_q[11:4]) == v;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        entry_q[v] <= '{masked: 1'b1, data: '0, addr: '0};
      end else if (mine) begin
        unique case (waddr_q[3:2])
          2'd0:    entry_q[v].addr[31:0] <= {wdata_q[31:2], 2'b00};
          2'd1:    entry_q[v].addr[63:32] <= wdata_q;
          2'd2:    entry_q[v].data <= wdata_q;
          default: entry_q[v].masked <= wdata_q[0];
        endcase
      end
    end
  end

  // ---------------------------------------------------------------- reads
  logic r_valid_q;
  logic [31:0] r_data_q, r_data;

  assign s_axil_arready = !r_valid_q;
  assign s_axil_rvalid  = r_valid_q;
  assign s_axil_rdata   = r_data_q;
  assign s_axil_rresp   = 2'b00;

  always_comb begin
    pba              = '0;
    pba[VECTORS-1:0] = pending_q;
    r_data           = '0;
    for (int unsigned w = 0; w < WORDS; w++) begin
      if (32'(s_axil_araddr[11:2]) == w) begin
        unique case (w % 4)
          0:       r_data = entry_q[w/4].addr[31:0];
          1:       r_data = entry_q[w/4].addr[63:32];
          2:       r_data = entry_q[w/4].data;
          default: r_data = {31'd0, entry_q[w/4].masked};
        endcase
      end
    end
    for (int unsigned w = 0; w < PBA_WORDS; w++) begin
      if (s_axil_araddr[11:2] == PBA[11:2] + 10'(w)) r_data = pba[32*w+:32];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      r_valid_q <= 1'b0;
      r_data_q  <= '0;
    end else if (r_valid_q) begin
      r_valid_q <= !s_axil_rready;
    end else if (s_axil_arvalid) begin
      r_valid_q <= 1'b1;
      r_data_q  <= r_data;
    end
  end

  // ---------------------------------------------------------------- pending, messages
  entry_t chosen;
  logic   load;

  assign vector_ready_o = 1'b1;
  assign load           = wanted != '0 && (!msg_valid_o || msg_ready_i);
  assign pick           = wanted & (~wanted + 1'b1);

  always_comb begin
    chosen = '0;
    for (int unsigned v = 0; v < VECTORS; v++) begin
      asked[v]  = vector_valid_i && 32'(vector_i) == v;
      wanted[v] = pending_q[v] && !entry_q[v].masked && !mask_i && enable_i;
      if (pick[v]) chosen |= entry_q[v];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q   <= '0;
      msg_valid_o <= 1'b0;
      msg_addr_o  <= '0;
      msg_data_o  <= '0;
    end else begin
      // A request in the cycle in which an earlier one is taken is another one.
      pending_q <= enable_i ? (pending_q & ~(load ? pick : '0)) | asked : '0;
      if (load) begin
        msg_valid_o <= 1'b1;
        msg_addr_o  <= chosen.addr;
        msg_data_o  <= chosen.data;
      end else if (msg_ready_i) begin
        msg_valid_o <= 1'b0;
      end
    end
  end

  logic unused;
  assign unused = ^{s_axil_awaddr[1:0], s_axil_araddr[1:0], chosen.masked};

  if (VECTORS < 1 || VECTORS > 128) begin : gen_param_check
    $error("msix_table: 1 to 128 vectors");
  end

  `WEFT_STREAM(u_rules, msg_valid_o, msg_ready_i, {msg_addr_o, msg_data_o})
  `WEFT_ASSERT(vector_known, vector_valid_i -> 32'(vector_i) < VECTORS)

endmodule
