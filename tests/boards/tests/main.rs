//! Modules of boards, and whole simulated boards.

mod gmii;
mod serial_board;
mod serial_host;
mod serial_uart;
