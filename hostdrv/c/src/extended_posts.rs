//! `ibv_qp_ex`: work that is put together call by call, between `ibv_wr_start` and `ibv_wr_complete`, and posted at its end or not at all.

use std::ffi::{c_int, c_void};

use weft_hostdrv::verbs::Access;

use crate::absent;
use crate::bindings::*;
use crate::calls::{refuse, Answer, Refused};
use crate::memory::Regions;
use crate::object::{zeros, Object};
use crate::posting::post_one;
use crate::queue_pairs::QueuePair;

/// What can be put together.
const OPERATIONS: ibv_qp_create_send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE
    | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM
    | IBV_QP_EX_WITH_SEND
    | IBV_QP_EX_WITH_RDMA_READ
    | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP
    | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD
    | IBV_QP_EX_WITH_LOCAL_INV
    | IBV_QP_EX_WITH_BIND_MW
    | IBV_QP_EX_WITH_SEND_WITH_INV;

/// Can all that is asked for be done?
pub(crate) fn check(operations: u64) -> Answer<()> {
    if operations & u64::from(IBV_QP_EX_WITH_SEND_WITH_IMM) != 0 {
        absent::SEND_WITH_IMM.note();
    }
    match operations & !u64::from(OPERATIONS) {
        0 => Ok(()),
        _ => refuse(libc::EOPNOTSUPP, "an operation that iWARP has not"),
    }
}

/// Work requests that are being put together.
#[derive(Default)]
pub(crate) struct Building {
    list: Vec<Work>,
    /// Of all of them, one after the other.
    sges: Vec<ibv_sge>,
    bytes: Vec<u8>,
    /// Why nothing of it will be posted.
    refused: Option<Refused>,
}

struct Work {
    /// Without its SGEs.
    wr: ibv_send_wr,
    /// Where they begin, and how many there are.
    sges: (usize, usize),
    /// Where its inline bytes are instead.
    inline: Option<(usize, usize)>,
}

impl Building {
    fn begin(&mut self) {
        self.list.clear();
        self.sges.clear();
        self.bytes.clear();
        self.refused = None;
    }

    fn refuse(&mut self, why: Answer<()>) {
        if let Err(refused) = why {
            self.refused.get_or_insert(refused);
        }
    }

    /// The work request whose payload is being said.
    fn last(&mut self) -> Option<&mut Work> {
        if self.list.is_empty() {
            self.refuse(refuse(libc::EINVAL, "a payload of no work request"));
        }
        self.list.last_mut()
    }

    /// # Safety
    /// The elements are valid.
    unsafe fn set_sges(&mut self, first: *const ibv_sge, count: usize) {
        let at = self.sges.len();
        // SAFETY: the caller's promise.
        (0..count).for_each(|n| self.sges.push(unsafe { *first.add(n) }));
        if let Some(work) = self.last() {
            (work.sges, work.inline) = ((at, count), None);
        }
    }

    /// # Safety
    /// The bytes are valid.
    unsafe fn set_inline(&mut self, list: impl Iterator<Item = (*const u8, usize)>, most: usize) {
        let at = self.bytes.len();
        for (bytes, length) in list {
            if self.bytes.len() - at + length > most {
                return self.refuse(refuse(libc::EINVAL, "more bytes inline than there may be"));
            }
            if length > 0 {
                // SAFETY: the caller's promise.
                let bytes = unsafe { std::slice::from_raw_parts(bytes, length) };
                self.bytes.extend_from_slice(bytes);
            }
        }
        let length = self.bytes.len() - at;
        if let Some(work) = self.last() {
            work.inline = Some((at, length));
        }
    }

    /// Posts all, or nothing if one of them cannot be posted.
    ///
    /// # Safety
    /// As `ibv_wr_complete`.
    unsafe fn post(&mut self, pair: &QueuePair) -> Answer<()> {
        if let Some(refused) = self.refused.take() {
            return Err(refused);
        }
        if self.list.len() > 1 {
            let places = self.list.iter().map(Work::places).sum::<usize>();
            if places > pair.qp.send_room() as usize {
                return refuse(libc::ENOMEM, "the send queue has no room for all of it");
            }
            for work in &self.list {
                let (at, count) = work.sges;
                let sges = self.sges.get(at..at + count).unwrap_or_default();
                // SAFETY: the caller's promise.
                unsafe { work.check(pair, sges) }?;
            }
        }
        for work in &mut self.list {
            let mut inline = ibv_sge {
                addr: 0,
                length: 0,
                lkey: 0,
            };
            match work.inline {
                Some((at, length)) => {
                    inline.addr = self.bytes.as_ptr().wrapping_add(at) as u64;
                    inline.length = length as u32;
                    work.wr.send_flags |= IBV_SEND_INLINE;
                    (work.wr.sg_list, work.wr.num_sge) = (&raw mut inline, 1);
                }
                None => {
                    let (at, count) = work.sges;
                    work.wr.send_flags &= !IBV_SEND_INLINE;
                    work.wr.sg_list = self.sges.as_mut_ptr().wrapping_add(at);
                    work.wr.num_sge = c_int::try_from(count).unwrap_or(c_int::MAX);
                }
            }
            // SAFETY: the caller's promise, and elements that live as long as the call.
            unsafe { post_one(pair, &work.wr) }?;
        }
        Ok(())
    }
}

impl Work {
    /// Places of the send queue that it takes.
    fn places(&self) -> usize {
        match self.wr.opcode {
            IBV_WR_RDMA_WRITE_WITH_IMM => 2,
            _ => 1,
        }
    }

    /// Can it be posted?
    ///
    /// # Safety
    /// Nobody deregisters its regions meanwhile.
    unsafe fn check(&self, pair: &QueuePair, sges: &[ibv_sge]) -> Answer<()> {
        if self.inline.is_some() {
            return Ok(());
        }
        if sges.len() > pair.qp.cap().max_send_sge {
            return refuse(libc::EINVAL, "more SGEs than the queue pair takes");
        }
        let regions: &Regions = pair.regions;
        let needs = match self.wr.opcode {
            // The answer is written there.
            IBV_WR_RDMA_READ | IBV_WR_ATOMIC_FETCH_AND_ADD | IBV_WR_ATOMIC_CMP_AND_SWP => {
                Access::READ_SINK
            }
            _ => Access::NONE,
        };
        let pd = pair.qp.pd();
        // SAFETY: the caller's promise.
        let fits = sges
            .iter()
            .all(|sge| unsafe { regions.has(sge, pd, needs) });
        match fits {
            true => Ok(()),
            false => refuse(libc::EINVAL, "an SGE that no region of the domain has"),
        }
    }
}

/// What is being put together by the queue pair's program.
///
/// # Safety
/// The queue pair is the program's, and `ibv_wr_start` was called.
unsafe fn building<'a>(qp: *mut ibv_qp_ex) -> Answer<&'a mut Building> {
    // SAFETY: who has begun has it to himself.
    unsafe { Ok(&mut *QueuePair::of(qp.cast())?.building.get()) }
}

/// Begins a work request, whose `wr_id` and flags are said.
///
/// # Safety
/// As [`building`].
unsafe fn begin(
    qp: *mut ibv_qp_ex,
    opcode: ibv_wr_opcode,
    fill: impl FnOnce(&mut ibv_send_wr),
) -> Answer<()> {
    // SAFETY: the caller's promise; numbers, unions of them and pointers that may be null.
    unsafe {
        let mut wr: ibv_send_wr = zeros();
        (wr.wr_id, wr.send_flags, wr.opcode) = ((*qp).wr_id, (*qp).wr_flags, opcode);
        fill(&mut wr);
        let building = building(qp)?;
        let sges = (building.sges.len(), 0);
        let inline = None;
        building.list.push(Work { wr, sges, inline });
    }
    Ok(())
}

fn rdma(remote_addr: u64, rkey: u32) -> ibv_send_wr__bindgen_ty_2 {
    let rdma = ibv_send_wr__bindgen_ty_2__bindgen_ty_1 { remote_addr, rkey };
    ibv_send_wr__bindgen_ty_2 { rdma }
}

fn atomic(
    remote_addr: u64,
    rkey: u32,
    (compare_add, swap): (u64, u64),
) -> ibv_send_wr__bindgen_ty_2 {
    let atomic = ibv_send_wr__bindgen_ty_2__bindgen_ty_2 {
        remote_addr,
        compare_add,
        swap,
        rkey,
    };
    ibv_send_wr__bindgen_ty_2 { atomic }
}

/// Its calls.
pub(crate) fn give(qp: &mut ibv_qp_ex) {
    qp.wr_atomic_cmp_swp = Some(wr_atomic_cmp_swp);
    qp.wr_atomic_fetch_add = Some(wr_atomic_fetch_add);
    qp.wr_bind_mw = Some(wr_bind_mw);
    qp.wr_local_inv = Some(wr_local_inv);
    qp.wr_rdma_read = Some(wr_rdma_read);
    qp.wr_rdma_write = Some(wr_rdma_write);
    qp.wr_rdma_write_imm = Some(wr_rdma_write_imm);
    qp.wr_send = Some(wr_send);
    qp.wr_send_inv = Some(wr_send_inv);
    qp.wr_set_xrc_srqn = Some(wr_set_xrc_srqn);
    qp.wr_set_inline_data = Some(wr_set_inline_data);
    qp.wr_set_inline_data_list = Some(wr_set_inline_data_list);
    qp.wr_set_sge = Some(wr_set_sge);
    qp.wr_set_sge_list = Some(wr_set_sge_list);
    qp.wr_start = Some(wr_start);
    qp.wr_complete = Some(wr_complete);
    qp.wr_abort = Some(wr_abort);
}

operations! {
    /// Begins to put work together: other threads wait until it is complete.
    void fn wr_start(qp: *mut ibv_qp_ex) {
        QueuePair::of(qp.cast::<ibv_qp>())?;
        libc::pthread_mutex_lock(&raw mut (*qp).qp_base.mutex);
        building(qp)?.begin();
        Ok(())
    }

    /// Posts it, all or nothing.
    verb fn wr_complete(qp: *mut ibv_qp_ex) -> c_int {
        let pair = QueuePair::of(qp.cast::<ibv_qp>())?;
        let posted = building(qp).and_then(|building| building.post(pair));
        libc::pthread_mutex_unlock(&raw mut (*qp).qp_base.mutex);
        posted
    }

    /// Forgets it.
    void fn wr_abort(qp: *mut ibv_qp_ex) {
        QueuePair::of(qp.cast::<ibv_qp>())?;
        libc::pthread_mutex_unlock(&raw mut (*qp).qp_base.mutex);
        Ok(())
    }

    /// A Send.
    void fn wr_send(qp: *mut ibv_qp_ex) {
        begin(qp, IBV_WR_SEND, |_| ())
    }

    /// A Send that invalidates a key of the peer's.
    void fn wr_send_inv(qp: *mut ibv_qp_ex, rkey: u32) {
        begin(qp, IBV_WR_SEND_WITH_INV, |wr| wr.__bindgen_anon_1.invalidate_rkey = rkey)
    }

    /// A Write.
    void fn wr_rdma_write(qp: *mut ibv_qp_ex, rkey: u32, addr: u64) {
        begin(qp, IBV_WR_RDMA_WRITE, |wr| wr.wr = rdma(addr, rkey))
    }

    /// A Write with immediate data.
    void fn wr_rdma_write_imm(qp: *mut ibv_qp_ex, rkey: u32, addr: u64, word: __be32) {
        begin(qp, IBV_WR_RDMA_WRITE_WITH_IMM, |wr| {
            wr.wr = rdma(addr, rkey);
            wr.__bindgen_anon_1.imm_data = word;
        })
    }

    /// A Read.
    void fn wr_rdma_read(qp: *mut ibv_qp_ex, rkey: u32, addr: u64) {
        begin(qp, IBV_WR_RDMA_READ, |wr| wr.wr = rdma(addr, rkey))
    }

    /// An atomic.
    void fn wr_atomic_cmp_swp(qp: *mut ibv_qp_ex, rkey: u32, addr: u64, compare: u64, swap: u64) {
        begin(qp, IBV_WR_ATOMIC_CMP_AND_SWP, |wr| wr.wr = atomic(addr, rkey, (compare, swap)))
    }

    /// An atomic.
    void fn wr_atomic_fetch_add(qp: *mut ibv_qp_ex, rkey: u32, addr: u64, add: u64) {
        begin(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, |wr| wr.wr = atomic(addr, rkey, (add, 0)))
    }

    /// A key of this side is invalid from then on.
    void fn wr_local_inv(qp: *mut ibv_qp_ex, rkey: u32) {
        begin(qp, IBV_WR_LOCAL_INV, |wr| wr.__bindgen_anon_1.invalidate_rkey = rkey)
    }

    /// Binds a window.
    void fn wr_bind_mw(qp: *mut ibv_qp_ex, mw: *mut ibv_mw, rkey: u32, info: *const ibv_mw_bind_info) {
        let bind_info = *crate::object::given(info)?;
        begin(qp, IBV_WR_BIND_MW, |wr| {
            let bind_mw = ibv_send_wr__bindgen_ty_4__bindgen_ty_1 { mw, rkey, bind_info };
            wr.__bindgen_anon_2 = ibv_send_wr__bindgen_ty_4 { bind_mw };
        })
    }

    /// The shared queue of the peer that takes a Send of an XRC initiator.
    void fn wr_set_xrc_srqn(qp: *mut ibv_qp_ex, number: u32) {
        if let Some(work) = building(qp)?.last() {
            work.wr.qp_type.xrc.remote_srqn = number;
        }
        Ok(())
    }

    /// One SGE.
    void fn wr_set_sge(qp: *mut ibv_qp_ex, lkey: u32, addr: u64, length: u32) {
        let sge = ibv_sge { addr, length, lkey };
        building(qp)?.set_sges(&raw const sge, 1);
        Ok(())
    }

    /// Several.
    void fn wr_set_sge_list(qp: *mut ibv_qp_ex, count: size_t, list: *const ibv_sge) {
        building(qp)?.set_sges(list, count);
        Ok(())
    }

    /// Bytes, which are copied now.
    void fn wr_set_inline_data(qp: *mut ibv_qp_ex, addr: *mut c_void, length: size_t) {
        let most = QueuePair::of(qp.cast::<ibv_qp>())?.qp.cap().max_inline_data;
        let one = std::iter::once((addr.cast::<u8>().cast_const(), length));
        building(qp)?.set_inline(one, most);
        Ok(())
    }

    /// The same in several parts.
    void fn wr_set_inline_data_list(qp: *mut ibv_qp_ex, count: size_t, list: *const ibv_data_buf) {
        let most = QueuePair::of(qp.cast::<ibv_qp>())?.qp.cap().max_inline_data;
        let parts = (0..count).map(|n| {
            let part = &*list.add(n);
            (part.addr.cast::<u8>().cast_const(), part.length)
        });
        building(qp)?.set_inline(parts, most);
        Ok(())
    }
}
