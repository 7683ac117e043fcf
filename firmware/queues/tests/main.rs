//! Queues as formats, and with both sides at work.

mod commands;
mod rings;
