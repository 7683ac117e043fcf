//! The card's flow lookup: two banks of buckets, each for one flow (`docs/card.md`, FLOW_KEY).

use alloc::vec;
use alloc::vec::Vec;

use weft_layout::{table, FlowKeyRow};
use weft_wire::crc32c::crc32c;

use crate::cm::Endpoint;
use crate::port::Port;

/// Rows moved at most to make room for one.
const MAX_MOVES: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    flow: u16,
    remote: Endpoint,
    local: Endpoint,
}

impl Key {
    fn hash(&self) -> u32 {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&self.remote.ip);
        bytes[4..8].copy_from_slice(&self.local.ip);
        bytes[8..10].copy_from_slice(&self.remote.port.to_be_bytes());
        bytes[10..].copy_from_slice(&self.local.port.to_be_bytes());
        crc32c(&bytes)
    }

    fn row(&self) -> FlowKeyRow {
        FlowKeyRow {
            valid: 1,
            flow: self.flow,
            remote_ip: self.remote.ip,
            local_ip: self.local.ip,
            remote_port: self.remote.port.to_be_bytes(),
            local_port: self.local.port.to_be_bytes(),
        }
    }
}

/// The engine's copy of the table.
#[derive(Debug)]
pub struct FlowKeys {
    rows: Vec<Option<Key>>,
    buckets: usize,
}

impl FlowKeys {
    /// Empty.
    pub fn new(num_flows: u16) -> Self {
        let buckets = usize::from(num_flows.max(1)).next_power_of_two();
        FlowKeys {
            rows: vec![None; 2 * buckets],
            buckets,
        }
    }

    fn place(&self, key: &Key, bank: usize) -> usize {
        let hash = key.hash();
        let bits = if bank == 0 { hash } else { hash >> 16 };
        bank * self.buckets + (bits as usize & (self.buckets - 1))
    }

    /// Adds a flow, moving others to their other bank if need be. False if there is no room.
    pub fn insert<P: Port>(
        &mut self,
        flow: u16,
        remote: Endpoint,
        local: Endpoint,
        port: &mut P,
    ) -> bool {
        let new = Key {
            flow,
            remote,
            local,
        };
        // Two chains of moves are possible: from either place of the new key. A chain is found
        // first and then carried out from its far end, so that every flow is always found.
        for bank in 0..2 {
            let mut chain = Vec::with_capacity(MAX_MOVES);
            let mut at = self.place(&new, bank);
            loop {
                if chain.contains(&at) {
                    break;
                }
                chain.push(at);
                let Some(there) = self.rows[at] else {
                    self.shift(&chain, new, port);
                    return true;
                };
                if chain.len() > MAX_MOVES {
                    break;
                }
                let other = 1 - at / self.buckets;
                at = self.place(&there, other);
            }
        }
        false
    }

    /// Moves each row of the chain to the next place of it, and the new key to the first.
    fn shift<P: Port>(&mut self, chain: &[usize], new: Key, port: &mut P) {
        for step in (1..chain.len()).rev() {
            let (from, to) = (chain[step - 1], chain[step]);
            if let Some(key) = self.rows[from] {
                self.write(to, Some(key), port);
                self.write(from, None, port);
            }
        }
        self.write(chain[0], Some(new), port);
    }

    /// Removes a flow.
    pub fn remove<P: Port>(&mut self, flow: u16, port: &mut P) {
        for at in 0..self.rows.len() {
            if self.rows[at].is_some_and(|key| key.flow == flow) {
                self.write(at, None, port);
            }
        }
    }

    fn write<P: Port>(&mut self, at: usize, key: Option<Key>, port: &mut P) {
        self.rows[at] = key;
        let row = key.map(|key| key.row()).unwrap_or_default();
        port.write_table(table::FLOW_KEY, at as u32, &row.to_bytes());
    }
}
