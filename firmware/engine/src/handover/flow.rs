//! Who has a flow's received stream, the card or the engine, and how it passes between them.
//!
//! This module alone has the engine's half of the protocol (`docs/handover.md`), and decides without doing anything: it has
//! no card, no clock and no memory of octets. The modules `attach` and `replay` do what it decides. `tests/explore` runs it
//! against a card in every order of events.
//!
//! ```text
//!             bound                         ATTACH applied
//!   Nobody ─────────► Engine ─────────────────────────────────► Card
//!      ▲                │ ▲                                       │
//!      └── flow left ───┘ └── a payload segment came up raw ──────┘
//! ```

use super::out_of_order::OutOfOrder;

/// After how many attempts in vain the engine goes another way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ReplayPolicy {
    /// Refusals after which the window's right edge stands still, so that the sender has to pause.
    pub refusals_before_pause: u8,
    /// Replays overtaken by what came meanwhile, after which the rest is copied: then the card can have the flow.
    pub overtaken_before_copy: u8,
    /// Payload in order is left to replays as well. So where software is slower than the line: its attempts to attach are refused, and who
    /// copied what comes meanwhile would copy everything.
    pub replays_in_order: bool,
}

impl ReplayPolicy {
    /// A stream that is cut everywhere is overtaken for a while at each loss; to copy it would cost more.
    pub const HOST: ReplayPolicy = ReplayPolicy {
        refusals_before_pause: 6,
        overtaken_before_copy: 200,
        replays_in_order: false,
    };

    /// An engine on the card's processor.
    pub const ON_CARD: ReplayPolicy = ReplayPolicy {
        replays_in_order: true,
        ..ReplayPolicy::HOST
    };
}

/// Who frames, checks and places what arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The card does not know the flow.
    #[default]
    Nobody,
    /// Software, from raw slots.
    Engine,
    /// The card.
    Card,
}

/// What a segment's report says of its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// It has payload that counts: neither SYN nor RST.
    pub payload: bool,
    /// Its frame lies in a raw slot.
    pub raw: bool,
    /// The card has the flow behind it.
    pub attached: bool,
    /// It is in order, and ends inside an FPDU.
    pub cut: bool,
}

/// Whether segments end inside FPDUs. One costs the flow, if its row does not let the card carry what is left over; from then on it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Cuts {
    /// No segment has ended inside an FPDU.
    #[default]
    None,
    /// One has, and the row does not say so.
    Seen,
    /// The row asks for it.
    Told,
}

/// What the received stream is like at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// It stands between two FPDUs, and nothing is buffered or being replayed.
    pub between: bool,
    /// The next report is at hand, so that an attempt would be for nothing.
    pub more: bool,
    /// A gap: what is missing is sent again within the window that was told.
    pub gap: bool,
    /// Octets that the peer may still send.
    pub room: u32,
    /// A peer with less room than this may wait for more.
    pub enough: u32,
}

impl Stream {
    fn peer_may_wait(&self) -> bool {
        self.room < self.enough
    }
}

/// The window's right edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Edge {
    /// It moves with what is consumed.
    #[default]
    Moves,
    /// It stands still, so that the sender has to pause.
    Stands,
    /// It stands still behind the FPDU that the sender's pause has cut.
    StandsBehindFpdu,
}

/// How far a window that stood still has to open now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Not at all.
    No,
    /// Up to the end of the FPDU at the front.
    ToFpdu,
    /// Wholly.
    All,
}

/// The engine's half of a flow's hand-over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FlowHandover {
    owner: Owner,
    /// This binding's mark in the card's reports.
    epoch: u8,
    /// The flow of the binding that was left.
    left: Option<u16>,
    /// Refused attempts since the card had the flow last.
    refused: u8,
    /// Reports to let pass before the next attempt.
    wait: u8,
    /// Replays of a stream without a gap at whose ends more lay in slots, one after the other.
    overtaken: u8,
    policy: ReplayPolicy,
    edge: Edge,
    /// An FPDU for the engine is in the segment whose report comes next.
    for_engine: bool,
    /// The card has found an error in it.
    in_error: bool,
    cuts: Cuts,
    /// Payload that lies in raw slots.
    pub out_of_order: OutOfOrder,
}

impl FlowHandover {
    // ------------------------------------------------------------------ bindings

    /// The flow's rows are written, and reports with this epoch are its own.
    pub fn bind(&mut self, epoch: u8, policy: ReplayPolicy) {
        let out_of_order = core::mem::take(&mut self.out_of_order);
        *self = FlowHandover {
            owner: Owner::Engine,
            epoch,
            policy,
            out_of_order,
            ..FlowHandover::default()
        };
    }

    /// The lookup has no room for the flow's key.
    pub fn bind_failed(&mut self) {
        self.owner = Owner::Nobody;
    }

    /// The card's rows of this flow are cleared; what it has reported before is still this connection's.
    pub fn leave(&mut self, flow: u16) {
        self.owner = Owner::Nobody;
        self.left = Some(flow);
        self.edge = Edge::Moves;
    }

    /// The FLOW_RX row is no longer valid: all payload comes up raw.
    pub fn take_away(&mut self) {
        if self.owner == Owner::Card {
            self.owner = Owner::Engine;
        }
        self.edge = Edge::Moves;
    }

    /// The card knows the flow.
    pub fn is_bound(&self) -> bool {
        self.owner != Owner::Nobody
    }

    /// The card has the stream.
    #[inline]
    pub fn is_attached(&self) -> bool {
        self.owner == Owner::Card
    }

    /// This binding's epoch.
    #[inline]
    pub fn epoch(&self) -> u8 {
        self.epoch
    }

    /// The connection had this flow, in the binding with this epoch.
    pub fn has_left(&self, flow: u16, epoch: u8) -> bool {
        self.left == Some(flow) && self.epoch == epoch
    }

    // ------------------------------------------------------------------ reports

    /// A segment's report of this binding. The card leaves a flow with a payload segment that comes up raw, and with nothing else: a
    /// report of another kind may be from before the flow was attached.
    pub fn segment(&mut self, told: Told) {
        if self.owner == Owner::Card && told.raw && told.payload && !told.attached {
            self.owner = Owner::Engine;
            self.refused = 0;
            self.wait = 0;
            if told.cut && !self.in_error && self.cuts == Cuts::None {
                self.cuts = Cuts::Seen;
            }
        }
    }

    /// An FPDU's report: it is for the engine.
    pub fn fpdu_for_engine(&mut self) {
        self.for_engine = true;
    }

    /// An FPDU's report: it has an error, which the engine finds itself in the raw frame.
    pub fn fpdu_in_error(&mut self) {
        self.in_error = true;
    }

    /// The FPDUs before this report were for the engine, or one had an error.
    pub fn needs_frame(&self) -> bool {
        self.for_engine || self.in_error
    }

    /// The report of the segment or replay behind its FPDUs' is here: some of them were for the engine.
    pub fn take_for_engine(&mut self) -> bool {
        self.in_error = false;
        core::mem::take(&mut self.for_engine)
    }

    /// FPDUs for the engine are in the segment whose report comes next.
    #[inline]
    pub fn awaits_frame(&self) -> bool {
        self.for_engine
    }

    // ------------------------------------------------------------------ cut segments

    /// Its segments are cut, and the row says so.
    pub fn was_cut(&self) -> bool {
        self.cuts == Cuts::Told
    }

    /// True once: the row is to say so from now on. Only of a flow that the card does not have.
    pub fn begins_to_be_cut(&mut self) -> bool {
        let begins = self.cuts == Cuts::Seen && self.owner == Owner::Engine;
        if begins {
            self.cuts = Cuts::Told;
        }
        begins
    }

    // ------------------------------------------------------------------ attaching

    /// A report was handled: the flow may be offered to the card now.
    pub fn may_attach(&mut self, stream: &Stream) -> bool {
        if self.owner != Owner::Engine || !stream.between {
            return false;
        }
        // A sender that has to pause leaves the moment open in which it does.
        if self.wait > 0 && !self.edge_stands() {
            self.wait -= 1;
            return false;
        }
        if stream.more {
            self.raw_goes_on();
        }
        !stream.more
    }

    /// What became of it. Refused: raw segments are on their way, so that a report comes.
    pub fn attach_answered(&mut self, applied: bool) {
        if applied {
            self.owner = Owner::Card;
            (self.refused, self.wait, self.overtaken) = (0, 0, 0);
            self.edge = Edge::Moves;
        } else {
            self.raw_goes_on();
        }
    }

    /// Raw segments keep coming: fewer attempts, and in the end the sender has to pause.
    pub fn raw_goes_on(&mut self) {
        self.refused = self
            .refused
            .saturating_add(1)
            .min(self.policy.refusals_before_pause);
        self.wait = (1 << self.refused.min(4)) - 1;
        if self.refused >= self.policy.refusals_before_pause && self.edge == Edge::Moves {
            self.edge = Edge::Stands;
        }
    }

    /// The window's right edge stands still.
    #[inline]
    pub fn edge_stands(&self) -> bool {
        self.edge != Edge::Moves
    }

    /// The edge stands, and the sender may wait for it to move: that is not to last, so there is a timer.
    pub fn holds_up(&self, stream: &Stream) -> bool {
        self.edge_stands() && stream.peer_may_wait()
    }

    /// How far the window opens where the sender has used it up inside an FPDU: the flow cannot be attached before the rest of that has
    /// come. A sender that goes beyond it, or does not send the little that it may, gets the whole window and another round.
    pub fn open_if_stuck(&mut self, stream: &Stream) -> Opening {
        let inside = !stream.between && !stream.gap && !self.out_of_order.is_replaying();
        if !inside || !stream.peer_may_wait() {
            return Opening::No;
        }
        match self.edge {
            Edge::Stands => {
                self.edge = Edge::StandsBehindFpdu;
                Opening::ToFpdu
            }
            Edge::StandsBehindFpdu if stream.room == 0 => self.open(),
            Edge::StandsBehindFpdu | Edge::Moves => Opening::No,
        }
    }

    /// The window moves again, and attempts are counted anew.
    pub fn open(&mut self) -> Opening {
        self.edge = Edge::Moves;
        (self.refused, self.overtaken) = (0, 0);
        Opening::All
    }

    // ------------------------------------------------------------------ replays

    /// A raw segment's payload may stay in its slot: beyond a gap, and behind that what follows. At the front of a stream of which nothing is
    /// buffered (`empty`) it is copied, since the flow is attached behind its last FPDU; a replay would be overtaken. Who replays in order
    /// copies when replays were overtaken.
    pub fn may_stay_in_slot(&self, empty: bool, in_order: bool) -> bool {
        let at_front = self.policy.replays_in_order && !self.is_overtaken(false);
        !self.out_of_order.is_empty() || empty && (!in_order || at_front)
    }

    /// A replay is over. Where more lies in slots and the stream has no gap, what came meanwhile has overtaken it.
    pub fn replay_ended(&mut self, gap: bool) {
        self.overtaken = match self.out_of_order.is_empty() || gap {
            true => 0,
            false => (self.overtaken + 1).min(self.policy.overtaken_before_copy),
        };
    }

    /// Replays do not get to the end of the stream: what comes is copied until the card has the flow, or there is a gap.
    pub fn is_overtaken(&self, gap: bool) -> bool {
        self.overtaken >= self.policy.overtaken_before_copy && !gap
    }
}
