"""What prove.py proves: the table, and the faults that have to refute each proof."""

import dataclasses

PACKAGES = ["pkg/weft_card_pkg.sv", "pkg/weft_int_pkg.sv"]
STREAM = ["stream/stream_rules.sv", "formal/from_reset.sv", "formal/stream_order.sv"]
FIFO = ["prim/ram_1r1w.sv", "stream/stream_rules.sv", "prim/fifo_sync.sv"]
FIFO_PROOF = [*FIFO, "formal/from_reset.sv", "formal/fifo_sync_formal.sv"]
SLICE_PROOF = [*STREAM, "stream/stream_slice.sv", "formal/stream_slice_formal.sv"]
PACKER_PROOF = [*STREAM, "stream/byte_packer.sv", "formal/byte_packer_formal.sv"]
CRC = ["crc/crc32c_pkg.sv", "crc/crc32c_core.sv", "crc/crc32c_unpad.sv", "crc/crc32c.sv"]
REPORT_PROOF = [*PACKAGES, "formal/from_reset.sv", "host/report_writer.sv", "formal/report_writer_formal.sv"]


@dataclasses.dataclass
class Proof:
    """`faults`: (file, text that is there once, text of the fault).

    method: "induction" (from reset, and from any `depth` cycles that keep the properties), "pdr" (ABC finds what is missing for
    an induction by itself), "bounded" (the first `depth` cycles from reset, nothing about later ones), or "linear" (linear.py:
    control as it is given there, all data).
    """

    top: str
    files: list[str]
    faults: list[tuple[str, str, str]]
    parameters: dict = dataclasses.field(default_factory=dict)
    method: str = "induction"
    depth: int = 2


PROOFS = [
    Proof("fifo_sync_formal", FIFO_PROOF, [
        ("prim/fifo_sync.sv", "assign rd_data_o  = mem[rd_ptr_q];", "assign rd_data_o  = mem[wr_ptr_q];"),
        ("prim/fifo_sync.sv", "full_q  <= count_q == COUNT_W'(DEPTH - 1);", "full_q  <= count_q == COUNT_W'(DEPTH);"),
    ], {"DEPTH": 4}),
    Proof("fifo_sync_formal", FIFO_PROOF, [
        ("prim/fifo_sync.sv", "rd_ptr_q <= (rd_ptr_q == LAST) ? '0 :", "rd_ptr_q <="),
    ], {"DEPTH": 5}),
    Proof("fifo_sync_formal", FIFO_PROOF, [
        ("prim/fifo_sync.sv", "&& (!head_valid_q || rd_ready_i)", ""),
        ("prim/fifo_sync.sv", "else if (rd_ready_i) head_valid_q <= 1'b0;", ""),
    ], {"DEPTH": 6, "LUT_RAM_DEPTH": 2}),
    Proof("stream_slice_formal", SLICE_PROOF, [
        ("stream/stream_slice.sv", "assign in_ready_o  = !spare_q;", "assign in_ready_o  = free;"),
        ("stream/stream_slice.sv", "if (!spare_q) spare_data_q <= in_data_i;", "spare_data_q <= in_data_i;"),
        ("stream/stream_slice.sv", "out_valid_q <= in_valid_i || spare_q;", "out_valid_q <= in_valid_i;"),
    ], {"WIDTH": 64}, "pdr"),
    Proof("byte_packer_formal", PACKER_PROOF, [
        ("stream/byte_packer.sv", "r_last_q && r_sum_q > COUNT_W'(BYTES);", "r_last_q && r_sum_q >= COUNT_W'(BYTES);"),
        ("stream/byte_packer.sv", "fill_q <= in_last_i ? '0 : sum[FILL_W-1:0];", "fill_q <= sum[FILL_W-1:0];"),
        ("stream/byte_packer.sv", "assign r_take = o_free && !flush_q;", "assign r_take = o_free;"),
        ("stream/byte_packer.sv", "flush_q || (r_last_q && !spill);", "flush_q || r_last_q;"),
    ], {"DATA_W": 128}),
    *(Proof("crc32c", CRC, [
        ("crc/crc32c_pkg.sv", "32'h82F6_3B78", "32'hEDB8_8320"),
        ("crc/crc32c_core.sv", "COUNT_W'(b) < count_i ?", "COUNT_W'(b) <= count_i ?"),
        ("crc/crc32c_core.sv", "mark_q[1].first ? FIRST_STATE", "mark_q[0].first ? FIRST_STATE"),
        ("crc/crc32c.sv", "assign crc_o = ~state[STAGES];", "assign crc_o = state[STAGES];"),
    ] if width == 128 else [], {"DATA_W": width}, "linear") for width in (128, 512)),
    *(Proof("crc32c_unpad", CRC[:3], [
        ("crc/crc32c_unpad.sv", "advance_matrix(-8 *", "advance_matrix(8 *"),
        ("crc/crc32c_unpad.sv", "state_q <= pad_i[$clog2(PAD_BYTES)]", "state_q <= pad_i[0]"),
    ] if size == 4 else [], {"PAD_BYTES": size, "PAD_W": 6}, "linear") for size in (1, 2, 4, 8, 16, 32)),
    Proof("report_writer_formal", REPORT_PROOF, [
        ("host/report_writer.sv", "<= taken_q - cfg_i.head;", "<= taken_q - cfg_i.head - 1'b1;"),
        ("host/report_writer.sv", "!taken_q[cfg_i.log2[4:0]]", "taken_q[0]"),
        ("host/report_writer.sv", "assign tx_ready_o = load && (prefer_tx_q || !rx_valid_i);", "assign tx_ready_o = load;"),
    ]),
]
