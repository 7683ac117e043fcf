control/control_split.sv
control/control_join.sv
control/control_share.sv
control/weft_card_control.sv
