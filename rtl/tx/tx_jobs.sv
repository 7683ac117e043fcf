// The jobs of all ports, one after the other: those of a port in its order, ports in turn.
//
// Handshake: As of tx_job_fetch: the job is held until taken, only a job_reset withdraws it.
// Pipeline:  port 0: push window, job ring ─► tx_job_fetch ─┐
//            port 1:              job ring ─► tx_job_fetch ─┴─► register ─► one job at a time
//            stage | registers       | what happens                                       | hazards
//            read  | u_read, u_reads | both ports read through one client of dma_read     | u_reads holds whose answer comes next
//            job   | job_o           | with two ports: a job of the port whose turn it is | withdrawn by its port's job_reset
// Why:       A port without jobs, switched off, or without room for reports (`hold_i`) costs the other one nothing.

`include "weft_assert.svh"

module tx_jobs
  import weft_card_pkg::*;
  import weft_int_pkg::*;
  import weft_tx_pkg::*;
#(
  parameter  int unsigned DATA_W     = 512,
  parameter  int unsigned PUSH_SLOTS = 32,
  parameter  int unsigned PORTS      = 1,
  parameter  int unsigned PREFETCH   = 32,                     // of the first port
  localparam int unsigned COUNT_W    = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  tx_cfg_t [PORTS-1:0]              cfg_i,
  input  logic    [PORTS-1:0]              hold_i,  // level: none of the port's jobs is begun
  output logic    [PORTS-1:0][EPOCH_W-1:0] epoch_o,

  input logic                push_valid_i,
  input logic [        11:0] push_addr_i,
  input logic [  DATA_W-1:0] push_data_i,
  input logic [DATA_W/8-1:0] push_strb_i,

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

  output logic          job_valid_o,   // as of tx_job_fetch: only a job_reset withdraws it
  input  logic          job_ready_i,
  output job_t          job_o,
  output logic   [31:0] job_number_o,
  output epoch_t        job_epoch_o,
  output logic          job_error_o,

  output logic idle_o
);

  // Firmware has a few jobs in flight at most.
  localparam int unsigned PREFETCH_SECOND = PREFETCH < 4 ? PREFETCH : 4;

  // ---------------------------------------------------------------- the push window, of the first port
  logic push_here, push_take, pushed_valid, pushed_ready, push_idle;
  logic [      31:0] push_head;
  logic [DATA_W-1:0] pushed_data;

  if (PUSH_SLOTS != 0) begin : gen_push
    tx_job_push #(
      .DATA_W(DATA_W),
      .SLOTS (PUSH_SLOTS)
    ) u_job_push (
      .clk_i,
      .rst_ni,
      .clear_i     (cfg_i[0].job_reset),
      .push_valid_i,
      .push_addr_i,
      .push_data_i,
      .push_strb_i,
      .head_i      (push_head),
      .here_o      (push_here),
      .take_i      (push_take),
      .beat_valid_o(pushed_valid),
      .beat_ready_i(pushed_ready),
      .beat_o      (pushed_data),
      .idle_o      (push_idle)
    );
  end else begin : gen_no_push
    logic unused_push;
    assign unused_push                            = ^{push_valid_i, push_addr_i, push_data_i, push_strb_i, push_head, push_take, pushed_ready};
    assign {push_here, pushed_valid, pushed_data} = '0;
    assign push_idle                              = 1'b1;
  end

  // ---------------------------------------------------------------- a fetch for each port
  logic [PORTS-1:0] req_valid, req_ready, rsp_valid, rsp_ready, valid, ready, error, fetch_idle;
  logic [PORTS-1:0][63:0] req_addr;
  logic [PORTS-1:0][15:0] req_bytes;
  logic [PORTS-1:0][31:0] number;
  job_t [PORTS-1:0]       job;

  tx_job_fetch #(
    .DATA_W  (DATA_W),
    .PREFETCH(PREFETCH)
  ) u_fetch (
    .clk_i,
    .rst_ni,
    .cfg_i       (cfg_i[0]),
    .epoch_o     (epoch_o[0]),
    .req_valid_o (req_valid[0]),
    .req_ready_i (req_ready[0]),
    .req_addr_o  (req_addr[0]),
    .req_bytes_o (req_bytes[0]),
    .rsp_valid_i (rsp_valid[0]),
    .rsp_ready_o (rsp_ready[0]),
    .rsp_data_i,
    .rsp_count_i,
    .rsp_last_i,
    .rsp_error_i,
    .push_head_o (push_head),
    .push_here_i (push_here),
    .push_take_o (push_take),
    .push_valid_i(pushed_valid),
    .push_ready_o(pushed_ready),
    .push_data_i (pushed_data),
    .job_valid_o (valid[0]),
    .job_ready_i (ready[0]),
    .job_o       (job[0]),
    .job_number_o(number[0]),
    .job_error_o (error[0]),
    .idle_o      (fetch_idle[0])
  );

  if (PORTS == 1) begin : gen_one_port
    assign req_valid_o  = req_valid[0];
    assign req_ready[0] = req_ready_i;
    assign req_addr_o   = req_addr[0];
    assign req_bytes_o  = req_bytes[0];
    assign rsp_valid[0] = rsp_valid_i;
    assign rsp_ready_o  = rsp_ready[0];
    assign job_valid_o  = valid[0];
    assign ready[0]     = job_ready_i;
    assign job_o        = job[0];
    assign job_number_o = number[0];
    assign job_epoch_o  = '{port: 1'b0, count: epoch_o[0]};
    assign job_error_o  = error[0];
    assign idle_o       = fetch_idle[0] && push_idle;

    logic unused;
    assign unused = ^hold_i;
  end else begin : gen_two_ports
    logic [31:0] unused_head;
    logic [ 1:0] unused_push;

    tx_job_fetch #(
      .DATA_W  (DATA_W),
      .PREFETCH(PREFETCH_SECOND)
    ) u_fetch_second (
      .clk_i,
      .rst_ni,
      .cfg_i       (cfg_i[1]),
      .epoch_o     (epoch_o[1]),
      .req_valid_o (req_valid[1]),
      .req_ready_i (req_ready[1]),
      .req_addr_o  (req_addr[1]),
      .req_bytes_o (req_bytes[1]),
      .rsp_valid_i (rsp_valid[1]),
      .rsp_ready_o (rsp_ready[1]),
      .rsp_data_i,
      .rsp_count_i,
      .rsp_last_i,
      .rsp_error_i,
      .push_head_o (unused_head),
      .push_here_i (1'b0),
      .push_take_o (unused_push[0]),
      .push_valid_i(1'b0),
      .push_ready_o(unused_push[1]),
      .push_data_i ('0),
      .job_valid_o (valid[1]),
      .job_ready_i (ready[1]),
      .job_o       (job[1]),
      .job_number_o(number[1]),
      .job_error_o (error[1]),
      .idle_o      (fetch_idle[1])
    );

    // A register for the reads of each port, so that fetching does not depend on the other's turn.
    logic [1:0] read_valid, read_ready;
    logic [1:0][63:0] read_addr;
    for (genvar p = 0; p < 2; p++) begin : gen_read
      stream_slice #(
        .WIDTH(64)
      ) u_read (
        .clk_i,
        .rst_ni,
        .in_valid_i (req_valid[p]),
        .in_ready_o (req_ready[p]),
        .in_data_i  (req_addr[p]),
        .out_valid_o(read_valid[p]),
        .out_ready_i(read_ready[p]),
        .out_data_o (read_addr[p]),
        .shown_o    ()
      );
    end

    // The turn: what is shown is held until taken or withdrawn.
    logic req_port_q, job_port_q, of_port, read_taken, read_over, order_ready, order_valid, job_taken, withdrawn;
    logic [1:0] offered;
    assign offered    = valid & ~hold_i;

    assign read_taken = req_valid_o && req_ready_i;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        req_port_q <= 1'b0;
        job_port_q <= 1'b0;
      end else begin
        if (read_valid[!req_port_q] && (!read_valid[req_port_q] || read_taken)) req_port_q <= !req_port_q;
        if (offered[!job_port_q] && (!offered[job_port_q] || job_taken)) job_port_q <= !job_port_q;
      end
    end

    assign req_valid_o = read_valid[req_port_q];
    assign read_ready  = {req_port_q, !req_port_q} & {2{req_ready_i}};
    assign req_addr_o  = read_addr[req_port_q];
    assign req_bytes_o = req_bytes[0];  // the same for each port

    fifo_sync #(
      .WIDTH(1),
      .DEPTH(PREFETCH + PREFETCH_SECOND)
    ) u_reads (
      .clk_i,
      .rst_ni,
      .wr_valid_i(read_taken),
      .wr_ready_o(order_ready),
      .wr_data_i (req_port_q),
      .rd_valid_o(order_valid),
      .rd_ready_i(read_over),
      .rd_data_o (of_port),
      .count_o   ()
    );
    assign rsp_valid   = {of_port, !of_port} & {2{rsp_valid_i}};
    assign rsp_ready_o = rsp_ready[of_port];
    assign read_over   = rsp_valid_i && rsp_ready_o && rsp_last_i;

    // A job's checks are long: they begin at this register.
    assign job_taken   = !job_valid_o && offered[job_port_q];
    assign ready       = {job_port_q, !job_port_q} & {2{!job_valid_o}} & ~hold_i;
    assign withdrawn   = cfg_i[job_epoch_o.port].job_reset;
    assign idle_o      = &fetch_idle && push_idle && !job_valid_o;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) job_valid_o <= 1'b0;
      else job_valid_o <= job_valid_o ? !job_ready_i && !withdrawn : job_taken;
    end
    always_ff @(posedge clk_i) begin
      if (!job_valid_o) begin
        job_o        <= job[job_port_q];
        job_number_o <= number[job_port_q];
        job_epoch_o  <= '{port: job_port_q, count: epoch_o[job_port_q]};
        job_error_o  <= error[job_port_q];
      end
    end

    logic unused;
    assign unused = ^{unused_head, unused_push, order_ready, order_valid, req_bytes[1]};

`ifndef SYNTHESIS
    logic          stands_q;
    logic   [31:0] number_q;
    epoch_t        epoch_q;
    // verilator lint_off SYNCASYNCNET
    always_ff @(posedge clk_i) begin
      stands_q <= rst_ni && job_valid_o && !job_ready_i;
      number_q <= job_number_o;
      epoch_q  <= job_epoch_o;
    end
    // verilator lint_on SYNCASYNCNET
    `WEFT_ASSERT(room_for_order, read_taken -> order_ready)
    `WEFT_ASSERT(of_a_read, rsp_valid_i -> order_valid)
    `WEFT_ASSERT(job_stands, stands_q && job_valid_o -> {number_q, epoch_q} == {job_number_o, job_epoch_o})
`endif
  end

  if (PORTS != 1 && PORTS != MAX_PORTS) begin : gen_param_check
    $error("tx_jobs: PORTS must be 1 or 2");
  end

endmodule
