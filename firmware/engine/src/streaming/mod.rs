//! A connection in stream mode, which carries plain bytes, and the way from there to MPA. It knows TCP's output, which sends
//! them, and MPA's negotiation, which may follow.

pub mod byte_stream;
pub mod ring;
pub mod stream_to_mpa;
