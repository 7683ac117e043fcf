# The vendor's cores and buffers as ports only, where there are none.
boards/alveo_u50/stubs/IBUFDS.sv
boards/alveo_u50/stubs/IBUFDS_GTE4.sv
boards/alveo_u50/stubs/BUFG.sv
boards/alveo_u50/stubs/qdma_0.sv
boards/alveo_u50/stubs/cmac_usplus_0.sv
