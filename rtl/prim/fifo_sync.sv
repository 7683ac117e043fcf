// First-word fall-through FIFO, one clock, any depth from 2, exactly DEPTH words of room.
//
// Handshake: ready/valid at both ends, each from a register; one word a cycle. Latency is one cycle from LUT RAM (up to LUT_RAM_DEPTH words), two
//            from block RAM.
// Pipeline:  wr ──► [memory] ─┬──────────► rd
//                             └─► [kept] ─┘
//            memory    | output                          | option
//            LUT RAM   | read combinationally            | HEAD: the oldest word is in a register, for a user with much logic behind it; same latency
//            block RAM | its output register is the head | STEADY: it reads in each cycle; a word not taken at once is kept in a register
// Why:       With STEADY no enable of the block RAM depends on `rd_ready_i`, which may be late. A block RAM writes in each cycle in any case.

`include "weft_assert.svh"

module fifo_sync #(
  parameter  int unsigned WIDTH         = 32,
  parameter  int unsigned DEPTH         = 16,
  parameter  int unsigned LUT_RAM_DEPTH = 64,                // deeper ones are in block RAM
  parameter  bit          HEAD          = 1'b0,
  parameter  bit          STEADY        = 1'b0,
  localparam int unsigned COUNT_W       = $clog2(DEPTH + 1)
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic             wr_valid_i,
  output logic             wr_ready_o,
  input  logic [WIDTH-1:0] wr_data_i,

  output logic             rd_valid_o,
  input  logic             rd_ready_i,
  output logic [WIDTH-1:0] rd_data_o,

  output logic [COUNT_W-1:0] count_o  // words inside, the one at the output included
);

  localparam int unsigned ADDR_W = $clog2(DEPTH);
  localparam logic [ADDR_W-1:0] LAST = ADDR_W'(DEPTH - 1);

  logic [ADDR_W-1:0] wr_ptr_q, rd_ptr_q;
  logic [COUNT_W-1:0] count_q;
  logic               full_q;
  logic push, pop, store, fetch;  // store, fetch: of the memory
  logic [COUNT_W-1:0] more, less;  // count with one more and one less; which of them applies is late

  assign push       = wr_valid_i && wr_ready_o;
  assign pop        = rd_valid_o && rd_ready_i;
  assign wr_ready_o = !full_q;
  assign count_o    = count_q;
  assign more       = count_q + 1'b1;
  assign less       = count_q - 1'b1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_ptr_q <= '0;
      rd_ptr_q <= '0;
      count_q  <= '0;
      full_q   <= 1'b0;
    end else begin
      if (store) wr_ptr_q <= (wr_ptr_q == LAST) ? '0 : wr_ptr_q + 1'b1;
      if (fetch) rd_ptr_q <= (rd_ptr_q == LAST) ? '0 : rd_ptr_q + 1'b1;
      if (push != pop) begin
        count_q <= push ? more : less;
        full_q  <= push && more == COUNT_W'(DEPTH);
      end
    end
  end

  if (DEPTH <= LUT_RAM_DEPTH) begin : gen_lut_ram
    logic [WIDTH-1:0] mem                                   [DEPTH];
    logic             any_q;  // count_q != 0
    logic             past;  // the word bypasses the memory

    // `wr_valid_i`, which may be late, makes the word valid.
    always_ff @(posedge clk_i) begin
      if (wr_ready_o) mem[wr_ptr_q] <= wr_data_i;
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) any_q <= 1'b0;
      else if (push != pop) any_q <= push || less != '0;
    end

    assign rd_valid_o = any_q;

    if (HEAD) begin : gen_head
      logic             more_q;  // count_q > 1
      logic [WIDTH-1:0] head_q;

      assign past      = !more_q && (!any_q || pop);
      assign fetch     = pop && more_q;
      assign rd_data_o = head_q;

      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) more_q <= 1'b0;
        else if (push != pop) more_q <= push ? any_q : less > COUNT_W'(1);
      end
      always_ff @(posedge clk_i) begin
        if (!any_q || rd_ready_i) head_q <= more_q ? mem[rd_ptr_q] : wr_data_i;
      end
    end else begin : gen_no_head
      assign past      = 1'b0;
      assign fetch     = pop;
      assign rd_data_o = mem[rd_ptr_q];
    end
    assign store = push && !past;
  end else begin : gen_block_ram
    // Words in the memory that are not yet in its output register.
    logic [COUNT_W-1:0] stored_q;
    logic               any_stored_q;  // stored_q != 0
    logic               head_valid_q;
    logic [  WIDTH-1:0] word;

    assign store      = push;
    assign fetch      = any_stored_q && (!head_valid_q || rd_ready_i);
    assign rd_valid_o = head_valid_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        stored_q     <= '0;
        any_stored_q <= 1'b0;
        head_valid_q <= 1'b0;
      end else begin
        if (push) any_stored_q <= 1'b1;
        else if (fetch) any_stored_q <= stored_q != COUNT_W'(1);
        if (push && !fetch) stored_q <= stored_q + 1'b1;
        else if (!push && fetch) stored_q <= stored_q - 1'b1;
        if (fetch) head_valid_q <= 1'b1;
        else if (rd_ready_i) head_valid_q <= 1'b0;
      end
    end

    ram_1r1w #(
      .WIDTH (WIDTH),
      .DEPTH (DEPTH),
      .UNSEEN(1'b1)
    ) u_ram (
      .clk_i,
      .we_i   (1'b1),             // `push` makes the word valid; in a full queue this is the place of the head's word
      .waddr_i(wr_ptr_q),
      .wdata_i(wr_data_i),
      .re_i   (STEADY || fetch),
      .raddr_i(rd_ptr_q),
      .rdata_o(word)
    );

    if (STEADY) begin : gen_steady
      logic             kept_q;  // the head is in `kept_word_q`
      logic [WIDTH-1:0] kept_word_q;

      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) kept_q <= 1'b0;
        else kept_q <= head_valid_q && !rd_ready_i;
      end
      always_ff @(posedge clk_i) if (!kept_q) kept_word_q <= word;
      assign rd_data_o = kept_q ? kept_word_q : word;
    end else begin : gen_enabled
      assign rd_data_o = word;
    end
  end

  if (WIDTH == 0 || DEPTH < 2) begin : gen_param_check
    $error("fifo_sync: WIDTH must be positive and DEPTH at least 2");
  end
  // verilator lint_off CMPCONST
  `WEFT_ASSERT(count_in_range, count_q <= COUNT_W'(DEPTH))
  // verilator lint_on CMPCONST
  `WEFT_ASSERT(full_is_full, full_q == (count_q == COUNT_W'(DEPTH)))
  if (DEPTH <= LUT_RAM_DEPTH) begin : gen_lut_ram_check
    `WEFT_ASSERT(any_is_any, gen_lut_ram.any_q == (count_q != '0))
    if (HEAD) begin : gen_head_check
      `WEFT_ASSERT(more_is_more, gen_lut_ram.gen_head.more_q == (count_q > COUNT_W'(1)))
    end
  end else begin : gen_block_ram_check
    `WEFT_ASSERT(any_is_any, gen_block_ram.any_stored_q == (gen_block_ram.stored_q != '0))
    `WEFT_ASSERT(full_has_head, full_q -> gen_block_ram.head_valid_q)
  end
  `WEFT_STREAM(u_rules, rd_valid_o, rd_ready_i, rd_data_o)

endmodule
