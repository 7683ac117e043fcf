//! MPA (RFC 5044, RFC 6581): what two sides agree on, the start-up, and the FPDUs that the card could not take. It hands
//! what it framed to `rdmap`, and knows nothing of segments.

pub mod framing;
pub mod negotiation;
pub mod startup;
