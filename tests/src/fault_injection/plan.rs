//! What the applications of a run are going to do, from its seed.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weft_hostdrv::cm::{ConnParam, RtrKinds};

/// Work requests of each side.
pub const OPS: usize = 12;
/// Bytes set aside for each of them.
pub const SLOT: usize = 12_000;

/// How bytes are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Send.
    Send,
    /// RDMA Write.
    Write,
    /// RDMA Read.
    Read,
}

/// One message; its bytes are those of its slot.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// How.
    pub kind: Kind,
    /// Bytes.
    pub len: usize,
}

/// A connection and its traffic.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Decides everything here.
    pub seed: u64,
    /// The side that connects; the other listens.
    pub client: usize,
    /// The port.
    pub port: u16,
    /// How it connects.
    pub connect: ConnParam,
    /// How the other accepts.
    pub accept: ConnParam,
    /// What each side posts.
    pub ops: [Vec<Op>; 2],
}

impl Plan {
    /// From a seed.
    pub fn new(seed: u64, client: usize, port: u16) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let kinds = [None, None, Some(RtrKinds::WRITE), Some(RtrKinds::SEND)];
        let connect = ConnParam {
            peer_to_peer: Some(rng.random_bool(0.75)),
            rtr: kinds[rng.random_range(0..kinds.len())],
            crc: rng.random_bool(0.8),
            markers: rng.random_bool(0.3),
            ..ConnParam::default()
        };
        let accept = ConnParam {
            crc: connect.crc,
            markers: rng.random_bool(0.3),
            ..ConnParam::default()
        };
        let ops = [0, 1].map(|_| {
            let kinds = [Kind::Send, Kind::Write, Kind::Read];
            let op = |_| Op {
                kind: kinds[rng.random_range(0..3)],
                len: rng.random_range(0..=SLOT),
            };
            (0..OPS).map(op).collect()
        });
        let mut plan = Self {
            seed,
            client,
            port,
            connect,
            accept,
            ops,
        };
        // Without peer-to-peer the client has to speak first.
        plan.ops[client][0].kind = Kind::Write;
        // The server's last word, behind a fence: the client may close when it has come.
        plan.ops[1 - client][OPS - 1].kind = Kind::Send;
        plan
    }

    /// The bytes that a side sends.
    pub fn source(&self, side: usize) -> Vec<u8> {
        let salt = (self.seed as usize).wrapping_mul(151) + side * 89;
        let byte = |n: usize| (n.wrapping_mul(31) + (n >> 8) * 7 + salt) as u8 & 0x7f;
        (0..OPS * SLOT).map(byte).collect()
    }

    /// The numbers of a side's Sends, in order.
    pub fn sends(&self, side: usize) -> Vec<usize> {
        let is_send = |n: &usize| self.ops[side][*n].kind == Kind::Send;
        (0..OPS).filter(is_send).collect()
    }
}
