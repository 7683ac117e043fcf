// trace_ring with four sources and a ring of 64; kinds and values of the sources beside one another.

module trace_ring_bench
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  localparam int unsigned SOURCES = 4
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        power_on_ni,
  input logic [63:0] time_i,

  input logic [       15:0]       enable_i,
  input logic                     freeze_i,
  input logic                     clear_i,
  input logic [SOURCES-1:0]       valid_i,
  input logic [SOURCES-1:0][ 7:0] kind_i,
  input logic [SOURCES-1:0][31:0] value_i,

  input  logic         rd_valid_i,
  input  logic [ 15:0] rd_entry_i,
  output logic [127:0] rd_data_o,
  output logic [ 31:0] head_o,
  output logic [ 31:0] lost_o,
  output logic         idle_o
);

  trace_event_t [SOURCES-1:0] events;

  for (genvar s = 0; s < int'(SOURCES); s++) begin : gen_source
    assign events[s] = '{
            valid: valid_i[s],
            kind: kind_i[s][3:0],
            detail: 8'(s),
            flow : value_i[s][15:0],
            value: value_i[s],
            info: value_i[s][31:16]
        };
  end

  trace_ring #(
    .SOURCES(SOURCES),
    .LOG2   (6),
    .QUEUE  (8)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .power_on_ni,
    .time_i,
    .enable_i,
    .freeze_i,
    .clear_i,
    .event_i   (events),
    .rd_valid_i,
    .rd_entry_i(rd_entry_i[9:0]),
    .rd_data_o,
    .head_o,
    .lost_o,
    .idle_o
  );

  logic unused;
  assign unused = ^{rd_entry_i[15:10], kind_i};

endmodule
