//! What the engine counts.

/// What the engine counts; everything since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineStats {
    /// Calls of `on_report`, `on_timer` and the verbs.
    pub steps: u64,
    /// Frames received that belong to no flow of the card.
    pub frames: u64,
    /// Frames of these that could not be parsed or were not for this station.
    pub frames_ignored: u64,
    /// Frames of these that were for the host's own stack.
    pub frames_for_host: u64,
    /// TCP segments received.
    pub segments: u64,
    /// TCP segments whose payload the engine had to handle, wholly or in part.
    pub segments_raw: u64,
    /// FPDUs received by the card's hands.
    pub fpdus_card: u64,
    /// FPDUs received by the engine's hands.
    pub fpdus_software: u64,
    /// ATTACH rows written.
    pub attaches: u64,
    /// ATTACH rows refused by the card.
    pub attaches_refused: u64,
    /// Jobs posted (frames sent by `send_frame` not counted).
    pub jobs: u64,
    /// Frames sent by `send_frame`.
    pub frames_sent: u64,
    /// Times the job ring was full.
    pub jobs_full: u64,
    /// Segments or FPDUs sent again.
    pub retransmits: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Entries into fast recovery.
    pub fast_recoveries: u64,
    /// Window probes sent.
    pub window_probes: u64,
    /// Duplicate or out-of-window segments received.
    pub duplicates: u64,
    /// Acknowledgments sent without data.
    pub acks_sent: u64,
    /// Terminates sent.
    pub terminates_sent: u64,
    /// Terminates received.
    pub terminates_received: u64,
    /// Terminates of these in the byte-swapped layout of Linux siw.
    pub terminates_siw_layout: u64,
    /// FPDUs with pad bytes that are not zero.
    pub nonzero_pads: u64,
    /// RSTs sent.
    pub resets_sent: u64,
    /// RSTs received and believed.
    pub resets_received: u64,
    /// Jobs that the card reported as failed.
    pub jobs_failed: u64,
}
