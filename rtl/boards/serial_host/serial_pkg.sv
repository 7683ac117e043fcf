// Frames between the card and a host over a byte stream (docs/boards.md has the table).
// kind (1)  sequence (1)  length (2)  payload (length)  CRC32C of all before (4)      numbers: lowest byte first
//
// Why:       Each direction counts its frames in `sequence`, from the SYNC on, which has 0. Bytes 0 between frames are skipped.

package serial_pkg;

  localparam logic [31:0] VERSION = 32'd1;

  // Host to card.
  localparam logic [7:0] HOST_SYNC = 8'h01;  // nonce (4): drop everything, start again
  localparam logic [7:0] HOST_READ = 8'h02;  // address (4)
  localparam logic [7:0] HOST_WRITE = 8'h03;  // address (4), value (4)
  localparam logic [7:0] HOST_DATA = 8'h04;  // the bytes of a DMA_READ
  localparam logic [7:0] HOST_READ_ERROR = 8'h05;  // DMA_READ failed
  localparam logic [7:0] HOST_WRITTEN = 8'h06;  // DMA_WRITE is done
  localparam logic [7:0] HOST_WRITE_ERROR = 8'h07;  // DMA_WRITE failed

  // Card to host.
  localparam logic [7:0] CARD_SYNC = 8'h81;  // nonce (4), VERSION (4)
  localparam logic [7:0] CARD_VALUE = 8'h82;  // of the register read (4)
  localparam logic [7:0] CARD_DMA_READ = 8'h83;  // address (8), bytes (2)
  localparam logic [7:0] CARD_DMA_WRITE = 8'h84;  // address (8), the bytes
  localparam logic [7:0] CARD_IRQ = 8'h85;  // vector (1)
  localparam logic [7:0] CARD_FAULT = 8'h86;  // reason (1): nothing is sent or taken until a SYNC

  localparam logic [31:0] CRC_POLY = 32'h82F63B78;
  localparam logic [31:0] CRC_RESIDUE = 32'hB798B438;

  // Why the host's stream was given up.
  typedef enum logic [2:0] {
    FaultCrc      = 3'd1,
    FaultSequence = 3'd2,
    FaultForm     = 3'd3,  // an unknown kind, or a wrong length for it
    FaultLine     = 3'd4,  // a byte was lost, or had no stop bit
    FaultAnswer   = 3'd5   // an answer to nothing
  } fault_e;

endpackage
