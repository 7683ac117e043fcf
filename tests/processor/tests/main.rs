//! The control processor in RTL, with its firmware.

mod card;
mod crashes;
mod device;
mod engine;
mod gdb;
mod processor;
mod second_port;
