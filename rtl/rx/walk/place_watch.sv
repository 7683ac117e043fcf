// Check before place, as assertions: whatever is placed lies in the IOVA range of a region that was looked up for this FPDU
// and found valid, of the stream's PD and with the access right; and the FPDU has no error. It keeps its own record of the
// rows seen, one for each run of the scatter list, and knows nothing of how the checks are made.

module place_watch
  import weft_card_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    input logic check_i,  // the row is being looked at, for the run in this slot
    input logic [1:0] check_slot_i,
    input stag_row_t row_i,
    input logic row_in_range_i,
    input logic [31:0] pd_i,
    input logic [7:0] right_i,

    input logic place_i,
    input logic [1:0] place_slot_i,
    input logic place_good_i,
    input logic [63:0] iova_i,
    input logic [15:0] bytes_i
);
  // A row that may not be used leaves an empty range.
  logic [3:0] usable_q;
  logic [3:0][63:0] first_q;
  logic [3:0][64:0] end_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      usable_q <= '0;
      first_q <= '0;
      end_q <= '0;
    end else if (check_i) begin
      usable_q[check_slot_i] <= row_in_range_i && row_i.valid[0] && row_i.pd == pd_i && (row_i.access & right_i) != 8'd0;
      first_q[check_slot_i] <= row_i.iova;
      end_q[check_slot_i] <= {1'b0, row_i.iova} + {1'b0, row_i.length};
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
    end else if (place_i) begin
      assert (place_good_i);
      assert (usable_q[place_slot_i]);
      assert (bytes_i != 16'd0);
      assert (iova_i >= first_q[place_slot_i]);
      assert ({1'b0, iova_i} + 65'(bytes_i) <= end_q[place_slot_i]);
    end
  end

  logic unused;
  assign unused = ^{row_i.rsvd_32, row_i.rsvd_3, row_i.base, row_i.key, row_i.valid, row_i.access};
endmodule
