//! What a device can do beyond what every one can, found out when a program runs, by structures that grow at their end (`ibv_query_device_ex`).

use weft_engine::Rung;

use crate::device::Device;

/// Which form it has. Fields are added at the end, and none changes its meaning, so this stays.
const MAGIC: [u8; 4] = *b"WEXT";
const HEADER: usize = 8;
const FIELD: usize = 8;

/// What a device can do. A field that a version does not know is 0: not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extensions {
    /// Work that can be posted: [`Operations`]' bits.
    pub operations: u64,
    /// Rungs that its queue pairs can have: bit 0 `host`, 1 `crc`, 2 `placement`, 3 `firmware`, 4 `full`, 5 `crc-send`.
    pub rungs: u64,
    /// Transports of the connection manager: bit 0 iWARP, 1 the loop.
    pub transports: u64,
    /// Queue pairs.
    pub max_qp: u64,
    /// Work requests in a queue.
    pub max_qp_wr: u64,
    /// SGEs of a send, of a receive.
    pub max_send_sge: u64,
    /// SGEs of a receive.
    pub max_recv_sge: u64,
    /// Bytes inline.
    pub max_inline_data: u64,
    /// Regions.
    pub max_mr: u64,
    /// Reads under way on a connection, each way.
    pub max_reads: u64,
    /// Largest IPv4 packet.
    pub mtu: u64,
    /// Entries of a completion queue.
    pub max_cqe: u64,
}

/// Bits of [`Extensions::operations`].
#[derive(Clone, Copy, Debug)]
pub struct Operations;

impl Operations {
    /// Send.
    pub const SEND: u64 = 1;
    /// RDMA Write.
    pub const WRITE: u64 = 1 << 1;
    /// RDMA Read.
    pub const READ: u64 = 1 << 2;
    /// Send with Invalidate.
    pub const SEND_INVALIDATE: u64 = 1 << 3;
    /// Solicited events.
    pub const SOLICITED: u64 = 1 << 4;
    /// Messages of 8 bytes that a completion has (RFC 7306 §6).
    pub const IMMEDIATE: u64 = 1 << 5;
    /// The fence.
    pub const FENCE: u64 = 1 << 6;
    /// Atomics (RFC 7306 §5).
    pub const ATOMIC: u64 = 1 << 7;
    /// Memory windows of both types.
    pub const WINDOW: u64 = 1 << 8;
    /// Fast registration and local invalidation.
    pub const FAST_REGISTRATION: u64 = 1 << 9;
    /// Shared receive queues.
    pub const SHARED_RECEIVE: u64 = 1 << 10;
    /// XRC: initiators and targets, by iWARP alone.
    pub const XRC: u64 = 1 << 11;
    /// What needs no card.
    const ALL: u64 = (1 << 11) - 1;
}

impl Extensions {
    /// The fields in their order, which is the structure's.
    fn fields(&mut self) -> [&mut u64; 12] {
        let Self {
            operations,
            rungs,
            transports,
            max_qp,
            max_qp_wr,
            max_send_sge,
            max_recv_sge,
            max_inline_data,
            max_mr,
            max_reads,
            mtu,
            max_cqe,
        } = self;
        [
            operations,
            rungs,
            transports,
            max_qp,
            max_qp_wr,
            max_send_sge,
            max_recv_sge,
            max_inline_data,
            max_mr,
            max_reads,
            mtu,
            max_cqe,
        ]
    }

    /// Bytes of all that this version knows.
    pub fn size(mut self) -> usize {
        HEADER + FIELD * self.fields().len()
    }

    /// Writes the structure, as many whole fields as have room; bytes written. The header is `WEXT` and the bytes behind it (32 bits);
    /// all is little-endian. Less than a header's room: nothing is written, 0.
    pub fn write(mut self, to: &mut [u8]) -> usize {
        let Some((header, body)) = to.split_first_chunk_mut::<HEADER>() else {
            return 0;
        };
        let mut fields = 0;
        for (place, field) in body.chunks_exact_mut(FIELD).zip(self.fields()) {
            place.copy_from_slice(&field.to_le_bytes());
            fields += 1;
        }
        header[..4].copy_from_slice(&MAGIC);
        header[4..].copy_from_slice(&((FIELD * fields) as u32).to_le_bytes());
        HEADER + FIELD * fields
    }

    /// Reads a structure that this version or any other has written: fields that are not there are 0, those that it does not know are
    /// passed over. `None`: it is none, or is cut off.
    pub fn read(from: &[u8]) -> Option<Self> {
        let (header, body) = from.split_first_chunk::<HEADER>()?;
        let [m0, m1, m2, m3, length @ ..] = *header;
        let length = u32::from_le_bytes(length) as usize;
        if [m0, m1, m2, m3] != MAGIC || length % FIELD != 0 {
            return None;
        }
        let mut read = Self::default();
        for (field, bytes) in read
            .fields()
            .into_iter()
            .zip(body.get(..length)?.chunks(FIELD))
        {
            *field = u64::from_le_bytes(bytes.try_into().ok()?);
        }
        Some(read)
    }
}

impl Device {
    /// What it can do.
    #[doc(alias = "ibv_query_device_ex")]
    pub fn extensions(&self) -> Extensions {
        let attributes = self.attributes();
        let bit = |rung: Rung| match rung.check(self.processor().is_some()) {
            Ok(()) => 1u64 << (rung.number() - 1),
            Err(_) => 0,
        };
        let iwarp = u64::from(self.has_card());
        let loopback = u64::from(self.is_loopback_member()) << 1;
        Extensions {
            operations: match self.has_card() {
                true => Operations::ALL | Operations::XRC,
                false => Operations::ALL,
            },
            rungs: Rung::ALL.into_iter().map(bit).sum(),
            transports: iwarp | loopback,
            max_qp: attributes.max_qp.into(),
            max_qp_wr: attributes.max_qp_wr.into(),
            max_send_sge: attributes.max_send_sge as u64,
            max_recv_sge: attributes.max_recv_sge as u64,
            max_inline_data: attributes.max_inline_data as u64,
            max_mr: attributes.max_mr.into(),
            max_reads: attributes.max_qp_rd_atom.into(),
            mtu: attributes.mtu.into(),
            max_cqe: attributes.max_cqe as u64,
        }
    }

    /// The same for a program that may be older or newer than this driver: [`Extensions::write`]. Bytes that all would take: of a buffer that is
    /// shorter the end is missing.
    pub fn query_extensions(&self, to: &mut [u8]) -> usize {
        let extensions = self.extensions();
        extensions.write(to);
        extensions.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered() -> Extensions {
        let mut extensions = Extensions::default();
        for (number, field) in (1..).zip(extensions.fields()) {
            *field = number;
        }
        extensions
    }

    /// A program that was built when there were three fields, against this driver, and this program against a driver of then.
    #[test]
    fn older_and_newer_understand_each_other() {
        /// The structure as it was: kept as it is, whatever becomes of today's.
        fn old_read(bytes: &[u8]) -> [u64; 3] {
            assert_eq!(&bytes[..4], b"WEXT");
            [8, 16, 24].map(|at| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8")))
        }
        let mut room = [0; HEADER + 3 * FIELD];
        assert_eq!(numbered().write(&mut room), room.len());
        assert_eq!(old_read(&room), [1, 2, 3]);
        let old = Extensions::read(&room).expect("the old one's");
        assert_eq!((old.operations, old.transports, old.max_qp), (1, 3, 0));
        // One from tomorrow has a field more.
        let mut new = vec![0; numbered().size()];
        numbered().write(&mut new);
        new.extend(77u64.to_le_bytes());
        let length = (new.len() - HEADER) as u32;
        new[4..8].copy_from_slice(&length.to_le_bytes());
        assert_eq!(Extensions::read(&new), Some(numbered()));
    }

    #[test]
    fn what_is_none_or_cut_off_is_refused() {
        let mut bytes = vec![0xee; 200];
        let size = numbered().write(&mut bytes);
        assert_eq!(size, numbered().size());
        assert!(bytes[size..].iter().all(|byte| *byte == 0xee));
        assert_eq!(Extensions::read(&bytes), Some(numbered()));
        for length in 0..size {
            assert_eq!(Extensions::read(&bytes[..length]), None, "{length}");
        }
        for (at, value) in [(0, b'X'), (4, 3), (7, 0xff)] {
            let mut wrong = bytes.clone();
            wrong[at] = value;
            assert_eq!(Extensions::read(&wrong), None, "{at}");
        }
        // Whatever room there is, no field is cut.
        for room in 0..size + 9 {
            let mut bytes = vec![0; room];
            let written = numbered().write(&mut bytes);
            assert!(written <= room && (written == 0 || (written - HEADER) % FIELD == 0));
            assert_eq!(Extensions::read(&bytes[..written]).is_some(), written > 0);
        }
    }
}
