//! The command as a user has it.

mod command;
mod debugger;
mod figures;
mod hostile;
mod hosts;
mod json;
mod kept;
mod misuse;
#[cfg(feature = "sim")]
mod schema;
mod trace;
mod tutorials;
mod unheard;
mod weft;
