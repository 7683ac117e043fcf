// Reads jobs from the job ring ahead of their turn and gives them out in order, one 128-byte job at a time.
//
//   JOB_TAIL ─► read requests (up to PREFETCH jobs ahead) ─► beats ─► one job in a register
//
// A request goes out two cycles after JOB_TAIL has moved, and one in two cycles at most.
// `job_reset` starts the ring again at 0 in a new epoch: what was read or asked for before is thrown away.
// A job stays at the output, its fields stable, until taken; only `job_reset` may withdraw it.

module tx_job_fetch
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned DATA_W   = 512,
  parameter int unsigned PREFETCH = 32,
  localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  tx_cfg_t            cfg_i,
  output logic [1:0]         epoch_o,

  output logic               req_valid_o,
  input  logic               req_ready_i,
  output logic [63:0]        req_addr_o,
  output logic [15:0]        req_bytes_o,
  input  logic               rsp_valid_i,
  output logic               rsp_ready_o,
  input  logic [DATA_W-1:0]  rsp_data_i,
  input  logic [COUNT_W-1:0] rsp_count_i,
  input  logic               rsp_last_i,
  input  logic               rsp_error_i,

  output logic               job_valid_o,
  input  logic               job_ready_i,
  output job_t               job_o,
  output logic [31:0]        job_number_o,
  output logic               job_error_o,     // the slot could not be read: job_o is not defined

  output logic               idle_o
);

  localparam int unsigned JOB_BITS = 8 * 128;
  localparam int unsigned BEATS    = JOB_BITS / DATA_W;
  localparam int unsigned BEAT_W   = $clog2(BEATS);
  localparam int unsigned AHEAD_W  = $clog2(PREFETCH + 1);

  // ---------------------------------------------------------------- requests
  logic [31:0]        head_q, mask;
  logic [AHEAD_W-1:0] ahead_q, stale_q;        // jobs asked for and not given out; of these, from before a reset
  logic               req_valid_q, wanted, wanted_q, issue, leave;
  logic [24:0]        req_low_q;               // with its carry into the high part
  logic [63:24]       req_high_q;
  logic               ring_ok;

  assign ring_ok = cfg_i.job_log2 >= 8'd1 && cfg_i.job_log2 <= 8'd16;
  assign mask    = ~(32'hFFFF_FFFF << cfg_i.job_log2[4:0]);
  assign wanted  = cfg_i.enable && ring_ok && head_q != cfg_i.job_tail;
  assign issue   = wanted_q && !cfg_i.job_reset && ahead_q != AHEAD_W'(PREFETCH) && (!req_valid_q || req_ready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q      <= '0;
      ahead_q     <= '0;
      stale_q     <= '0;
      req_valid_q <= 1'b0;
      wanted_q    <= 1'b0;
      epoch_o     <= '0;
    end else begin
      // By the head of this cycle: it moves with a request, or back to 0.
      wanted_q <= wanted && !issue && !cfg_i.job_reset;
      if (issue) req_valid_q <= 1'b1;
      else if (req_ready_i) req_valid_q <= 1'b0;

      if (issue && !leave) ahead_q <= ahead_q + 1'b1;
      else if (!issue && leave) ahead_q <= ahead_q - 1'b1;

      if (cfg_i.job_reset) begin
        head_q  <= '0;
        stale_q <= leave ? ahead_q - 1'b1 : ahead_q;
        epoch_o <= epoch_o + 1'b1;
      end else begin
        if (issue) head_q <= head_q + 1'b1;
        if (leave && stale_q != '0) stale_q <= stale_q - 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (issue) begin
      req_low_q  <= 25'(cfg_i.job_base[23:0]) + 25'({head_q[15:0] & mask[15:0], 7'd0});
      req_high_q <= cfg_i.job_base[63:24];
    end
  end

  assign req_valid_o = req_valid_q;
  assign req_addr_o  = {req_high_q + 40'(req_low_q[24]), req_low_q[23:0]};
  assign req_bytes_o = 16'd128;

  // ---------------------------------------------------------------- beats
  logic              beat_valid, beat_ready, beat_error;
  logic [DATA_W-1:0] beat;

  fifo_sync #(
    .WIDTH(DATA_W + 1),
    .DEPTH(PREFETCH * BEATS)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .wr_valid_i(rsp_valid_i),
    .wr_ready_o(rsp_ready_o),
    .wr_data_i ({rsp_error_i && rsp_last_i, rsp_data_i}),
    .rd_valid_o(beat_valid),
    .rd_ready_i(beat_ready),
    .rd_data_o ({beat_error, beat}),
    .count_o   ()
  );

  // ---------------------------------------------------------------- one job
  logic                have_q, error_q;
  logic [BEAT_W-1:0]   beat_no_q;
  logic [JOB_BITS-1:0] job_q;
  logic [31:0]         number_q;
  logic                stale;

  assign stale       = stale_q != '0 || cfg_i.job_reset;
  assign beat_ready  = !have_q;
  assign job_valid_o = have_q && !stale;
  assign leave       = have_q && (stale || job_ready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      have_q    <= 1'b0;
      beat_no_q <= '0;
      number_q  <= '0;
    end else begin
      if (beat_valid && beat_ready) begin
        beat_no_q <= beat_no_q + 1'b1;
        have_q    <= beat_no_q == BEAT_W'(BEATS - 1);
      end else if (leave) begin
        have_q <= 1'b0;
      end
      if (cfg_i.job_reset) number_q <= '0;
      else if (leave && !stale) number_q <= number_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (beat_valid && beat_ready) begin
      job_q   <= {beat, job_q[JOB_BITS-1:DATA_W]};
      error_q <= beat_error;
    end
  end

  assign job_o        = job_q;
  assign job_number_o = number_q;
  assign job_error_o  = error_q;
  assign idle_o       = ahead_q == '0 && !wanted && !wanted_q && !cfg_i.job_reset;

  // Every answer is one whole job.
  logic unused;
  assign unused = ^{rsp_count_i, cfg_i.job_log2[7:5], mask[31:16]};

`ifndef SYNTHESIS
  if (DATA_W > 512 || JOB_BITS % DATA_W != 0) begin : gen_param_check
    $error("tx_job_fetch: DATA_W must divide 1024 and be at most 512");
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      room_for_answers: assert (rsp_valid_i -> rsp_ready_o);
      stale_in_range: assert (stale_q <= ahead_q);
    end
  end
`endif

endmodule
