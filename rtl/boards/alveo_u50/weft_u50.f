# The top of the Alveo U50; behind weft_card.f and boards.f.
boards/alveo_u50/cmac_link.sv
boards/alveo_u50/u50_mac.sv
boards/alveo_u50/u50_pcie.sv
boards/alveo_u50/weft_u50.sv
