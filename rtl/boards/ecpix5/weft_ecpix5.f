# The top of the ECPIX-5; behind weft_card.f and boards.f.
boards/ecpix5/rgmii_pins.sv
boards/ecpix5/weft_ecpix5.sv
