//! The book's results from one command: a list of them, a step for each part of each, and a verdict for each.
//!
//! A step writes into a folder of its own, which gets its name when all of it is there. So a step that was ended is run again, and array jobs
//! of a batch system that share a file system can each do some.

pub mod figure;
pub mod list;
pub mod path;
pub mod run;
pub mod shard;
pub mod summary;
pub mod table;
pub mod verdict;
