// Proves of rx_lookup: a key that stands in the table is found with its flow, and one that does not is not.
//
// Any one key is followed. The host writes and reads rows at any time, and lets the key stand in one place at most, as it has to.

module rx_lookup_formal
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned NUM_FLOWS = 4
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic               req_valid_i,
  input logic       [ 95:0] any_key_i,
  input logic       [127:0] any_secret_i,
  input logic               tbl_req_valid_i,
  input table_req_t         tbl_req_i
);

  localparam int unsigned BUCKET_W = $clog2(NUM_FLOWS / 2);

  logic [ 95:0] key_q;
  logic [127:0] secret_q;
  logic rsp_valid, hit, tbl_ready, tbl_rsp_valid, changed, busy;
  logic       [15:0] flow;
  table_rsp_t        tbl_rsp;

  rx_lookup #(
    .NUM_FLOWS(NUM_FLOWS)
  ) dut (
    .clk_i,
    .rst_ni,
    .secret_i       (secret_q),
    .req_valid_i,
    .req_key_i      (key_q),
    .rsp_valid_o    (rsp_valid),
    .hit_o          (hit),
    .flow_o         (flow),
    .tbl_req_valid_i,
    .tbl_req_ready_o(tbl_ready),
    .tbl_req_i,
    .tbl_rsp_valid_o(tbl_rsp_valid),
    .tbl_rsp_o      (tbl_rsp),
    .changed_o      (changed),
    .busy_o         (busy)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  // The key is any, and stays, and so does the secret.
  always_ff @(posedge clk_i) if (!rst_ni) {key_q, secret_q} <= {any_key_i, any_secret_i};

  // Which two buckets the key belongs to is taken as the block computes it; before the first lookup its key register says nothing.
  logic          [31:0] hash;
  flow_key_row_t        row;
  logic [3:0] here, valid_q;  // by {bank, way}: the key stands there
  logic [3:0][15:0] flow_q;
  logic write, in_bucket, same, waits_q;
  logic       [1:0] place;
  table_req_t       req_q;

  assign hash      = dut.hash;
  assign row       = flow_key_row_t'(tbl_req_i.row);
  assign write     = tbl_req_valid_i && tbl_ready && tbl_req_i.write && tbl_req_i.index < 24'(2 * NUM_FLOWS) && 32'(row.flow) < NUM_FLOWS;
  assign place     = {tbl_req_i.index[BUCKET_W+1], tbl_req_i.index[0]};
  assign in_bucket = tbl_req_i.index[BUCKET_W:1] == (place[1] ? hash[16+:BUCKET_W] : hash[0+:BUCKET_W]);
  assign same      = row.valid[FLOW_KEY_ROW_VALID_BIT] && {row.local_port, row.remote_port, row.local_ip, row.remote_ip} == key_q;

  // An answer is what was so the cycle before. A write before that drops the question (`changed_o`).
  logic [3:0]       asked_q;  // one bit for each cycle of a lookup
  logic [3:0]       was_valid_q;
  logic [3:0][15:0] was_flow_q;

  always_comb begin
    here = valid_q;
    for (int unsigned p = 0; p < 4; p++) if (write && in_bucket && place == 2'(p)) here[p] = same;
  end

  always_ff @(posedge clk_i) begin
    waits_q     <= rst_ni && tbl_req_valid_i && !tbl_ready;
    req_q       <= tbl_req_i;
    was_valid_q <= valid_q;
    was_flow_q  <= flow_q;
    if (!rst_ni) begin
      valid_q <= '0;
      asked_q <= '0;
    end else begin
      valid_q <= here;
      if (write && in_bucket) flow_q[place] <= row.flow;
      asked_q <= changed ? {3'd0, req_valid_i} : {asked_q[2:0], req_valid_i};
    end
  end

  logic [15:0] its_flow_q;
  assign its_flow_q = was_valid_q[0] ? was_flow_q[0] : was_valid_q[1] ? was_flow_q[1] : was_valid_q[2] ? was_flow_q[2] : was_flow_q[3];

  always_comb begin
    same_key : assume (dut.key_q == key_q);
    asked_when_it_may : assume (!req_valid_i || (!busy && !changed && !asked_q[0]));
    request_stands : assume (!waits_q || (tbl_req_valid_i && tbl_req_i == req_q));
    // The host's part: a key stands in one place.
    one_place : assume ($countones(here) <= 1);
    if (rst_ni) begin
      answered : assert (rsp_valid == asked_q[3]);
      found : assert (!(rsp_valid && was_valid_q != '0) || hit);
      not_found : assert (!(rsp_valid && was_valid_q == '0) || !hit);
      its_flow : assert (!(rsp_valid && hit) || flow == its_flow_q);
    end
  end

endmodule
