//! The tables behind TABLE_CMD, and the lookup of flows.

use weft_layout::{table, AttachRow, Counter, FlowKeyRow, FlowRxRow, FlowTxRow, StagRow};

use super::carried::Carried;
use super::counters::Counters;
use super::islands::Islands;

/// What HASH_SECRET adds to a key's CRC32C.
fn keyed(key: &[u8; 12], secret: u128) -> u32 {
    let bits = (0..96).filter(|i| key[i / 8] >> (i % 8) & 1 != 0);
    bits.fold(0, |hash, i| hash ^ (secret >> i) as u32)
}

/// The rows of FLOW_KEY in which a key may be, of a card with so many flows, and this HASH_SECRET.
pub fn keyed_places(key: &[u8; 12], flows: u32, secret: u128) -> [u32; 4] {
    let hash = crc32c::crc32c(key) ^ keyed(key, secret);
    let mask = flows / 2 - 1;
    let (low, high) = (2 * (hash & mask), flows + 2 * (hash >> 16 & mask));
    [low, low + 1, high, high + 1]
}

/// Those of a card without a secret.
pub fn key_places(key: &[u8; 12], flows: u32) -> [u32; 4] {
    keyed_places(key, flows, 0)
}

/// Is the slot before `mark` one of those from `seen` to the tail? Of all three 16 bits count.
fn is_unseen(mark: u32, seen: u32, tail: u32) -> bool {
    let unseen = (tail as u16).wrapping_sub(seen as u16);
    (mark as u16).wrapping_sub(seen as u16).wrapping_sub(1) < unseen
}

/// All tables of a card.
#[derive(Clone, Debug)]
pub struct Tables {
    flows: usize,
    /// What the hash of FLOW_KEY is keyed with.
    pub hash_secret: u128,
    keys: Vec<FlowKeyRow>,
    /// FLOW_RX.
    pub rx: Vec<FlowRxRow>,
    /// ATTACH: the receive positions.
    pub positions: Vec<AttachRow>,
    /// Raw slots that each flow has taken of its share, by its mark.
    pub taken: Vec<u32>,
    /// What flows carry from one segment to the next.
    pub carried: Carried,
    /// What was placed beyond gaps.
    pub islands: Islands,
    /// FLOW_TX.
    pub tx: Vec<FlowTxRow>,
    /// STAG.
    pub stags: Vec<StagRow>,
    /// RQ_TAIL doorbells.
    pub rq_tail: Vec<u32>,
}

/// The key of what the peer of this row sends.
pub fn peers_key(row: &FlowTxRow) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&row.remote_ip);
    key[4..8].copy_from_slice(&row.local_ip);
    key[8..10].copy_from_slice(&row.remote_port);
    key[10..].copy_from_slice(&row.local_port);
    key
}

impl Tables {
    /// Empty tables; both numbers are powers of two.
    pub fn new(flows: usize, stags: usize) -> Self {
        Self {
            flows,
            hash_secret: 0,
            keys: vec![FlowKeyRow::default(); 2 * flows],
            rx: vec![FlowRxRow::default(); flows],
            positions: vec![AttachRow::default(); flows],
            taken: vec![0; flows],
            carried: Carried::default(),
            islands: Islands::default(),
            tx: vec![FlowTxRow::default(); flows],
            stags: vec![StagRow::default(); stags],
            rq_tail: vec![0; flows],
        }
    }

    /// The flow of a key: remote_ip, local_ip, remote_port, local_port as on the wire.
    pub fn lookup(&self, key: &[u8; 12]) -> Option<u16> {
        keyed_places(key, self.flows as u32, self.hash_secret)
            .into_iter()
            .map(|i| &self.keys[i as usize])
            .find_map(|row| {
                let same = row.remote_ip == key[..4]
                    && row.local_ip == key[4..8]
                    && row.remote_port == key[8..10]
                    && row.local_port == key[10..];
                (row.valid() && same).then_some(row.flow)
            })
    }

    /// Runs a TABLE_CMD write; `false` if refused or, for an ATTACH, not applied.
    pub fn write(
        &mut self,
        number: u8,
        index: usize,
        row: &[u8; 64],
        raw_tail: u32,
        counters: &mut Counters,
    ) -> bool {
        fn put<T>(table: &mut [T], index: usize, row: T) -> bool {
            table.get_mut(index).map(|r| *r = row).is_some()
        }
        match number {
            table::FLOW_KEY => {
                let row = FlowKeyRow::from_bytes(row);
                usize::from(row.flow) < self.flows && put(&mut self.keys, index, row)
            }
            table::FLOW_RX => put(&mut self.rx, index, FlowRxRow::from_bytes(row)),
            table::ATTACH => self.attach(index, AttachRow::from_bytes(row), raw_tail, counters),
            table::FLOW_TX => put(&mut self.tx, index, FlowTxRow::from_bytes(row)),
            table::STAG => put(&mut self.stags, index, StagRow::from_bytes(row)),
            _ => false,
        }
    }

    /// `raw_tail`: raw slots taken since the ring was set up. A position's `raw_seen` is its mark, of which only taken slots are the
    /// cause.
    fn attach(
        &mut self,
        index: usize,
        row: AttachRow,
        raw_tail: u32,
        counters: &mut Counters,
    ) -> bool {
        let Some(position) = self.positions.get_mut(index) else {
            return false;
        };
        let applied = if row.freshen() {
            position.attached()
        } else {
            !row.attached() || !is_unseen(position.raw_seen, row.raw_seen, raw_tail)
        };
        if !applied {
            counters.count(Counter::RxAttachRefused);
            return false;
        }
        let valid = row.attached & AttachRow::TS_RECENT_VALID;
        *position = if row.freshen() {
            AttachRow {
                attached: AttachRow::ATTACHED | valid,
                ts_recent: row.ts_recent,
                ..*position
            }
        } else {
            AttachRow {
                attached: row.attached & AttachRow::ATTACHED | valid,
                raw_seen: position.raw_seen,
                ..row
            }
        };
        if !row.freshen() {
            self.carried.forget(index as u16);
            self.islands.forget(index as u16);
        }
        counters.count(Counter::RxAttach);
        true
    }

    /// Runs a TABLE_CMD read; `None` if refused.
    pub fn read(&self, number: u8, index: usize) -> Option<[u8; 64]> {
        match number {
            table::FLOW_KEY => self.keys.get(index).map(FlowKeyRow::to_bytes),
            table::FLOW_RX => self.rx.get(index).map(FlowRxRow::to_bytes),
            table::ATTACH => self.positions.get(index).map(AttachRow::to_bytes),
            table::FLOW_TX => self.tx.get(index).map(FlowTxRow::to_bytes),
            table::STAG => self.stags.get(index).map(StagRow::to_bytes),
            _ => None,
        }
    }
}
