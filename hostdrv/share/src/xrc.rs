//! XRC for a client of a broker: domains that it shares with other clients, shared receive queues in them, initiators and targets.

use std::io;

use super::client::{Client, SharedQp, SharedRegion};
use super::domains::NAME;
use super::packet::{
    CLOSE_TARGET, OPEN_XRCD, TARGET, XRCD_EXISTING, XRCD_NEW, XRCD_OR_NEW, XRC_SRQ,
};
use super::talk::{half, some};
use weft_hostdrv::unstable::control::QpId;
use weft_hostdrv::unstable::SharedSrq;
use weft_hostdrv::verbs::{Access, QpCap, SrqTerms, XrcdOpen};

/// An XRC domain that a client has opened.
#[derive(Clone, Copy, Debug)]
pub struct SharedXrcd {
    place: u64,
}

/// A target of an XRC domain. Others may have it as well: it and its connection live as long as one of them.
#[derive(Clone, Copy, Debug)]
pub struct SharedTarget {
    /// Its name in commands and events.
    pub id: QpId,
    /// Its number, by which others open it.
    pub qp_num: u32,
}

impl Client {
    /// Opens the XRC domain of a name, of 1 to 48 bytes. Other clients of this user that open the same name have the same domain; other users have names of
    /// their own. Brokers before version 3 have none.
    pub fn open_xrcd(&self, name: &str, how: XrcdOpen) -> io::Result<SharedXrcd> {
        let how = match how {
            XrcdOpen::Existing => XRCD_EXISTING,
            XrcdOpen::OrNew => XRCD_OR_NEW,
            XrcdOpen::New => XRCD_NEW,
        };
        let mut request = [OPEN_XRCD, how, 0, 0, 0, 0, 0, 0];
        if name.len() > 8 * NAME || name.is_empty() || name.contains('\0') {
            let why = "an XRC domain has a name of 1 to 48 bytes, and none of them is 0";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        for (word, bytes) in request[2..].iter_mut().zip(name.as_bytes().chunks(8)) {
            let mut eight = [0; 8];
            eight[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(eight);
        }
        let ([place, ..], _) = self.request(&request)?;
        Ok(SharedXrcd { place })
    }

    /// A shared receive queue in a domain, with a completion queue of `cqe` entries, which has to have room for all its receives. Its receives lie in
    /// memory of this client's.
    pub fn create_xrc_srq(
        &self,
        xrcd: SharedXrcd,
        max_wr: u32,
        max_sge: usize,
        cqe: usize,
    ) -> io::Result<SharedSrq> {
        let sizes = [
            XRC_SRQ,
            xrcd.place,
            max_wr.into(),
            max_sge as u64,
            cqe as u64,
        ];
        let ([srq_num, max_wr, cqe, ..], files) = self.request(&sizes)?;
        let terms = SrqTerms {
            srq_num: half(srq_num),
            max_wr: half(max_wr),
            cqe: half(cqe),
        };
        let srq = SharedSrq::open(some(files)?, terms)?;
        Ok(self.on_line(srq, SharedSrq::on))
    }

    /// An XRC initiator. It sends by WQEs of `XRC_SEND`, with the number of the peer's shared receive queue as their STag.
    pub fn create_initiator(&self, cap: QpCap, cqe: usize) -> io::Result<SharedQp> {
        self.make_qp(cap, cqe, true)
    }

    /// A target, to accept a request of an initiator with.
    pub fn create_target(&self, xrcd: SharedXrcd) -> io::Result<SharedTarget> {
        self.target(xrcd, 0)
    }

    /// A target that another client has created: from now on it is this one's, too, and its events come here as well.
    pub fn open_target(&self, xrcd: SharedXrcd, qp_num: u32) -> io::Result<SharedTarget> {
        self.target(xrcd, qp_num)
    }

    fn target(&self, xrcd: SharedXrcd, qp_num: u32) -> io::Result<SharedTarget> {
        let ([id, qp_num, ..], _) = self.request(&[TARGET, xrcd.place, qp_num.into()])?;
        Ok(SharedTarget {
            id: QpId::from_number(half(id)),
            qp_num: half(qp_num),
        })
    }

    /// This client has it no longer. Without another one that has it, it and its connection end.
    pub fn close_target(&self, target: SharedTarget) -> io::Result<()> {
        self.request(&[CLOSE_TARGET, target.id.number().into()])?;
        Ok(())
    }

    /// As [`memory`](Self::memory), for what targets of the domain let a peer write and read.
    pub fn memory_in(
        &self,
        xrcd: SharedXrcd,
        bytes: u64,
        access: Access,
    ) -> io::Result<SharedRegion> {
        self.make_memory(bytes, access, xrcd.place + 1)
    }
}
