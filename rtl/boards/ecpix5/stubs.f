# The part's primitives as ports only.
boards/ecpix5/stubs/EHXPLLL.sv
boards/ecpix5/stubs/IDDRX1F.sv
boards/ecpix5/stubs/ODDRX1F.sv
boards/ecpix5/stubs/DELAYG.sv
