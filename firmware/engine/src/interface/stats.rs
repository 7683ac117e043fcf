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
    /// TCP segments of these that were nothing for the fast path.
    pub segments_slow: u64,
    /// TCP segments whose payload the engine had to handle, wholly or in part.
    pub segments_raw: u64,
    /// TCP segments of these whose last FPDU the card carries over to the next one.
    pub segments_carried: u64,
    /// TCP segments beyond a gap, with octets that the card has placed there.
    pub segments_beyond: u64,
    /// Segments dropped, wholly or in part, because the memory for what lies beyond gaps was used up.
    pub segments_without_memory: u64,
    /// Streams ended because there is no memory for an FPDU of theirs, or for what lay in slots of them.
    pub streams_without_memory: u64,
    /// Segments whose payload stayed in its raw slot.
    pub segments_held: u64,
    /// Pieces of such payload that were copied after all.
    pub segments_spilled: u64,
    /// Replay jobs posted.
    pub replays: u64,
    /// Replay jobs that failed, were refused, or met an FPDU with an error.
    pub replays_failed: u64,
    /// Bytes of the stream that the card has done in replays.
    pub bytes_replayed: u64,
    /// FPDUs received by the card's hands.
    pub fpdus_card: u64,
    /// FPDUs of these that the card has checked only: the engine placed them.
    pub fpdus_checked: u64,
    /// FPDUs received by the engine's hands.
    pub fpdus_software: u64,
    /// Queue pairs, and entries of their queues, that deregistrations have looked at.
    pub slots_looked_at: u64,
    /// Messages that took an element of a shared receive queue.
    pub shared_receives: u64,
    /// Atomics of peers that were done.
    pub atomics: u64,
    /// FPDUs made by the engine's hands.
    pub fpdus_made: u64,
    /// Bytes that the engine has copied: between frames, its own memory, send buffers and registered memory.
    pub bytes_copied: u64,
    /// Bytes over which the engine has computed a CRC, to send or to check.
    pub bytes_checked: u64,
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
    /// Tail loss probes sent (RFC 8985).
    pub tail_probes: u64,
    /// Segments with data that a switch has marked (ECN).
    pub marked: u64,
    /// Times that the congestion window was reduced because the peer told of marks.
    pub ecn_reductions: u64,
    /// Reductions of the congestion window taken back, because nothing was lost.
    pub recoveries_undone: u64,
    /// Window probes sent.
    pub window_probes: u64,
    /// Duplicate or out-of-window segments received.
    pub duplicates: u64,
    /// Acknowledgments sent without data.
    pub acks_sent: u64,
    /// Segments with data that an acknowledgment of its own went beside, for a gap that they cannot tell.
    pub acks_beside_data: u64,
    /// Segments with data on the fast path that found something of this end under way: each may acknowledge it.
    pub acks_with_data: u64,
    /// Read Responses that no Read asked for, or not so.
    pub responses_unasked: u64,
    /// Streams ended because the source of a Read to be answered was deregistered or invalidated.
    pub reads_revoked: u64,
    /// Start-ups refused for a revision of MPA that is not spoken here.
    pub revisions_refused: u64,
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
    /// Segments refused, by the card or the engine: no ACK flag.
    pub refused_no_ack: u64,
    /// Segments refused: beyond the window.
    pub refused_window: u64,
    /// Segments refused: older than TS.Recent (PAWS).
    pub refused_timestamp: u64,
    /// Segments refused: without the timestamp that was agreed.
    pub refused_no_timestamp: u64,
    /// Segments whose acknowledgment number is beyond what was sent, or too old (RFC 5961 §5).
    pub acks_unacceptable: u64,
    /// Acknowledgments sent to whoever sent something unacceptable.
    pub challenge_acks: u64,
    /// Such acknowledgments not sent, because there were too many.
    pub challenge_acks_withheld: u64,
    /// TCP frames passed up without a flow although the card has one for them (group address, fragment).
    pub frames_of_bound: u64,
    /// TCP frames dropped: to a group address, or from an address that is nobody's.
    pub frames_from_nobody: u64,
    /// Connections refused because the peer's MSS leaves no room for an FPDU.
    pub segments_too_small: u64,
    /// Words of a neighbour's other address that came within a second of its last move: the last of them counts when that is over.
    pub moves_put_off: u64,
    /// SYNs dropped: nobody takes events, or a cookie cannot say so small an MSS.
    pub syns_dropped: u64,
    /// Connections that came in, said nothing that is whole, and gave way to others.
    pub strangers_gave_way: u64,
    /// Requests rejected here: the line was full, or the backlog had no room in time.
    pub requests_rejected: u64,
    /// Connections refused because there was no place for one.
    pub connections_refused: u64,
    /// SYN-ACKs sent with a cookie, because the table of half-open connections was full.
    pub syn_cookies_sent: u64,
    /// Connections made from such a cookie.
    pub syn_cookies_taken: u64,
    /// Half-open connections forgotten because nothing came.
    pub half_open_forgotten: u64,
    /// Connections in TIME_WAIT that were forgotten before its end, because a new one needed the place.
    pub time_waits_cut: u64,
    /// RSTs not sent, because there were too many.
    pub resets_withheld: u64,
    /// Reports of an earlier binding of their flow.
    pub reports_stale: u64,
    /// Reports that make no sense, or whose raw frame could not be written.
    pub reports_unusable: u64,
    /// FPDUs that the card could not write to host memory.
    pub placements_failed: u64,
}
