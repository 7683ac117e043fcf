//! Posts.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use weft_hostdrv::verbs::{
    AtomicWr, InvalidateWr, Mr, Qp, RecvWr, RemoteRegion, SendWr, Sge, Usual, VerbsError,
    MAX_INLINE, MAX_SGE,
};

use crate::bindings::*;
use crate::calls::{refuse, Answer, Refused};
use crate::memory::{bind_window, Domain, Regions, IMMEDIATE};
use crate::object::Object;
use crate::queue_pairs::QueuePair;
use crate::{absent, immediate};

/// SGEs of a work request as the driver has them.
pub(crate) struct List<'a> {
    list: [MaybeUninit<Sge<'a>>; MAX_SGE],
    len: usize,
}

impl<'a> List<'a> {
    /// # Safety
    /// The SGEs are valid, and nobody deregisters their regions for `'a`.
    pub(crate) unsafe fn new(
        regions: &Regions,
        first: *const ibv_sge,
        count: c_int,
    ) -> Answer<Self> {
        let len = usize::try_from(count).unwrap_or(usize::MAX);
        if len > MAX_SGE {
            return refuse(libc::EINVAL, "more SGEs than there may be");
        }
        let mut list = [const { MaybeUninit::uninit() }; MAX_SGE];
        for (n, place) in list[..len].iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            let sge = unsafe { one(regions, &*first.add(n)) };
            place.write(sge.ok_or_else(no_region)?);
        }
        Ok(Self { list, len })
    }

    fn as_slice(&self) -> &[Sge<'a>] {
        // SAFETY: so many were written.
        unsafe { std::slice::from_raw_parts(self.list.as_ptr().cast(), self.len) }
    }
}

#[cold]
fn no_region() -> Refused {
    Refused::new(libc::EINVAL, "an lkey that names no region")
}

/// # Safety
/// Nobody deregisters its region for `'a`.
#[inline(always)]
unsafe fn one<'a>(regions: &Regions, sge: &ibv_sge) -> Option<Sge<'a>> {
    // SAFETY: the caller's promise.
    let mr: &Mr = unsafe { regions.get(sge.lkey) }?;
    Some(mr.sge(sge.addr.wrapping_sub(mr.addr()), sge.length))
}

/// The bytes that inline work sends, one after the other.
struct Inline {
    bytes: [u8; MAX_INLINE],
    len: usize,
}

impl Inline {
    /// # Safety
    /// The SGEs are valid, and so are the bytes that they name.
    unsafe fn new(first: *const ibv_sge, count: c_int) -> Answer<Self> {
        let (mut bytes, mut len) = ([0; MAX_INLINE], 0);
        for n in 0..usize::try_from(count).unwrap_or(0) {
            // SAFETY: the caller's promise.
            let sge = unsafe { &*first.add(n) };
            let room = bytes.get_mut(len..len + sge.length as usize);
            let Some(room) = room else {
                return refuse(libc::EINVAL, "more bytes inline than there may be");
            };
            // SAFETY: the caller's promise; as many bytes as there is room for.
            unsafe {
                room.as_mut_ptr()
                    .copy_from(sge.addr as *const u8, room.len())
            };
            len += room.len();
        }
        Ok(Self { bytes, len })
    }
}

fn remote(addr: u64, rkey: u32) -> RemoteRegion {
    RemoteRegion {
        addr,
        rkey,
        length: u64::MAX,
    }
}

/// A work request without its payload; `None`: it is none of Send, Write, Read.
///
/// # Safety
/// The fields of the unions are those of its opcode.
unsafe fn plain(wr: &ibv_send_wr) -> Option<SendWr<'static>> {
    let flags = wr.send_flags;
    // SAFETY: the caller's promise.
    let rdma = unsafe { wr.wr.rdma };
    let mut weft = match wr.opcode {
        IBV_WR_SEND => SendWr::send(wr.wr_id),
        IBV_WR_RDMA_WRITE => SendWr::write(wr.wr_id, remote(rdma.remote_addr, rdma.rkey)),
        IBV_WR_RDMA_READ => SendWr::read(wr.wr_id, remote(rdma.remote_addr, rdma.rkey)),
        _ => return None,
    };
    if flags & IBV_SEND_SIGNALED != 0 {
        weft = weft.signaled();
    }
    if flags & (IBV_SEND_FENCE | IBV_SEND_SOLICITED) != 0 {
        weft = flagged(weft, wr);
    }
    Some(weft)
}

#[cold]
fn flagged(mut weft: SendWr<'static>, wr: &ibv_send_wr) -> SendWr<'static> {
    if wr.send_flags & IBV_SEND_FENCE != 0 {
        weft = weft.fence();
    }
    // Programs say it of Writes, too, where it means nothing.
    if wr.send_flags & IBV_SEND_SOLICITED != 0 && wr.opcode == IBV_WR_SEND {
        weft = weft.solicited();
    }
    weft
}

/// The usual way: one SGE, no flag but `IBV_SEND_SIGNALED`, and nothing unusual about the queue.
///
/// # Safety
/// As `ibv_post_send`, of one work request.
#[inline(always)]
unsafe fn post_usual(pair: &QueuePair, wr: &ibv_send_wr) -> Usual {
    let (flags, opcode, wr_id) = (wr.send_flags, wr.opcode, wr.wr_id);
    if wr.num_sge != 1 || flags & !IBV_SEND_SIGNALED != 0 {
        return Usual::No;
    }
    // SAFETY: the caller's promise; of a Send the field means nothing, and is not used.
    let (sge, rdma) = unsafe { (one(pair.regions, &*wr.sg_list), wr.wr.rdma) };
    let (Some(sge), to) = (sge, remote(rdma.remote_addr, rdma.rkey)) else {
        return Usual::No;
    };
    let post = |weft: SendWr<'_>| {
        let weft = match flags & IBV_SEND_SIGNALED {
            0 => weft,
            _ => weft.signaled(),
        };
        pair.qp.post_send_usual(weft.sge(sge))
    };
    // One way for each: what is known of an opcode need not be asked.
    match opcode {
        IBV_WR_RDMA_WRITE => post(SendWr::write(wr_id, to)),
        IBV_WR_SEND => post(SendWr::send(wr_id)),
        IBV_WR_RDMA_READ => post(SendWr::read(wr_id, to)),
        _ => Usual::No,
    }
}

/// # Safety
/// As `ibv_post_send`, of one work request.
pub(crate) unsafe fn post_one(pair: &QueuePair, wr: &ibv_send_wr) -> Answer<()> {
    // SAFETY: the caller's promise.
    match unsafe { post_usual(pair, wr) } {
        Usual::Posted => Ok(()),
        Usual::Late => Ok(pair.qp.settle_send()?),
        // SAFETY: as above.
        Usual::No => unsafe { post_else(pair, wr) },
    }
}

/// Whatever is not usual.
///
/// # Safety
/// As `ibv_post_send`, of one work request.
#[cold]
#[inline(never)]
unsafe fn post_else(pair: &QueuePair, wr: &ibv_send_wr) -> Answer<()> {
    // SAFETY: the caller's promise.
    unsafe {
        let signaled = wr.send_flags & IBV_SEND_SIGNALED != 0;
        let weft = match (plain(wr), wr.opcode) {
            (Some(weft), IBV_WR_SEND) if pair.is_initiator() => {
                weft.to_srq(wr.qp_type.xrc.remote_srqn)
            }
            (Some(weft), _) => weft,
            (None, IBV_WR_SEND_WITH_INV) => {
                let weft = SendWr::send(wr.wr_id).invalidate(wr.__bindgen_anon_1.invalidate_rkey);
                let weft = flagged(weft, wr);
                if signaled {
                    weft.signaled()
                } else {
                    weft
                }
            }
            (None, IBV_WR_RDMA_WRITE_WITH_IMM) => return post_with_immediate(pair, wr, signaled),
            (None, IBV_WR_ATOMIC_CMP_AND_SWP | IBV_WR_ATOMIC_FETCH_AND_ADD) => {
                return post_atomic(pair, wr, signaled)
            }
            (None, IBV_WR_LOCAL_INV) => {
                let weft = InvalidateWr::new(wr.wr_id, wr.__bindgen_anon_1.invalidate_rkey);
                let weft = if signaled { weft.signaled() } else { weft };
                return Ok(pair.qp.local_invalidate(weft)?);
            }
            (None, IBV_WR_BIND_MW) => {
                let bind = wr.__bindgen_anon_2.bind_mw;
                let key = Some(bind.rkey);
                return bind_window(pair, bind.mw, key, wr.wr_id, &bind.bind_info, signaled)
                    .map(drop);
            }
            (None, IBV_WR_SEND_WITH_IMM) => {
                absent::SEND_WITH_IMM.note();
                return refuse(
                    libc::EOPNOTSUPP,
                    "iWARP has no immediate data beside a Send's payload",
                );
            }
            _ => return refuse(libc::EOPNOTSUPP, "an opcode that the card has not"),
        };
        with_payload(pair, wr, weft, |weft| pair.qp.post_send(weft))
    }
}

/// Posts a work request with its SGEs, or with the bytes that they name.
///
/// # Safety
/// As `ibv_post_send`, of one work request.
unsafe fn with_payload(
    pair: &QueuePair,
    wr: &ibv_send_wr,
    weft: SendWr<'static>,
    post: impl FnOnce(SendWr<'_>) -> Result<(), VerbsError>,
) -> Answer<()> {
    // SAFETY: the caller's promise.
    unsafe {
        if wr.send_flags & IBV_SEND_INLINE != 0 {
            let inline = Inline::new(wr.sg_list, wr.num_sge)?;
            return Ok(post(weft.inline(&inline.bytes[..inline.len]))?);
        }
        let list = List::new(pair.regions, wr.sg_list, wr.num_sge)?;
        Ok(match list.as_slice() {
            [] => post(weft),
            sges => post(weft.sges(sges)),
        }?)
    }
}

/// A Write, and what tells the peer's program of it.
///
/// # Safety
/// As `ibv_post_send`, of one work request.
unsafe fn post_with_immediate(pair: &QueuePair, wr: &ibv_send_wr, signaled: bool) -> Answer<()> {
    // SAFETY: the caller's promise.
    let (rdma, word) = unsafe { (wr.wr.rdma, wr.__bindgen_anon_1.imm_data) };
    let length = (0..usize::try_from(wr.num_sge).unwrap_or(0))
        // SAFETY: the caller's promise.
        .map(|n| unsafe { (*wr.sg_list.add(n)).length })
        .fold(0, u32::saturating_add);
    let mut write = SendWr::write(wr.wr_id, remote(rdma.remote_addr, rdma.rkey));
    let mut told = SendWr::immediate(wr.wr_id, immediate::message(word, length));
    if wr.send_flags & IBV_SEND_FENCE != 0 {
        write = write.fence();
    }
    if wr.send_flags & IBV_SEND_SOLICITED != 0 {
        told = told.solicited();
    }
    if signaled {
        told = told.signaled();
    }
    // SAFETY: the caller's promise.
    unsafe {
        with_payload(pair, wr, write, |write| {
            pair.qp.post_write_with_immediate(write, told)
        })
    }
}

/// # Safety
/// As `ibv_post_send`, of one atomic.
unsafe fn post_atomic(pair: &QueuePair, wr: &ibv_send_wr, signaled: bool) -> Answer<()> {
    if wr.num_sge != 1 {
        return refuse(libc::EINVAL, "an atomic has one SGE");
    }
    // SAFETY: the caller's promise.
    let (atomic, sink) = unsafe { (wr.wr.atomic, one(pair.regions, &*wr.sg_list)) };
    let sink = sink.ok_or_else(no_region)?;
    let to = remote(atomic.remote_addr, atomic.rkey);
    let (first, second) = (atomic.compare_add, atomic.swap);
    let mut weft = match wr.opcode {
        IBV_WR_ATOMIC_FETCH_AND_ADD => AtomicWr::fetch_add(wr.wr_id, to, first, sink),
        _ => AtomicWr::cmp_swap(wr.wr_id, to, first, second, sink),
    };
    if signaled {
        weft = weft.signaled();
    }
    if wr.send_flags & IBV_SEND_FENCE != 0 {
        weft = weft.fence();
    }
    Ok(pair.qp.post_atomic(weft)?)
}

/// Posts a list of receives, to the end or to the first that is refused.
///
/// # Safety
/// As `ibv_post_recv`.
pub(crate) unsafe fn post_receives(
    regions: &Regions,
    pd: *mut ibv_pd,
    mut wr: *mut ibv_recv_wr,
    bad: *mut *mut ibv_recv_wr,
    post: impl Fn(RecvWr<'_>) -> Result<(), VerbsError>,
) -> Answer<()> {
    // SAFETY: the caller's promise.
    unsafe {
        while let Some(next) = wr.as_ref() {
            let posted = match next.num_sge {
                1 => match one(regions, &*next.sg_list) {
                    Some(sge) => post(RecvWr::new(next.wr_id).sge(sge)).map_err(Refused::from),
                    None => Err(no_region()),
                },
                0 => Domain::of(pd).and_then(Domain::spare).and_then(|spare| {
                    let room = spare.sge(0, IMMEDIATE as u32);
                    Ok(post(RecvWr::new(next.wr_id).sge(room))?)
                }),
                count => List::new(regions, next.sg_list, count)
                    .and_then(|list| Ok(post(RecvWr::new(next.wr_id).sges(list.as_slice()))?)),
            };
            if let Err(refused) = posted {
                bad.write(wr);
                return Err(refused);
            }
            wr = next.next;
        }
    }
    Ok(())
}

/// What follows a post that is late.
///
/// # Safety
/// `bad` is valid.
#[cold]
#[inline(never)]
unsafe fn settle<W>(
    pair: &QueuePair,
    settle: fn(&Qp) -> Result<(), VerbsError>,
    wr: *mut W,
    bad: *mut *mut W,
) -> c_int {
    crate::calls::verb("post", || {
        settle(&pair.qp).map_err(|refused| {
            // SAFETY: the caller's promise.
            unsafe { bad.write(wr) };
            refused.into()
        })
    })
}

fast_operations! {
    /// Work.
    verb fn post_send(qp: *mut ibv_qp, first: *mut ibv_send_wr, bad: *mut *mut ibv_send_wr) -> c_int {
        usual {
            match (QueuePair::peek(qp), first.as_ref()) {
                (Some(pair), Some(wr)) if wr.next.is_null() => match post_usual(pair, wr) {
                    Usual::Posted => Some(0),
                    Usual::Late => Some(settle(pair, Qp::settle_send, first, bad)),
                    Usual::No => None,
                },
                _ => None,
            }
        }
        else {
            let pair = QueuePair::of(qp)?;
            let mut wr = first;
            while let Some(next) = wr.as_ref() {
                if let Err(refused) = post_one(pair, next) {
                    bad.write(wr);
                    return Err(refused);
                }
                wr = next.next;
            }
            Ok(())
        }
    }

    /// Receives.
    verb fn post_recv(qp: *mut ibv_qp, first: *mut ibv_recv_wr, bad: *mut *mut ibv_recv_wr) -> c_int {
        usual {
            match (QueuePair::peek(qp), first.as_ref()) {
                (Some(pair), Some(wr)) if wr.next.is_null() && wr.num_sge == 1 => {
                    match one(pair.regions, &*wr.sg_list) {
                        Some(sge) => match pair.qp.post_recv_usual(RecvWr::new(wr.wr_id).sge(sge)) {
                            Usual::Posted => Some(0),
                            Usual::Late => Some(settle(pair, Qp::settle_recv, first, bad)),
                            Usual::No => None,
                        },
                        None => None,
                    }
                }
                _ => None,
            }
        }
        else {
            let pair = QueuePair::of(qp)?;
            post_receives(pair.regions, (*qp).pd, first, bad, |wr| pair.qp.post_recv(wr))
        }
    }
}
