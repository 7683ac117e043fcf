// From the card to the MAC: a frame begins when all of it is here, as a MAC must not run dry inside a frame.
//
// Handshake: AXI-Streams, byte 0 in tdata[7:0], ready/valid. While there is no link (`link_i`), frames are taken, dropped and counted.
// Pipeline:  padding is combinational; then frame_fifo.
// Why:       Short frames are padded with zeros to 60 bytes, for a MAC that does not pad (it adds the FCS).
//            The card never waits for a cable: a reset of the card waits for its frame to be taken.
//            `mac_rst_i` (MAC's clock): the MAC's transmitter is in reset; its part of a frame is lost, the rest is dropped.

module mac_tx_fifo #(
  parameter int unsigned DATA_W = 512,
  parameter int unsigned DEPTH  = 512,  // beats, more than the longest frame has
  parameter int unsigned FRAMES = 128
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                link_i,
  input  logic [  DATA_W-1:0] tx_tdata,
  input  logic [DATA_W/8-1:0] tx_tkeep,
  input  logic                tx_tlast,
  input  logic                tx_tvalid,
  output logic                tx_tready,
  output logic [        31:0] dropped_o,  // frames

  input  logic                mac_clk_i,
  input  logic                mac_rst_ni,
  input  logic                mac_rst_i,
  output logic [  DATA_W-1:0] mac_tdata,
  output logic [DATA_W/8-1:0] mac_tkeep,
  output logic                mac_tlast,
  output logic                mac_tvalid,
  input  logic                mac_tready
);

  localparam int unsigned LANES = DATA_W / 8;
  localparam int unsigned SHORTEST = 60;
  localparam int unsigned POS_W = $clog2(SHORTEST + LANES);

  // ---------------------------------------------------------------- padding
  // A short frame continues to byte 59: with wide beats in its last beat, with narrow ones in some more beats.
  logic [POS_W-1:0] at_q;  // bytes before this beat, at most SHORTEST
  logic padding_q, last, ready, valid, dropped;
  logic [DATA_W-1:0] data;
  logic [ LANES-1:0] keep;

  assign valid     = tx_tvalid || padding_q;
  assign tx_tready = ready && !padding_q;
  assign last      = (padding_q || tx_tlast) && 32'(at_q) + LANES >= SHORTEST;

  always_comb begin
    for (int unsigned b = 0; b < LANES; b++) begin
      keep[b]      = (!padding_q && tx_tkeep[b]) || ((padding_q || tx_tlast) && 32'(at_q) + b < SHORTEST);
      data[8*b+:8] = !padding_q && tx_tkeep[b] ? tx_tdata[8*b+:8] : '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q      <= '0;
      padding_q <= 1'b0;
      dropped_o <= '0;
    end else begin
      if (valid && ready) begin
        padding_q <= (padding_q || tx_tlast) && !last;
        if (last) at_q <= '0;
        else if (32'(at_q) + LANES < SHORTEST) at_q <= at_q + POS_W'(LANES);
        else at_q <= POS_W'(SHORTEST);
      end
      if (dropped) dropped_o <= dropped_o + 1'b1;
    end
  end

  frame_fifo #(
    .WIDTH (DATA_W + LANES),
    .DEPTH (DEPTH),
    .FRAMES(FRAMES),
    .DROP  (1'b0)
  ) u_fifo (
    .wr_clk_i    (clk_i),
    .wr_rst_ni   (rst_ni),
    .wr_valid_i  (valid),
    .wr_ready_o  (ready),
    .wr_last_i   (last),
    .wr_data_i   ({keep, data}),
    .wr_drop_i   (!link_i),
    .wr_abort_i  (1'b0),
    .wr_dropped_o(dropped),
    .rd_clk_i    (mac_clk_i),
    .rd_rst_ni   (mac_rst_ni),
    .rd_valid_o  (mac_tvalid),
    .rd_ready_i  (mac_tready),
    .rd_last_o   (mac_tlast),
    .rd_data_o   ({mac_tkeep, mac_tdata}),
    .rd_abort_i  (mac_rst_i)
  );

endmodule
