//! The engine's picture of its card: what may be done to it ([`port::Port`]), when it saw what, where its flow lookup
//! has which connection, how much is taken of it at once. It knows `interface`, for addresses and for what is whose.

pub mod batch;
pub mod card_times;
pub mod clock;
pub mod flow_key;
pub mod flow_table;
pub mod port;
