// MAC loopback (docs/card.md "MAC loopback"): transmitted frames go into the card's own receive path, and not to the MAC.
//
// Handshake: Transmit is ready/valid, stalled while the switch is between frames; receive is always ready.
// Pipeline:  none, combinational in both directions.
//            transmit ─►┬───────────► MAC          `enable_i` = 0: straight through, both ways
//                       └─► loop ─┐
//            receive ◄────────────┴◄─ MAC          `enable_i` = 1: nothing is offered to the MAC, and its frames are ignored
// Why:       The switch takes effect between frames. A frame offered to the MAC, and one that receive has begun, is finished first. A frame of the
//            MAC that began while the loop was closed is ignored to its end.

`include "weft_assert.svh"

module mac_loopback #(
  parameter int unsigned DATA_W = 512
) (
  input logic clk_i,
  input logic rst_ni,
  input logic enable_i,

  // The transmit path.
  input  logic [  DATA_W-1:0] tx_tdata_i,
  input  logic [DATA_W/8-1:0] tx_tkeep_i,
  input  logic                tx_tlast_i,
  input  logic                tx_tvalid_i,
  output logic                tx_tready_o,

  // The receive path, always ready.
  output logic [  DATA_W-1:0] rx_tdata_o,
  output logic [DATA_W/8-1:0] rx_tkeep_o,
  output logic                rx_tlast_o,
  output logic                rx_tuser_o,
  output logic                rx_tvalid_o,

  // The MAC.
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
  output logic                mac_rx_tready,

  output logic looped_o,   // transmit goes to receive
  output logic ignored_o,  // pulse: a frame from the MAC was ignored
  output logic idle_o      // no switch pending, no frame half through
);

  // Where transmit goes. Wire: to the MAC. Between: stalled, until the other direction is between two frames as well. Loop: to receive.
  typedef enum logic [1:0] {
    Wire,
    Between,
    Loop
  } to_e;

  to_e to_q, to_d;
  logic tx_inside_q, tx_clear;  // tx_inside_q: transmit is inside a frame; tx_clear: no beat of a frame is in flight or offered
  logic rx_inside_q, rx_taking_q;  // rx_inside_q: the MAC is inside a frame; rx_taking_q: receive takes it
  logic rx_open, rx_taking, rx_clear;

  assign tx_clear  = tx_tvalid_i ? tx_tready_o && tx_tlast_i : !tx_inside_q;

  // The first beat of a MAC frame decides whether receive takes it.
  assign rx_open   = to_q == Wire && !enable_i;
  assign rx_taking = rx_inside_q ? rx_taking_q : rx_open;
  assign rx_clear  = !(rx_inside_q && rx_taking_q);

  always_comb begin
    to_d = to_q;
    unique case (to_q)
      Wire:    if (enable_i && tx_clear) to_d = Between;
      Between: if (!enable_i) to_d = Wire;
 else if (rx_clear) to_d = Loop;
      Loop:    if (!enable_i && tx_clear) to_d = Between;
      default: to_d = Wire;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      to_q        <= Wire;
      tx_inside_q <= 1'b0;
      rx_inside_q <= 1'b0;
      rx_taking_q <= 1'b0;
    end else begin
      to_q <= to_d;
      if (tx_tvalid_i && tx_tready_o) tx_inside_q <= !tx_tlast_i;
      if (mac_rx_tvalid) begin
        rx_inside_q <= !mac_rx_tlast;
        rx_taking_q <= rx_taking;
      end
    end
  end

  assign mac_tx_tdata  = tx_tdata_i;
  assign mac_tx_tkeep  = tx_tkeep_i;
  assign mac_tx_tlast  = tx_tlast_i;
  assign mac_tx_tvalid = tx_tvalid_i && to_q == Wire;
  assign tx_tready_o   = to_q == Loop || (to_q == Wire && mac_tx_tready);

  assign rx_tdata_o    = looped_o ? tx_tdata_i : mac_rx_tdata;
  assign rx_tkeep_o    = looped_o ? tx_tkeep_i : mac_rx_tkeep;
  assign rx_tlast_o    = looped_o ? tx_tlast_i : mac_rx_tlast;
  assign rx_tuser_o    = !looped_o && mac_rx_tuser;
  assign rx_tvalid_o   = looped_o ? tx_tvalid_i : mac_rx_tvalid && rx_taking;
  assign mac_rx_tready = 1'b1;

  assign looped_o      = to_q == Loop;
  assign ignored_o     = mac_rx_tvalid && mac_rx_tlast && !rx_taking;
  assign idle_o        = to_q == (enable_i ? Loop : Wire) && !tx_inside_q && !(rx_inside_q && rx_taking_q);

  `WEFT_STREAM(u_rules, mac_tx_tvalid, mac_tx_tready, mac_tx_tlast)
  `WEFT_ASSERT(one_source, !(looped_o && mac_rx_tvalid && rx_taking))
  `WEFT_ASSERT(whole_frames, to_q == Between -> !tx_inside_q)

endmodule
