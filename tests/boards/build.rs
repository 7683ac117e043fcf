//! Compiles what boards need besides the card, and a board with a serial line as a whole.

use rtl_sim::build::{Design, Project};
use std::path::{Path, PathBuf};

const SERIAL: &[&str] = &[
    "prim/ram_1r1w.sv",
    "stream/stream_rules.sv",
    "boards/crc32_byte.sv",
    "boards/serial_host/serial_pkg.sv",
    "boards/serial_host/serial_receive.sv",
    "boards/serial_host/serial_send.sv",
    "boards/serial_host/serial_write.sv",
    "boards/serial_host/serial_read.sv",
    "boards/serial_host/serial_host.sv",
];
const UART: &[&str] = &[
    "prim/ram_1r1w.sv",
    "prim/fifo_sync.sv",
    "stream/stream_rules.sv",
    "boards/cdc/bit_sync.sv",
    "boards/serial_host/serial_uart.sv",
];
const GMII: &[&str] = &[
    "stream/stream_rules.sv",
    "stream/stream_slice.sv",
    "boards/crc32_byte.sv",
    "boards/rgmii/gmii_rx.sv",
    "boards/rgmii/gmii_tx.sv",
];

fn design(name: &str, top: &str, files: impl IntoIterator<Item = PathBuf>) -> Design {
    let bench = Some(PathBuf::from(format!("rtl/{top}.sv"))).filter(|file| file.exists());
    Design::new(name)
        .top(top)
        .argument("../../rtl/syn/lint.vlt")
        .include_dir("../../rtl/prim")
        .files(files)
        .files(bench)
        .trace(false)
        .reset_low("rst_ni")
        .suffixes("_i", "_o")
}

fn main() {
    let rtl = Path::new("../../rtl");
    let some = |files: &[&str]| files.iter().map(|file| rtl.join(file)).collect::<Vec<_>>();
    // A list of sources.
    let list = |name: &str| {
        let path = rtl.join(name);
        println!("cargo:rerun-if-changed={}", path.display());
        let Ok(text) = std::fs::read_to_string(&path) else {
            panic!("{} cannot be read", path.display())
        };
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|l| !l.is_empty() && !l.starts_with("//") && !l.starts_with('#'));
        lines.map(|l| rtl.join(l)).collect::<Vec<_>>()
    };
    let board = [list("weft_card.f"), list("boards/boards.f")].concat();
    Project::new()
        .design(design("serial_host", "serial_host", some(SERIAL)).optimise(false))
        .design(design("serial_uart", "serial_uart_bench", some(UART)).optimise(false))
        .design(design("gmii", "gmii_bench", some(GMII)).optimise(false))
        // As the bitstream of the ECPIX-5 has it: rtl/boards/ecpix5/build.py.
        .design(design("serial_board", "serial_board", board))
        .build();
}
