//! Formats against captures, examples and themselves.

mod captures;
mod fpdu_examples;
mod round_trips;
