// AXI4 as the card speaks it, between its modules: one port instead of some forty.
//
// Handshake: AXI4's, channel by channel.
// Why:       The modules that others wrap have its signals as ports, `m_axi_` and the name here. AxCACHE and AxPROT are constants of theirs.
//            writer and reader are the two halves of a master, written and read of a slave. Who has one burst at a time leaves IDs, sizes and readies to the module around it.

interface axi4_if #(
  parameter int unsigned DATA_W = 512
);

  logic [         1:0] awid;
  logic [        63:0] awaddr;
  logic [         7:0] awlen;
  logic [         2:0] awsize;
  logic [         1:0] awburst;
  logic                awuser;  // the write may be reordered
  logic                awvalid;
  logic                awready;
  logic [  DATA_W-1:0] wdata;
  logic [DATA_W/8-1:0] wstrb;
  logic                wlast;
  logic                wvalid;
  logic                wready;
  logic [         1:0] bid;
  logic [         1:0] bresp;
  logic                bvalid;
  logic                bready;
  logic [         1:0] arid;
  logic [        63:0] araddr;
  logic [         7:0] arlen;
  logic [         2:0] arsize;
  logic [         1:0] arburst;
  logic                arvalid;
  logic                arready;
  logic [         1:0] rid;
  logic [  DATA_W-1:0] rdata;
  logic [         1:0] rresp;
  logic                rlast;
  logic                rvalid;
  logic                rready;

  modport writer(
      output awid, awaddr, awlen, awsize, awburst, awuser, awvalid, wdata, wstrb, wlast, wvalid, bready,
      input awready, wready, bid, bresp, bvalid
  );
  modport reader(output arid, araddr, arlen, arsize, arburst, arvalid, rready, input arready, rid, rdata, rresp, rlast, rvalid);
  modport written(
      input awid, awaddr, awlen, awsize, awburst, awuser, awvalid, wdata, wstrb, wlast, wvalid, bready,
      output awready, wready, bid, bresp, bvalid
  );
  modport read(input arid, araddr, arlen, arsize, arburst, arvalid, rready, output arready, rid, rdata, rresp, rlast, rvalid);
  modport master(
      output awid, awaddr, awlen, awsize, awburst, awuser, awvalid, wdata, wstrb, wlast, wvalid, bready,
      output arid, araddr, arlen, arsize, arburst, arvalid, rready,
      input awready, wready, bid, bresp, bvalid, arready, rid, rdata, rresp, rlast, rvalid
  );
  modport slave(
      input awid, awaddr, awlen, awsize, awburst, awuser, awvalid, wdata, wstrb, wlast, wvalid, bready,
      input arid, araddr, arlen, arsize, arburst, arvalid, rready,
      output awready, wready, bid, bresp, bvalid, arready, rid, rdata, rresp, rlast, rvalid
  );

endinterface
