//! The engine as its user has it: the object, its calls, the same as commands, the intake of posted work, and what an engine
//! on the card's processor has. It knows everything, and nothing knows it.

pub mod budget;
pub mod commands;
pub mod conn_info;
pub mod engine;
pub mod on_card;
pub mod raw_ring;
pub mod services;
pub mod wqe_intake;
