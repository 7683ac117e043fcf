// The core's side of the wire: MAC loopback, a register slice towards the MAC, a register behind it.
//
// Handshake: Transmit and `mac_tx_*` are ready/valid; receive, `mac_rx_*`, is always taken, and `rx.ready` ignored. One cycle in each direction.
// Pipeline:  tx ─► mac_loopback ─► u_mac_tx ─► mac_tx_*
//                       │ ▲
//            rx ◄─ rx_* ◄─┴──────────────────── mac_rx_*
//            stage    | registers        | what happens
//            loopback | see mac_loopback | transmit goes to the MAC, or to receive
//            out      | u_mac_tx         | a frame's beats are offered to the MAC
//            in       | rx_*_q           | a beat of the MAC, or a looped one
// Why:       The MAC's ready ends at a register, and so do its beats: neither reaches far into the card.

module wire_side #(
  parameter int unsigned DATA_W = 512
) (
  input logic clk_i,
  input logic rst_ni,
  input logic enable_i, // of the loopback

         frame_if.sink   tx,
         frame_if.source rx,
  output logic           rx_bad_o, // with the last beat: the MAC calls the frame bad

  output logic [  DATA_W-1:0] mac_tx_tdata,
  output logic [DATA_W/8-1:0] mac_tx_tkeep,
  output logic                mac_tx_tlast,
  output logic                mac_tx_tvalid,
  input  logic                mac_tx_tready,
  input  logic [  DATA_W-1:0] mac_rx_tdata,
  input  logic [DATA_W/8-1:0] mac_rx_tkeep,
  input  logic                mac_rx_tlast,
  input  logic                mac_rx_tuser,
  input  logic                mac_rx_tvalid,

  output logic looped_o,   // transmit goes to receive
  output logic ignored_o,  // pulse: a frame from the MAC was ignored
  output logic idle_o
);

  logic [DATA_W-1:0] out_data, in_data;
  logic [DATA_W/8-1:0] out_keep, in_keep;
  logic out_last, out_valid, out_ready, in_last, in_bad, in_valid, unused_ready;

  mac_loopback #(
    .DATA_W(DATA_W)
  ) u_loopback (
    .clk_i,
    .rst_ni,
    .enable_i,
    .tx_tdata_i   (tx.data),
    .tx_tkeep_i   (tx.keep),
    .tx_tlast_i   (tx.last),
    .tx_tvalid_i  (tx.valid),
    .tx_tready_o  (tx.ready),
    .rx_tdata_o   (in_data),
    .rx_tkeep_o   (in_keep),
    .rx_tlast_o   (in_last),
    .rx_tuser_o   (in_bad),
    .rx_tvalid_o  (in_valid),
    .mac_tx_tdata (out_data),
    .mac_tx_tkeep (out_keep),
    .mac_tx_tlast (out_last),
    .mac_tx_tvalid(out_valid),
    .mac_tx_tready(out_ready),
    .mac_rx_tdata,
    .mac_rx_tkeep,
    .mac_rx_tlast,
    .mac_rx_tuser,
    .mac_rx_tvalid,
    .mac_rx_tready(unused_ready),
    .looped_o,
    .ignored_o,
    .idle_o
  );

  stream_slice #(
    .WIDTH(1 + DATA_W / 8 + DATA_W)
  ) u_mac_tx (
    .clk_i,
    .rst_ni,
    .in_valid_i (out_valid),
    .in_ready_o (out_ready),
    .in_data_i  ({out_last, out_keep, out_data}),
    .out_valid_o(mac_tx_tvalid),
    .out_ready_i(mac_tx_tready),
    .out_data_o ({mac_tx_tlast, mac_tx_tkeep, mac_tx_tdata}),
    .shown_o    ()
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rx.valid <= 1'b0;
    else rx.valid <= in_valid;
  end

  always_ff @(posedge clk_i) begin
    rx.data  <= in_data;
    rx.keep  <= in_keep;
    rx.last  <= in_last;
    rx_bad_o <= in_bad;
  end

  logic unused;
  assign unused = ^{rx.ready, unused_ready};

endmodule
