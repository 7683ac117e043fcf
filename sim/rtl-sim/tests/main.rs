//! The testbench crate on small designs.

mod checkers;
mod designs;
mod guide;
mod waves;
