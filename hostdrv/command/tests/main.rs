//! The command as a user has it.

mod command;
mod debugger;
mod misuse;
mod weft;
