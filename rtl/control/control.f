control/prim_buf.sv
control/control_core.sv
control/control_memory.sv
control/control_dma.sv
control/control_regs.sv
control/control_ports.sv
control/control_processor.sv
