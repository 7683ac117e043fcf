//! RDMAP (RFC 5040, RFC 7306): what a message means that was checked and placed. It knows queues and memory, and neither
//! frames nor segments.

pub mod atomics;
pub mod early;
pub mod ends;
pub mod fault;
pub mod messages;
pub mod passing;
pub mod placement;
