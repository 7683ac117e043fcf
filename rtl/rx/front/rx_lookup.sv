// FLOW_KEY: which flow does a 4-tuple belong to? Exact match in two banks; the CRC32C of the 12 key bytes gives
// a bucket in each.
//
// A lookup takes two cycles: `rsp_valid_o` two cycles after `req_valid_i`, `hit_o` and `flow_o` with it and
// until the next. Table accesses use the ports in cycles without a lookup; `changed_o` tells that a row has been
// written, in or before the cycle in which an older lookup may have read it: look up again. After reset all
// rows are made invalid first, NUM_FLOWS cycles in which nothing is accepted (`busy_o`).

module rx_lookup
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned NUM_FLOWS = 256
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        req_valid_i,      // not while busy_o
  input  logic [95:0] req_key_i,
  output logic        rsp_valid_o,
  output logic        hit_o,
  output logic [15:0] flow_o,

  input  logic        tbl_req_valid_i,
  output logic        tbl_req_ready_o,
  input  table_req_t  tbl_req_i,
  output logic        tbl_rsp_valid_o,
  output table_rsp_t  tbl_rsp_o,

  output logic        changed_o,
  output logic        busy_o
);

  localparam int unsigned BUCKET_W = $clog2(NUM_FLOWS);

  typedef struct packed {
    logic        valid;
    logic [15:0] flow;
    logic [95:0] key;
  } entry_t;

  // CRC32C, reflected, as in iSCSI; byte 0 of the key first.
  function automatic logic [31:0] crc32c_key(input logic [95:0] key);
    logic [31:0] crc;
    crc = 32'hffff_ffff;
    for (int unsigned i = 0; i < 96; i++) begin
      crc = {1'b0, crc[31:1]} ^ ((crc[0] ^ key[i]) ? 32'h82f6_3b78 : 32'h0);
    end
    return ~crc;
  endfunction

  logic [31:0]              hash;
  flow_key_row_t            tbl_row;
  entry_t                   wr_entry;
  entry_t [1:0]             rd_entry;
  logic [1:0]               we, match;
  logic                     re, tbl_take, tbl_in_range, tbl_bank, tbl_read_q, tbl_bank_q, read_q;
  logic [BUCKET_W:0]        clear_q;
  logic [BUCKET_W-1:0]      waddr, tbl_bucket;
  logic [1:0][BUCKET_W-1:0] raddr;
  logic [95:0]              key_q;

  assign hash         = crc32c_key(req_key_i);
  assign busy_o       = !clear_q[BUCKET_W];
  assign tbl_row      = flow_key_row_t'(tbl_req_i.row);
  assign tbl_in_range = tbl_req_i.index < 24'(2 * NUM_FLOWS);
  assign tbl_bucket   = tbl_req_i.index[BUCKET_W-1:0];
  assign tbl_bank     = tbl_req_i.index[BUCKET_W];

  assign tbl_req_ready_o = !busy_o && !req_valid_i && !tbl_read_q;
  assign tbl_take        = tbl_req_valid_i && tbl_req_ready_o;

  assign wr_entry = busy_o ? '0 : '{
    valid: tbl_row.valid[0], flow: tbl_row.flow,
    key: {tbl_row.local_port, tbl_row.remote_port, tbl_row.local_ip, tbl_row.remote_ip}
  };
  assign waddr = busy_o ? clear_q[BUCKET_W-1:0] : tbl_bucket;
  assign re    = req_valid_i || (tbl_take && !tbl_req_i.write);

  for (genvar b = 0; b < 2; b++) begin : gen_bank
    assign we[b]    = busy_o || (tbl_take && tbl_req_i.write && tbl_in_range && tbl_bank == 1'(b));
    assign raddr[b] = req_valid_i ? hash[16*b +: BUCKET_W] : tbl_bucket;
    ram_1r1w #(.WIDTH($bits(entry_t)), .DEPTH(NUM_FLOWS)) i_ram (
      .clk_i, .we_i(we[b]), .waddr_i(waddr), .wdata_i(wr_entry),
      .re_i(re), .raddr_i(raddr[b]), .rdata_o(rd_entry[b])
    );
    assign match[b] = rd_entry[b].valid && rd_entry[b].key == key_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      clear_q         <= '0;
      read_q          <= 1'b0;
      rsp_valid_o     <= 1'b0;
      tbl_read_q      <= 1'b0;
      tbl_bank_q      <= 1'b0;
      tbl_rsp_valid_o <= 1'b0;
      changed_o       <= 1'b0;
    end else begin
      if (busy_o) clear_q <= clear_q + 1'b1;
      read_q          <= req_valid_i;
      rsp_valid_o     <= read_q;
      tbl_read_q      <= tbl_take && !tbl_req_i.write && tbl_in_range;
      tbl_bank_q      <= tbl_bank;
      tbl_rsp_valid_o <= tbl_read_q || (tbl_take && (tbl_req_i.write || !tbl_in_range));
      changed_o       <= we != '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (req_valid_i) key_q <= req_key_i;
    if (read_q) begin
      hit_o  <= match != '0;
      flow_o <= match[0] ? rd_entry[0].flow : rd_entry[1].flow;
    end
    tbl_rsp_o         <= '0;
    tbl_rsp_o.refused <= !tbl_read_q && !tbl_in_range;
    if (tbl_read_q) begin
      tbl_rsp_o.row[7:0]    <= {7'd0, rd_entry[tbl_bank_q].valid};
      tbl_rsp_o.row[31:16]  <= rd_entry[tbl_bank_q].flow;
      tbl_rsp_o.row[127:32] <= rd_entry[tbl_bank_q].key;
    end
  end

  logic unused;
  assign unused = ^{tbl_row.rsvd_16, tbl_row.rsvd_1, tbl_row.valid[7:1], tbl_req_i.number, hash};

`ifndef SYNTHESIS
  // verilator lint_off SYNCASYNCNET
  if ((1 << BUCKET_W) != NUM_FLOWS || BUCKET_W > 16 || NUM_FLOWS < 2) begin : gen_param_check
    $error("rx_lookup: NUM_FLOWS must be a power of two, 2 to 65536");
  end
  no_request_while_busy: assert property (@(posedge clk_i) disable iff (!rst_ni) busy_o |-> !req_valid_i);
  // verilator lint_on SYNCASYNCNET
`endif

endmodule
