// The runs of an FPDU's payload: up to four pieces of host memory, placed in the order in which they were found.
//
// Handshake: pulses. `first_i` and `add_i` come before `next_i`; `drop_i` goes before all of them.
// Pipeline:  registers  | what happens
//            run_*_q    | address and length of each run
//            todo_q     | a one for each run that is to be placed yet; none if anything was wrong with one of them
// Why:       A run is asked for only when all of them are known to be granted: nothing is placed of an FPDU that is refused.

module walk_runs (
  input logic clk_i,

  input logic        first_i,        // of a new FPDU: one run, or none
  input logic        first_valid_i,
  input logic [63:0] first_iova_i,
  input logic [15:0] first_bytes_i,
  input logic        add_i,
  input logic        add_valid_i,
  input logic [63:0] add_iova_i,
  input logic [15:0] add_bytes_i,
  input logic        drop_i,         // all of them
  input logic        next_i,

  output logic        valid_o,
  output logic        last_o,
  output logic [63:0] iova_o,
  output logic [15:0] bytes_o
);
  logic [3:0][63:0] run_iova_q;
  logic [3:0][15:0] run_bytes_q;
  logic [3:0]       todo_q;
  logic [1:0] runs_q, run_q;  // found; placed

  always_ff @(posedge clk_i) begin
    if (first_i) begin
      run_iova_q[0]   <= first_iova_i;
      run_bytes_q[0]  <= first_bytes_i;
      todo_q          <= 4'(first_valid_i);
      {runs_q, run_q} <= '0;
    end
    if (add_i) begin
      run_iova_q[runs_q]  <= add_iova_i;
      run_bytes_q[runs_q] <= add_bytes_i;
      if (add_valid_i) begin
        todo_q <= {todo_q[2:0], 1'b1};
        runs_q <= runs_q + 2'd1;
      end
    end
    if (next_i) begin
      todo_q <= todo_q >> 1;
      run_q  <= run_q + 2'd1;
    end
    if (drop_i) todo_q <= '0;
  end

  assign valid_o = todo_q[0];
  assign last_o  = !todo_q[1];
  assign iova_o  = run_iova_q[run_q];
  assign bytes_o = run_bytes_q[run_q];
endmodule
