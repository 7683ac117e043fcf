// Events of the trace ring from the host side: register writes, doorbells, table accesses, errors.
//
// Handshake: Pulses.
// Pipeline:  combinational; DMA errors one register.

module trace_events
  import weft_card_pkg::*;
  import weft_int_pkg::*;
(
  input logic           clk_i,
  input logic           rst_ni,
  input reg_bus_t       bus_i,
  input host_activity_t host_i,

  output trace_event_t access_o,
  output trace_event_t dma_error_o
);

  // A table access makes its event when it is done; TRACE_CTRL makes none.
  logic told;
  assign told = bus_i.write && bus_i.offset != REG_TABLE_CMD && bus_i.offset[15:6] != REG_TABLE_DATA[15:6] && bus_i.offset != REG_TRACE_CTRL;

  always_comb begin
    access_o = '{
        valid: bus_i.doorbell || told,
        kind: 4'(TRACE_KIND_REGISTER),
        detail: '0,
        flow : NO_FLOW,
        value: bus_i.data,
        info: bus_i.offset
    };
    if (bus_i.doorbell) begin
      access_o.kind = 4'(TRACE_KIND_DOORBELL);
      if (bus_i.offset >= DB_RQ_TAIL) access_o.flow = 16'(bus_i.offset[14:2]);
    end
    if (bus_i.table_done) begin
      access_o = '{
          valid: 1'b1,
          kind: 4'(TRACE_KIND_TABLE),
          detail: '0,
          flow : NO_FLOW,
          value: 32'(bus_i.data[TABLE_CMD_INDEX_LSB+:TABLE_CMD_INDEX_WIDTH]),
          info: '0
      };
      access_o.detail[TRACE_TABLE_TABLE_LSB+:TRACE_TABLE_TABLE_WIDTH] = bus_i.data[TABLE_CMD_TABLE_LSB+:TABLE_CMD_TABLE_WIDTH];
      access_o.detail[TRACE_TABLE_REFUSED_BIT] = bus_i.table_refused;
      access_o.detail[TRACE_TABLE_WRITE_BIT] = bus_i.data[TABLE_CMD_OPERATION_LSB+:TABLE_CMD_OPERATION_WIDTH] == TABLE_OPERATION_WRITE;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      dma_error_o <= '0;
    end else begin
      dma_error_o.valid  <= host_i.read_error || host_i.write_error;
      dma_error_o.kind   <= 4'(TRACE_KIND_DMA_ERROR);
      dma_error_o.detail <= 8'(host_i.read_error) << TRACE_DMA_ERROR_READ_BIT | 8'(host_i.write_error) << TRACE_DMA_ERROR_WRITE_BIT;
      dma_error_o.flow   <= NO_FLOW;
      dma_error_o.info   <= host_i.read_error ? 16'(host_i.read_error_id) : '0;
    end
  end

  logic unused;
  assign unused = ^{bus_i, host_i};

endmodule
