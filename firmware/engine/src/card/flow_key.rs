//! The card's flow lookup: two banks of buckets, each for two flows (`docs/registers.md`, FLOW_KEY).

use alloc::vec;
use alloc::vec::Vec;

use weft_layout::{table, FlowKeyRow};

use crate::card::port::Port;
use crate::interface::cm::Endpoint;
use crate::interface::random::HashSecret;
use crate::interface::resource_split::ResourceSplit;

/// Places looked at to make room for one more flow.
const MAX_LOOKED_AT: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    flow: u16,
    remote: Endpoint,
    local: Endpoint,
}

impl Key {
    fn bytes(&self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&self.remote.ip);
        bytes[4..8].copy_from_slice(&self.local.ip);
        bytes[8..10].copy_from_slice(&self.remote.port.to_be_bytes());
        bytes[10..].copy_from_slice(&self.local.port.to_be_bytes());
        bytes
    }

    fn row(&self) -> FlowKeyRow {
        FlowKeyRow {
            valid: FlowKeyRow::VALID,
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
    /// Of a bank.
    buckets: usize,
    split: ResourceSplit,
    secret: HashSecret,
}

impl FlowKeys {
    /// Bytes of the rows of so many flows.
    pub const fn bytes(flows: usize) -> usize {
        2 * flows * size_of::<Option<Key>>()
    }

    /// Empty.
    pub fn new(num_flows: u16, split: ResourceSplit, secret: HashSecret) -> Self {
        let flows = usize::from(num_flows.max(2)).next_power_of_two();
        FlowKeys {
            rows: vec![None; 2 * flows],
            buckets: flows / 2,
            split,
            secret,
        }
    }

    /// The rows of a key's bucket in a bank, but for those of another engine.
    fn bucket(&self, key: &Key, bank: usize) -> impl Iterator<Item = usize> {
        let hash = self.secret.hash(&key.bytes());
        let bits = if bank == 0 { hash } else { hash >> 16 };
        let at = 2 * (bank * self.buckets + (bits as usize & (self.buckets - 1)));
        self.split.ways().map(move |way| at + way)
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
        // The shortest chain of moves is found first and then carried out from its far end, so that every flow is
        // always found. Each place is looked at with the one whose row would move to it.
        let mut looked_at: Vec<(usize, Option<usize>)> = Vec::with_capacity(MAX_LOOKED_AT);
        for bank in 0..2 {
            looked_at.extend(self.bucket(&new, bank).map(|at| (at, None)));
        }
        let mut next = 0;
        while let Some((at, _)) = looked_at.get(next).copied() {
            let Some(there) = self.rows[at] else {
                let mut chain = Vec::new();
                let mut step = Some(next);
                while let Some((at, before)) = step.map(|n| looked_at[n]) {
                    chain.push(at);
                    step = before;
                }
                chain.reverse();
                self.shift(&chain, new, port);
                return true;
            };
            let other = 1 - at / (2 * self.buckets);
            for place in self.bucket(&there, other) {
                let known = looked_at.iter().any(|(at, _)| *at == place);
                if !known && looked_at.len() < MAX_LOOKED_AT {
                    looked_at.push((place, Some(next)));
                }
            }
            next += 1;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::port::{Full, MemoryError};
    use alloc::vec::Vec;
    use weft_layout::{AttachRow, Job, ReceiveElement};

    const SECRET: HashSecret = HashSecret([0x4b5a_6978, 0x0f1e_2d3c, 0x89ab_cdef, 0x0123_4567]);

    /// The table as the card has it, and its secret.
    struct Table(Vec<FlowKeyRow>, HashSecret);

    impl Table {
        /// What the card finds for a key.
        fn find(&self, remote: Endpoint, local: Endpoint) -> Option<u16> {
            let buckets = self.0.len() / 4;
            let key = Key {
                flow: 0,
                remote,
                local,
            };
            let hash = self.1.hash(&key.bytes()) as usize;
            let places = [hash % buckets, buckets + (hash >> 16) % buckets];
            let rows = places.iter().flat_map(|at| &self.0[2 * at..2 * at + 2]);
            let mut found = rows.filter(|row| {
                row.valid()
                    && row.remote_ip == remote.ip
                    && row.remote_port == remote.port.to_be_bytes()
                    && row.local_port == local.port.to_be_bytes()
            });
            found.next().map(|row| row.flow)
        }
    }

    impl Port for Table {
        fn post_job(&mut self, _: &[u8; Job::SIZE]) -> Result<u32, Full> {
            Err(Full)
        }
        fn send_frame(&mut self, _: &[u8]) -> Result<(), Full> {
            Err(Full)
        }
        fn jobs_done(&self) -> u32 {
            0
        }
        fn refresh_jobs_done(&mut self) -> u32 {
            0
        }
        fn write_table(&mut self, number: u8, index: u32, row: &[u8; 64]) {
            assert_eq!(number, table::FLOW_KEY);
            self.0[index as usize] = FlowKeyRow::from_bytes(row);
        }
        fn read_table(&mut self, _: u8, _: u32) -> [u8; 64] {
            [0; 64]
        }
        fn raw_seen(&self) -> u32 {
            0
        }
        fn attach(&mut self, _: u16, _: &AttachRow) -> bool {
            false
        }
        fn write_element(&mut self, _: u16, _: u32, _: &ReceiveElement) {}
        fn rq_tail(&mut self, _: u16, _: u32) {}
        fn send_memory(&mut self, _: u16, _: u32) -> Option<u64> {
            None
        }
        fn rq_memory(&mut self, _: u16, _: u8) -> Option<u64> {
            None
        }
        fn copy_in(&mut self, _: u64, _: &[u8]) -> Result<(), MemoryError> {
            Err(MemoryError)
        }
        fn copy_out(&mut self, _: u64, _: &mut [u8]) -> Result<(), MemoryError> {
            Err(MemoryError)
        }
    }

    /// All flows of a card fit, whatever their addresses, and every one is found, whatever had to be moved for the next.
    #[test]
    fn all_flows_fit_and_are_found() {
        for seed in 0..20u32 {
            let flows = 256u16;
            let secret = [HashSecret::default(), SECRET][seed as usize / 2 % 2];
            let mut keys = FlowKeys::new(flows, ResourceSplit::Whole, secret);
            let rows = vec![FlowKeyRow::default(); 2 * usize::from(flows)];
            let mut card = Table(rows, secret);
            let local = Endpoint {
                ip: [10, 0, 0, 1],
                port: 4791,
            };
            // Neighbours, and spread over everything.
            let remote = |flow: u16| {
                let spread = (u32::from(flow) + 1000 * seed).wrapping_mul(0x9e37_79b1);
                Endpoint {
                    ip: if seed % 2 == 0 {
                        [10, 0, seed as u8, flow as u8]
                    } else {
                        spread.to_be_bytes()
                    },
                    port: 1000 + flow * 7,
                }
            };
            for flow in 0..flows {
                let fits = keys.insert(flow, remote(flow), local, &mut card);
                assert!(fits, "seed {seed}: flow {flow} does not fit");
                for known in 0..=flow {
                    let found = card.find(remote(known), local);
                    assert_eq!(found, Some(known), "seed {seed}: after {flow}");
                }
            }
            keys.remove(7, &mut card);
            assert_eq!(card.find(remote(7), local), None);
        }
    }

    /// Two engines that share a card write no row of each other, and each one's flows are found beside the other's.
    #[test]
    fn two_engines_have_rows_of_their_own() {
        let flows = 256u16;
        let rows = vec![FlowKeyRow::default(); 2 * usize::from(flows)];
        let mut card = Table(rows, SECRET);
        let local = Endpoint {
            ip: [10, 0, 0, 1],
            port: 4791,
        };
        let remote = |flow: u16| Endpoint {
            ip: [10, 0, 0, flow as u8],
            port: 1000 + flow * 7,
        };
        let mut had = vec![];
        for split in [ResourceSplit::First, ResourceSplit::Second] {
            let mut keys = FlowKeys::new(flows, split, SECRET);
            let own = split.flows(flows);
            let fit: Vec<_> = own
                .filter(|flow| keys.insert(*flow, remote(*flow), local, &mut card))
                .collect();
            let (wanted, way) = match split {
                ResourceSplit::Second => (32, 1),
                _ => (usize::from(flows) / 2, 0),
            };
            assert!(fit.len() >= wanted, "{split:?}: {} fit", fit.len());
            let places = keys.rows.iter().enumerate();
            let mut used = places.filter(|(_, key)| key.is_some());
            assert!(used.all(|(at, _)| at % 2 == way), "{split:?}");
            had.extend(fit);
            for flow in &had {
                assert_eq!(card.find(remote(*flow), local), Some(*flow), "{split:?}");
            }
        }
    }
}
