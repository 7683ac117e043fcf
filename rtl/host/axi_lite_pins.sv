// An axi_lite_if as pins, for a module that is wrapped; connected by names, `.*`.
//
// Handshake: AXI4-Lite's.
// Pipeline:  none, wires.

module axi_lite_pins (
  axi_lite_if.master axil,

  input  logic [16:0] s_axil_awaddr,
  input  logic        s_axil_awvalid,
  output logic        s_axil_awready,
  input  logic [31:0] s_axil_wdata,
  input  logic [ 3:0] s_axil_wstrb,
  input  logic        s_axil_wvalid,
  output logic        s_axil_wready,
  output logic [ 1:0] s_axil_bresp,
  output logic        s_axil_bvalid,
  input  logic        s_axil_bready,
  input  logic [16:0] s_axil_araddr,
  input  logic        s_axil_arvalid,
  output logic        s_axil_arready,
  output logic [31:0] s_axil_rdata,
  output logic [ 1:0] s_axil_rresp,
  output logic        s_axil_rvalid,
  input  logic        s_axil_rready
);

  assign axil.awaddr    = s_axil_awaddr;
  assign axil.awvalid   = s_axil_awvalid;
  assign s_axil_awready = axil.awready;
  assign axil.wdata     = s_axil_wdata;
  assign axil.wstrb     = s_axil_wstrb;
  assign axil.wvalid    = s_axil_wvalid;
  assign s_axil_wready  = axil.wready;
  assign s_axil_bresp   = axil.bresp;
  assign s_axil_bvalid  = axil.bvalid;
  assign axil.bready    = s_axil_bready;
  assign axil.araddr    = s_axil_araddr;
  assign axil.arvalid   = s_axil_arvalid;
  assign s_axil_arready = axil.arready;
  assign s_axil_rdata   = axil.rdata;
  assign s_axil_rresp   = axil.rresp;
  assign s_axil_rvalid  = axil.rvalid;
  assign axil.rready    = s_axil_rready;

endmodule
