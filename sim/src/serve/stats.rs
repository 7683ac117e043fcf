//! What happened at served cards, as numbers.

use std::path::PathBuf;

use serde::Serialize;

use super::port::PortCounts;

/// All cards of a serving process.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    /// Simulated time since the start.
    pub simulated_ns: u64,
    /// Each card.
    pub cards: Vec<CardStats>,
}

/// One card. Counters go on over its clients.
#[derive(Clone, Debug, Serialize)]
pub struct CardStats {
    /// What it is.
    pub card: String,
    /// Where it is served.
    pub socket: PathBuf,
    /// Clients so far, with the present one.
    pub clients: u64,
    /// Is one there?
    pub connected: bool,
    /// Mappings there are now.
    pub mappings: u64,
    /// Mappings made.
    pub maps: u64,
    /// Mappings ended by the client.
    pub unmaps: u64,
    /// Requests to end mappings where there were none.
    pub unmaps_of_nothing: u64,
    /// Commands of clients.
    pub commands: u64,
    /// What was no message, no command, or a command with wrong fields; and replies that nobody had asked for.
    pub malformed: u64,
    /// Resets of the card: asked for, by function-level reset, and when a client went.
    pub resets: u64,
    /// Register reads that the card did not answer.
    pub unanswered_reads: u64,
    /// DMA accesses that the IOMMU refused.
    pub dma_refused: u64,
    /// DMA messages sent to clients.
    pub dma_messages: u64,
    /// Bytes that the card read of its clients' memory.
    pub dma_read_bytes: u64,
    /// Bytes that it wrote.
    pub dma_written_bytes: u64,
    /// Interrupts.
    pub interrupts: u64,
    /// Interrupts whose event descriptor took nothing.
    pub interrupts_lost: u64,
    /// Clock cycles that the card ran for.
    pub cycles: u64,
    /// Register reads.
    pub mmio_reads: u64,
    /// Register and doorbell writes.
    pub mmio_writes: u64,
    /// Frames of the port, if it leads outside.
    pub port: Option<PortCounts>,
}
