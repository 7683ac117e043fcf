// AXI4-Lite as the card speaks it, between its modules: 32 bits of data, bit 16 of an address is BAR2.
//
// Handshake: AXI4-Lite's, channel by channel.
// Why:       The modules that others wrap have its signals as ports, `s_axil_` and the name here.

interface axi_lite_if;

  logic [16:0] awaddr;
  logic        awvalid;
  logic        awready;
  logic [31:0] wdata;
  logic [ 3:0] wstrb;
  logic        wvalid;
  logic        wready;
  logic [ 1:0] bresp;
  logic        bvalid;
  logic        bready;
  logic [16:0] araddr;
  logic        arvalid;
  logic        arready;
  logic [31:0] rdata;
  logic [ 1:0] rresp;
  logic        rvalid;
  logic        rready;

  modport master(
      output awaddr, awvalid, wdata, wstrb, wvalid, bready, araddr, arvalid, rready,
      input awready, wready, bresp, bvalid, arready, rdata, rresp, rvalid
  );
  modport slave(
      input awaddr, awvalid, wdata, wstrb, wvalid, bready, araddr, arvalid, rready,
      output awready, wready, bresp, bvalid, arready, rdata, rresp, rvalid
  );

endinterface
