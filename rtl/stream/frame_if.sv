// A stream of frames between modules of the card: beats of DATA_W bits, byte 0 in bits 7:0.
//
// Handshake: AXI-Stream's. What is offered stands until it is taken.

interface frame_if #(
  parameter int unsigned DATA_W = 512
);

  logic [  DATA_W-1:0] data;
  logic [DATA_W/8-1:0] keep;  // contiguous, all ones before the last beat
  logic                last;
  logic                valid;
  logic                ready;

  modport source(output data, keep, last, valid, input ready);
  modport sink(input data, keep, last, valid, output ready);

endinterface
