// FLOW_KEY: exact match of a 4-tuple to a flow, in two banks of NUM_FLOWS/2 buckets of two rows.
//
// Handshake: `req_valid_i` is a pulse, two cycles behind the one before at the earliest. `rsp_valid_o` comes four cycles later; `hit_o` and `flow_o` are
//            held until the next. `changed_o`: a row was written, perhaps behind the read of a lookup in flight. Those lookups are dropped, and have to
//            be repeated. A table
//            access is taken in its second cycle, or a cycle later while a lookup reads. A row that names a flow that does not exist is refused.
//            After reset all rows are cleared for NUM_FLOWS/2 cycles, in which nothing is accepted (`busy_o`).
// Pipeline:  cycle | registers          | what happens                                   | hazards, bypasses
//            0     | key_q              | the key is registered
//            1     | RAM output         | hash, four rows are read                       | a table access waits
//            2     | same_q, row_flow_q | each of 12 key parts is compared with each row | `changed_o` drops the lookup
//            3     | hit_o, flow_o      | the parts are joined, the flow selected        | `changed_o` drops the lookup
//            4     |                    | `rsp_valid_o`
// Why:       The CRC32C of the 12 key bytes gives a bucket in each bank. The secret's part is linear in the key as well: a Toeplitz hash as in
//            receive side scaling. Who does not know the secret cannot find keys that share a bucket.

`include "weft_assert.svh"

module rx_lookup
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned NUM_FLOWS = 256
) (
  input logic clk_i,
  input logic rst_ni,

  input logic [127:0] secret_i,  // level; the answer of a lookup in flight when it changes is undefined

  input  logic        req_valid_i,  // not while busy_o, with changed_o, or in the cycle behind one
  input  logic [95:0] req_key_i,
  output logic        rsp_valid_o,
  output logic        hit_o,
  output logic [15:0] flow_o,

  input  logic       tbl_req_valid_i,
  output logic       tbl_req_ready_o,
  input  table_req_t tbl_req_i,
  output logic       tbl_rsp_valid_o,
  output table_rsp_t tbl_rsp_o,

  output logic changed_o,
  output logic busy_o
);

  localparam int unsigned BUCKETS = NUM_FLOWS / 2;  // of a bank
  localparam int unsigned BUCKET_W = $clog2(BUCKETS);
  localparam int unsigned PLACES = 4;  // rows in which a key may be: {bank, way}
  localparam int unsigned PARTS = 12;  // of a key, compared each for itself first: little logic behind a memory

  typedef struct packed {
    logic              valid;
    logic [15:0] flow;
    logic [95:0]       key;
  } entry_t;

  logic          [      31:0] hash;
  flow_key_row_t              tbl_row;
  entry_t                     wr_entry;
  entry_t        [PLACES-1:0] rd_entry;
  logic [PLACES-1:0] we, match, row_valid_q;
  logic [PLACES-1:0][PARTS-1:0] same_q;
  logic [PLACES-1:0][     15:0] row_flow_q;
  logic re, tbl_take, tbl_read_q, key_valid_q, read_q, compared_q;
  logic [BUCKET_W:0] clear_q;
  logic [BUCKET_W-1:0] waddr, tbl_bucket;
  logic tbl_seen, tbl_reads, tbl_writes;  // of a table access
  logic [1:0] tbl_place, rd_place_q;
  logic [ 1:0][BUCKET_W-1:0] raddr;
  logic [95:0]               key_q;

  // CRC32C, reflected, as in iSCSI; byte 0 of the key first.
  function automatic logic [31:0] crc32c_key(input logic [95:0] key);
    logic [31:0] crc;
    crc = 32'hffff_ffff;
    for (int unsigned i = 0; i < 96; i++) begin
      crc = {1'b0, crc[31:1]} ^ ((crc[0] ^ key[i]) ? 32'h82f6_3b78 : 32'h0);
    end
    return ~crc;
  endfunction

  // CRC32C is linear but for its value for key 0: each bit is the parity of some key bits, 3 LUTs deep instead of 96 steps.
  localparam logic [31:0] HASH_ZERO = crc32c_key('0);

  function automatic logic [31:0][95:0] hash_masks();
    logic [31:0][95:0] masks;
    logic [31:0]       column;
    for (int unsigned i = 0; i < 96; i++) begin
      column = crc32c_key(96'd1 << i) ^ HASH_ZERO;
      for (int unsigned b = 0; b < 32; b++) masks[b][i] = column[b];
    end
    return masks;
  endfunction
  localparam logic [31:0][95:0] HASH_MASKS = hash_masks();

  always_comb begin
    for (int unsigned b = 0; b < 32; b++) hash[b] = HASH_ZERO[b] ^ (^(key_q & (HASH_MASKS[b] ^ secret_i[b+:96])));
  end

  assign busy_o  = !clear_q[BUCKET_W];
  assign tbl_row = flow_key_row_t'(tbl_req_i.row);

  table_request #(
    .INDEX_W(BUCKET_W + 2)
  ) u_request (
    .clk_i,
    .rst_ni,
    .req_valid_i(tbl_req_valid_i),
    .req_i      (tbl_req_i),
    .refuse_i   (tbl_req_i.write && tbl_row.flow >> (BUCKET_W + 1) != '0),
    .take_i     (tbl_take),
    .seen_o     (tbl_seen),
    .reads_o    (tbl_reads),
    .writes_o   (tbl_writes),
    .row_o      ({tbl_place[1], tbl_bucket, tbl_place[0]})
  );
  assign tbl_take = tbl_seen && !busy_o && !key_valid_q && !tbl_read_q;
  assign tbl_req_ready_o = tbl_take;

  assign wr_entry = busy_o ? '0 : '{
          valid: tbl_row.valid[FLOW_KEY_ROW_VALID_BIT],
          flow : tbl_row.flow,
          key: {tbl_row.local_port, tbl_row.remote_port, tbl_row.local_ip, tbl_row.remote_ip}
      };
  assign waddr = busy_o ? clear_q[BUCKET_W-1:0] : tbl_bucket;
  assign re = key_valid_q || (tbl_take && tbl_reads);

  for (genvar p = 0; p < PLACES; p++) begin : gen_place
    localparam int unsigned BANK = p / 2;
    assign we[p] = busy_o || (tbl_take && tbl_writes && tbl_place == 2'(p));
    ram_1r1w #(
      .WIDTH ($bits(entry_t)),
      .DEPTH (BUCKETS),
      .UNSEEN(1'b1)
    ) u_ram (
      .clk_i,
      .we_i   (we[p]),
      .waddr_i(waddr),
      .wdata_i(wr_entry),
      .re_i   (re),
      .raddr_i(raddr[BANK]),
      .rdata_o(rd_entry[p])
    );
    always_ff @(posedge clk_i) begin
      row_valid_q[p] <= rd_entry[p].valid;
      row_flow_q[p]  <= rd_entry[p].flow;
      for (int unsigned i = 0; i < PARTS; i++) same_q[p][i] <= rd_entry[p].key[i*8+:8] == key_q[i*8+:8];
    end
    assign match[p] = row_valid_q[p] && same_q[p] == '1;
  end
  for (genvar b = 0; b < 2; b++) begin : gen_bank
    assign raddr[b] = key_valid_q ? hash[16*b+:BUCKET_W] : tbl_bucket;
  end

  // A key that is being moved is in two rows, with the same flow.
  logic [15:0] found;
  always_comb begin
    found = row_flow_q[PLACES-1];
    for (int unsigned p = 0; p < PLACES - 1; p++) begin
      if (match[p]) found = row_flow_q[p];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      clear_q         <= '0;
      key_valid_q     <= 1'b0;
      read_q          <= 1'b0;
      compared_q      <= 1'b0;
      rsp_valid_o     <= 1'b0;
      tbl_read_q      <= 1'b0;
      tbl_rsp_valid_o <= 1'b0;
      changed_o       <= 1'b0;
    end else begin
      if (busy_o) clear_q <= clear_q + 1'b1;
      key_valid_q     <= req_valid_i;
      read_q          <= key_valid_q && !changed_o;
      compared_q      <= read_q && !changed_o;
      rsp_valid_o     <= compared_q && !changed_o;
      tbl_read_q      <= tbl_take && tbl_reads;
      tbl_rsp_valid_o <= tbl_read_q || (tbl_take && !tbl_reads);
      changed_o       <= we != '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!key_valid_q) key_q <= req_key_i;
    rd_place_q <= tbl_place;
    if (compared_q) begin
      hit_o  <= match != '0;
      flow_o <= found;
    end
    tbl_rsp_o         <= '0;
    tbl_rsp_o.refused <= !tbl_read_q && !tbl_reads && !tbl_writes;
    if (tbl_read_q) begin
      tbl_rsp_o.row[7:0]    <= {7'd0, rd_entry[rd_place_q].valid};
      tbl_rsp_o.row[31:16]  <= rd_entry[rd_place_q].flow;
      tbl_rsp_o.row[127:32] <= rd_entry[rd_place_q].key;
    end
  end

  logic unused;
  assign unused = ^{tbl_row.rsvd_16, tbl_row.rsvd_1, tbl_row.valid[7:1], hash, secret_i};

  if ((1 << BUCKET_W) != BUCKETS || BUCKET_W > 15 || NUM_FLOWS < 4) begin : gen_param_check
    $error("rx_lookup: NUM_FLOWS must be a power of two, 4 to 65536");
  end
  `WEFT_ASSERT(no_request_while_busy, busy_o -> !req_valid_i)
  `WEFT_ASSERT(two_apart, req_valid_i -> !changed_o && !key_valid_q)

endmodule
