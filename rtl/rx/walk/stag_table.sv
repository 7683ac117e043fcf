// Table STAG: the regions.
//
// Handshake: `lookup_i` is a pulse, one a cycle; the row is valid in the next cycle only. A host request is held from its first cycle on, and taken
//            in the second or later, in a cycle without lookup. It has one response pulse. After reset the rows are cleared, one a cycle; until then
//            (`ready_o`) neither host nor walk has access.
// Pipeline:  one register (the RAM's output); a host read one more.
// Why:       A host access excludes a lookup, so no row is written while it is read.
//            States: Clear, rows are cleared; Idle, a request may be taken; Read, the row arrives; Answer, the response.

module stag_table
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned NUM_STAGS = 1024
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,

  input  logic             lookup_i,
  input  logic      [23:0] lookup_index_i,
  output logic             row_in_range_o,
  output stag_row_t        row_o,

  input  logic       tbl_req_valid_i,
  output logic       tbl_req_ready_o,
  input  table_req_t tbl_req_i,
  output logic       tbl_rsp_valid_o,
  output table_rsp_t tbl_rsp_o
);
  localparam int unsigned INDEX_W = $clog2(NUM_STAGS);
  localparam int unsigned ROW_W = 256;  // the rest of a row is reserved

  typedef enum logic [1:0] {
    Clear,
    Idle,
    Read,
    Answer
  } state_e;
  state_e               state_q;
  logic   [INDEX_W-1:0] clear_q;
  logic   [       23:0] index_q;
  logic refused_q, read_q, host_read, host_write;
  logic seen, reads, writes;  // of a request
  logic [INDEX_W-1:0] place;
  logic [  ROW_W-1:0] rdata;

  assign ready_o         = state_q != Clear;
  assign host_write      = seen && state_q == Idle && writes && !lookup_i;
  assign host_read       = seen && state_q == Idle && reads;  // if there is no look-up
  assign tbl_req_ready_o = seen && state_q == Idle && (!(reads || writes) || !lookup_i);

  table_request #(
    .INDEX_W(INDEX_W)
  ) u_request (
    .clk_i,
    .rst_ni,
    .req_valid_i(tbl_req_valid_i),
    .req_i      (tbl_req_i),
    .refuse_i   (tbl_req_i.number != TBL_STAG),
    .take_i     (tbl_req_ready_o),
    .seen_o     (seen),
    .reads_o    (reads),
    .writes_o   (writes),
    .row_o      (place)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Clear;
      clear_q   <= '0;
      refused_q <= 1'b0;
      read_q    <= 1'b0;
    end else begin
      unique case (state_q)
        Clear: begin
          clear_q <= clear_q + 1'b1;
          if (32'(clear_q) == NUM_STAGS - 1) state_q <= Idle;
        end
        Idle: begin
          if (tbl_req_ready_o) begin
            state_q   <= host_read ? Read : Answer;
            refused_q <= !(reads || writes);
            read_q    <= host_read;
          end
        end
        Read:    state_q <= Answer;
        default: state_q <= Idle;
      endcase
    end
  end

  logic [ROW_W-1:0] answer_q;
  always_ff @(posedge clk_i) begin
    if (state_q == Read) answer_q <= rdata;
    index_q <= lookup_index_i;
  end

  ram_1r1w #(
    .WIDTH (ROW_W),
    .DEPTH (NUM_STAGS),
    .UNSEEN(1'b1)
  ) u_rows (
    .clk_i,
    .we_i   (state_q == Clear || host_write),
    .waddr_i(state_q == Clear ? clear_q : place),
    .wdata_i(state_q == Clear ? '0 : tbl_req_i.row[ROW_W-1:0]),
    .re_i   (lookup_i || host_read),
    .raddr_i(lookup_i ? lookup_index_i[INDEX_W-1:0] : place),
    .rdata_o(rdata)
  );

  assign row_o             = {256'd0, rdata};
  assign row_in_range_o    = index_q >> INDEX_W == '0 && index_q != 24'd0;
  assign tbl_rsp_valid_o   = state_q == Answer;
  assign tbl_rsp_o.refused = refused_q;
  assign tbl_rsp_o.row     = read_q ? {256'd0, answer_q} : '0;

  logic unused;
  assign unused = ^tbl_req_i.row[511:ROW_W];

  if (NUM_STAGS < 2 || (1 << INDEX_W) != NUM_STAGS || INDEX_W > 24) begin : gen_param_check
    $error("stag_table: NUM_STAGS must be a power of two");
  end
endmodule
