//! Registered memory: regions and windows, as the card's STAG table has them, and who refers to each. It knows `card`, to write
//! that table, and no queue: who uses a region says so by a count.

pub mod job_data;
pub mod region;
