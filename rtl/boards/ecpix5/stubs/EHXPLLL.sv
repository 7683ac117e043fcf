// Lattice ECP5: PLL. Ports and parameters only.

module EHXPLLL #(
  parameter string FEEDBK_PATH     = "CLKOP",
  parameter string OUTDIVIDER_MUXA = "DIVA",
  parameter string CLKOP_ENABLE    = "ENABLED",
  parameter int    CLKI_DIV        = 1,
  parameter int    CLKFB_DIV       = 1,
  parameter int    CLKOP_DIV       = 8,
  parameter int    CLKOP_CPHASE    = 0,
  parameter int    CLKOP_FPHASE    = 0
) (
  input  logic CLKI,
  input  logic CLKFB,
  input  logic RST,
  input  logic STDBY,
  input  logic PHASESEL0,
  input  logic PHASESEL1,
  input  logic PHASEDIR,
  input  logic PHASESTEP,
  input  logic PHASELOADREG,
  input  logic PLLWAKESYNC,
  input  logic ENCLKOP,
  output logic CLKOP,
  output logic LOCK
);
endmodule
