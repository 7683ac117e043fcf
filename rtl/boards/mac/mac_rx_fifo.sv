// From the MAC to the card. A frame without room is dropped whole, and counted.
//
// Handshake: AXI-Streams, byte 0 in tdata[7:0]; `tuser` marks a bad frame with its last beat. The MAC's side is always taken. The card's side has
//            gaps between frames only, and waits for `rx_tready`, which the card never lowers.
// Pipeline:  frame_fifo.
// Why:       A MAC cannot wait, and its clock may bring beats faster than the card takes them. 65-byte frames at 100 Gb/s are 281 million beats a
//            second.
//            `mac_rst_i`: the MAC's receiver is in reset, and a frame in progress is over. After `mac_rst_ni` beats up to the first end of a frame,
//            or `mac_rst_i`, are ignored: they may be the rest of one.

module mac_rx_fifo #(
  parameter int unsigned DATA_W = 512,
  parameter int unsigned DEPTH  = 1024,  // beats
  parameter int unsigned FRAMES = 256
) (
  input logic                mac_clk_i,
  input logic                mac_rst_ni,
  input logic                mac_rst_i,
  input logic [  DATA_W-1:0] mac_tdata,
  input logic [DATA_W/8-1:0] mac_tkeep,
  input logic                mac_tlast,
  input logic                mac_tuser,
  input logic                mac_tvalid,

  input  logic                clk_i,
  input  logic                rst_ni,
  output logic [  DATA_W-1:0] rx_tdata,
  output logic [DATA_W/8-1:0] rx_tkeep,
  output logic                rx_tlast,
  output logic                rx_tuser,
  output logic                rx_tvalid,
  input  logic                rx_tready,

  output logic [31:0] dropped_o  // frames, in the card's clock
);

  logic dropped, always_ready, tuser;
  logic [31:0] dropped_q;

  frame_fifo #(
    .WIDTH (DATA_W + DATA_W / 8 + 1),
    .DEPTH (DEPTH),
    .FRAMES(FRAMES),
    .DROP  (1'b1)
  ) u_fifo (
    .wr_clk_i    (mac_clk_i),
    .wr_rst_ni   (mac_rst_ni),
    .wr_valid_i  (mac_tvalid),
    .wr_ready_o  (always_ready),
    .wr_last_i   (mac_tlast),
    .wr_data_i   ({mac_tuser, mac_tkeep, mac_tdata}),
    .wr_drop_i   (1'b0),
    .wr_abort_i  (mac_rst_i),
    .wr_dropped_o(dropped),
    .rd_clk_i    (clk_i),
    .rd_rst_ni   (rst_ni),
    .rd_valid_o  (rx_tvalid),
    .rd_ready_i  (rx_tready),
    .rd_last_o   (rx_tlast),
    .rd_data_o   ({tuser, rx_tkeep, rx_tdata}),
    .rd_abort_i  (1'b0)
  );

  assign rx_tuser = tuser && rx_tlast;

  always_ff @(posedge mac_clk_i or negedge mac_rst_ni) begin
    if (!mac_rst_ni) dropped_q <= '0;
    else if (dropped) dropped_q <= dropped_q + 1'b1;
  end

  word_sync #(
    .WIDTH(32)
  ) u_dropped (
    .src_clk_i (mac_clk_i),
    .src_rst_ni(mac_rst_ni),
    .src_word_i(dropped_q),
    .dst_clk_i (clk_i),
    .dst_rst_ni(rst_ni),
    .dst_word_o(dropped_o)
  );

  logic unused;
  assign unused = always_ready;

endmodule
