# The smallest wrapper, to begin with; behind weft_card.f and boards.f.
boards/template/weft_template.sv
