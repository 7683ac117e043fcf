// Reads jobs ahead, from the job ring or the push window, and gives them out in order, one 128-byte job at a time.
//
// Handshake: `job_valid_o` and the job's fields are held until `job_ready_i`; only `job_reset` withdraws them. A read request is sent two cycles
//            after JOB_TAIL has moved, and one in two cycles at most. A pushed job is taken three cycles after it is in the window.
// Pipeline:  JOB_TAIL ─► read requests (up to PREFETCH jobs ahead) ─► beats ─┬─► one job in a register
//            push window ─► the next job, if it is there and not in the ring ┘
//            stage   | registers            | what happens                                   | hazards
//            want    | wanted_q, stood_q    | JOB_TAIL, or the push window, has the next job | not valid in the cycle behind another (stood_q: two)
//            request | req_valid_q, u_order | a read is requested, or the pushed job taken   | PREFETCH ahead
//            beats   | u_beats              | answers; the push window keeps its own
//            front   | front_q              | a job's beats but for the last one             | none: the job before may still be held
//            job     | job_q, have_q        | the last beat makes the job whole              | as the job before leaves;
//                    |                      |                                                | stale_q: jobs of before a reset are discarded
// Why:       u_order holds the source of each job ahead, in their order. `job_reset` starts the ring again at 0: jobs read or requested before are
//            discarded. If jobs of the present epoch were given out, a new epoch begins.

`include "weft_assert.svh"

module tx_job_fetch
  import weft_card_pkg::*;
  import weft_int_pkg::*;
  import weft_tx_pkg::EPOCH_W;
#(
  parameter  int unsigned DATA_W   = 512,
  parameter  int unsigned PREFETCH = 32,
  localparam int unsigned COUNT_W  = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  tx_cfg_t               cfg_i,
  output logic    [EPOCH_W-1:0] epoch_o,

  output logic               req_valid_o,
  input  logic               req_ready_i,
  output logic [       63:0] req_addr_o,
  output logic [       15:0] req_bytes_o,
  input  logic               rsp_valid_i,
  output logic               rsp_ready_o,
  input  logic [ DATA_W-1:0] rsp_data_i,
  input  logic [COUNT_W-1:0] rsp_count_i,
  input  logic               rsp_last_i,
  input  logic               rsp_error_i,

  output logic [      31:0] push_head_o,   // to tx_job_push: the job wanted next
  input  logic              push_here_i,   // that job is in the window
  output logic              push_take_o,
  input  logic              push_valid_i,  // its beats
  output logic              push_ready_o,
  input  logic [DATA_W-1:0] push_data_i,

  output logic        job_valid_o,
  input  logic        job_ready_i,
  output job_t        job_o,
  output logic [31:0] job_number_o,
  output logic        job_error_o,   // the slot could not be read: job_o is not defined

  output logic idle_o
);

  localparam int unsigned JOB_BITS = 8 * 128;
  localparam int unsigned BEATS = JOB_BITS / DATA_W;
  localparam int unsigned BEAT_W = $clog2(BEATS);
  localparam int unsigned AHEAD_W = $clog2(PREFETCH + 1);

  // ---------------------------------------------------------------- requests
  logic [31:0] head_q, mask;
  logic [AHEAD_W-1:0] ahead_q, stale_q;  // jobs requested and not given out; of these those of before a reset
  logic any_stale_q;  // stale_q != 0
  logic given_q;  // a job of this epoch was given out
  logic req_valid_q, wanted, wanted_q, issue, pushed, more, leave;
  logic         full_q;  // ahead_q == PREFETCH
  logic [ 31:0] posted;  // by JOB_TAIL, from the head on; negative if more were pushed
  logic [  1:0] stood_q;  // the push window's answer is of this head
  logic [ 24:0] req_low_q;  // with its carry into the high part
  logic [63:24] req_high_q;
  logic         ring_ok;

  assign ring_ok = cfg_i.job_log2 >= 8'd1 && cfg_i.job_log2 <= 8'd16;
  assign mask    = ~(32'hFFFF_FFFF << cfg_i.job_log2[4:0]);
  assign posted  = cfg_i.job_tail - head_q;
  assign wanted  = cfg_i.enable && ring_ok && cfg_i.job_tail != head_q && !posted[31];

  logic unused_posted;
  assign unused_posted = ^posted[30:0];

  assign issue         = wanted_q && !cfg_i.job_reset && !full_q && (!req_valid_q || req_ready_i);
  assign pushed        = push_here_i && stood_q[1] && cfg_i.enable && ring_ok && !cfg_i.job_reset && !wanted_q && !full_q;
  assign more          = issue || pushed;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q      <= '0;
      ahead_q     <= '0;
      full_q      <= 1'b0;
      stale_q     <= '0;
      any_stale_q <= 1'b0;
      req_valid_q <= 1'b0;
      wanted_q    <= 1'b0;
      stood_q     <= '0;
      given_q     <= 1'b0;
      epoch_o     <= '0;
    end else begin
      // By the head of this cycle; it moves with a request, or back to 0.
      wanted_q <= wanted && !more && !cfg_i.job_reset;
      stood_q  <= more || cfg_i.job_reset ? '0 : {stood_q[0], 1'b1};
      if (issue) req_valid_q <= 1'b1;
      else if (req_ready_i) req_valid_q <= 1'b0;

      if (more && !leave) begin
        ahead_q <= ahead_q + 1'b1;
        full_q  <= ahead_q == AHEAD_W'(PREFETCH - 1);
      end else if (!more && leave) begin
        ahead_q <= ahead_q - 1'b1;
        full_q  <= 1'b0;
      end

      if (cfg_i.job_reset) begin
        head_q      <= '0;
        stale_q     <= leave ? ahead_q - 1'b1 : ahead_q;
        any_stale_q <= ahead_q > AHEAD_W'(1) || (ahead_q[0] && !leave);
        given_q     <= 1'b0;
        epoch_o     <= epoch_o + EPOCH_W'(given_q);
      end else begin
        if (more) head_q <= head_q + 1'b1;
        if (job_valid_o && job_ready_i) given_q <= 1'b1;
        if (leave && any_stale_q) begin
          stale_q     <= stale_q - 1'b1;
          any_stale_q <= stale_q != AHEAD_W'(1);
        end
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
  assign push_head_o = head_q;
  assign push_take_o = pushed;

  // ---------------------------------------------------------------- beats
  logic read_valid, read_error, beat_valid, beat_ready, whole, next_valid, next_pushed, order_ready;
  logic [DATA_W-1:0] read, beat;

  fifo_sync #(
    .WIDTH(1),
    .DEPTH(PREFETCH),
    .HEAD (1'b1)
  ) u_order (
    .clk_i,
    .rst_ni,
    .wr_valid_i(more),
    .wr_ready_o(order_ready),
    .wr_data_i (pushed),
    .rd_valid_o(next_valid),
    .rd_ready_i(whole),
    .rd_data_o (next_pushed),
    .count_o   ()
  );

  fifo_sync #(
    .WIDTH(DATA_W + 1),
    .DEPTH(PREFETCH * BEATS)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .wr_valid_i(rsp_valid_i),
    .wr_ready_o(rsp_ready_o),
    .wr_data_i ({rsp_error_i && rsp_last_i, rsp_data_i}),
    .rd_valid_o(read_valid),
    .rd_ready_i(beat_ready && next_valid && !next_pushed),
    .rd_data_o ({read_error, read}),
    .count_o   ()
  );

  assign beat_valid   = next_valid && (next_pushed ? push_valid_i : read_valid);
  assign beat         = next_pushed ? push_data_i : read;
  assign push_ready_o = beat_ready && next_valid && next_pushed;

  // ---------------------------------------------------------------- one job
  logic have_q, error_q, last_beat;
  logic [         BEAT_W-1:0] beat_no_q;
  logic [JOB_BITS-DATA_W-1:0] front_q;
  logic [       JOB_BITS-1:0] job_q;
  logic [               31:0] number_q;

  // `job_ready_i` is late. `job_reset` is left out of `leave`: a job that it withdraws is stale a cycle later.
  assign last_beat   = beat_no_q == BEAT_W'(BEATS - 1);
  assign beat_ready  = !last_beat || !have_q || any_stale_q || job_ready_i;
  assign whole       = beat_valid && beat_ready && last_beat;
  assign job_valid_o = have_q && !any_stale_q && !cfg_i.job_reset;
  assign leave       = have_q && (any_stale_q || job_ready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      have_q    <= 1'b0;
      beat_no_q <= '0;
      number_q  <= '0;
    end else begin
      if (beat_valid && beat_ready) beat_no_q <= beat_no_q + 1'b1;
      if (whole) have_q <= 1'b1;
      else if (leave) have_q <= 1'b0;
      if (cfg_i.job_reset) number_q <= '0;
      else if (leave && !any_stale_q) number_q <= number_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (beat_valid && !last_beat) front_q <= (JOB_BITS - DATA_W)'({beat, front_q} >> DATA_W);
    if (whole) begin
      job_q   <= {beat, front_q};
      error_q <= read_error && !next_pushed;
    end
  end

  assign job_o        = job_q;
  assign job_number_o = number_q;
  assign job_error_o  = error_q;
  assign idle_o       = ahead_q == '0 && !wanted_q && !cfg_i.job_reset;  // a cycle behind JOB_TAIL

  // Every answer is one whole job.
  logic unused;
  assign unused = ^{rsp_count_i, cfg_i.job_log2[7:5], mask[31:16]};

  if (DATA_W > 512 || JOB_BITS % DATA_W != 0) begin : gen_param_check
    $error("tx_job_fetch: DATA_W must divide 1024 and be at most 512");
  end
  `WEFT_ASSERT(room_for_answers, rsp_valid_i -> rsp_ready_o)
  `WEFT_ASSERT(room_for_order, more -> order_ready)
  `WEFT_ASSERT(full_told, full_q == (ahead_q == AHEAD_W'(PREFETCH)))
  `WEFT_ASSERT(one_of_both, !(issue && pushed))
  `WEFT_ASSERT(stale_in_range, stale_q <= ahead_q)
  `WEFT_ASSERT(any_stale_told, any_stale_q == (stale_q != '0))

endmodule
