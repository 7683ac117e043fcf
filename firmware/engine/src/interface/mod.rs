//! What an engine's user says and hears: verbs, connection management, settings, counts, errors, and the
//! numbers that nobody outside can foresee. It knows no other folder, so everybody may know it.

pub mod cm;
pub mod config;
pub mod error;
pub mod random;
pub mod resource_split;
pub mod rung;
pub mod stats;
pub mod verbs;
