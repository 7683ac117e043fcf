//! The peer's stream: octets by number, in FPDUs of lengths that repeat.

/// Lengths of the FPDUs, over and over.
pub const FPDUS: [u32; 2] = [3, 2];
/// Octets after which they repeat.
pub const PERIOD: u32 = FPDUS[0] + FPDUS[1];

/// Where the FPDU that has this octet begins.
pub fn start_of(octet: u32) -> u32 {
    let within = octet % PERIOD;
    octet
        - if within < FPDUS[0] {
            within
        } else {
            within - FPDUS[0]
        }
}

/// Behind the FPDU that has this octet.
pub fn end_of(octet: u32) -> u32 {
    let start = start_of(octet);
    start
        + if start.is_multiple_of(PERIOD) {
            FPDUS[0]
        } else {
            FPDUS[1]
        }
}

/// An FPDU begins here.
pub fn is_boundary(octet: u32) -> bool {
    start_of(octet) == octet
}

/// Behind the last FPDU that lies whole between an FPDU's first octet and `end`.
pub fn whole_until(from: u32, end: u32) -> u32 {
    let mut at = from;
    while at < end && end_of(at) <= end {
        at = end_of(at);
    }
    at
}

/// A set of octets below 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Octets(u64);

impl Octets {
    fn mask(from: u32, to: u32) -> u64 {
        (from..to.max(from)).fold(0, |mask, octet| mask | 1 << octet)
    }

    /// Adds `[from, to)`.
    pub fn add(&mut self, from: u32, to: u32) {
        self.0 |= Self::mask(from, to);
    }

    /// One of `[from, to)` is in it.
    pub fn meets(self, from: u32, to: u32) -> bool {
        self.0 & Self::mask(from, to) != 0
    }

    /// All of `[from, to)` are in it.
    pub fn has(self, from: u32, to: u32) -> bool {
        let mask = Self::mask(from, to);
        self.0 & mask == mask
    }

    /// Adds those of another set.
    pub fn add_all(&mut self, other: Octets) {
        self.0 |= other.0;
    }

    /// How many stretches without a gap there are.
    pub fn stretches(self) -> u32 {
        (self.0 & !(self.0 << 1)).count_ones()
    }

    /// The first.
    pub fn first(self) -> Option<u32> {
        (self.0 != 0).then(|| self.0.trailing_zeros())
    }

    /// Those that are in this and not in the other.
    pub fn but(self, other: Octets) -> Octets {
        Octets(self.0 & !other.0)
    }

    /// It is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Takes away what is before `octet`.
    pub fn forget_before(&mut self, octet: u32) {
        self.0 &= !Self::mask(0, octet);
    }

    /// Counts anew, from `by` octets later.
    pub fn rebase(&mut self, by: u32) {
        self.0 >>= by;
    }

    /// Behind the octets that follow `from` without a gap.
    pub fn end_from(self, from: u32) -> u32 {
        (from..64).find(|at| self.0 >> at & 1 == 0).unwrap_or(64)
    }
}
