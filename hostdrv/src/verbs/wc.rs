//! What a completion says.

use weft_layout::{Cqe, CqeOpcode, CqeStatus};

/// How work ended (`ibv_wc_status`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)] // The numbers are the CQE's: nothing has to be translated.
pub enum WcStatus {
    /// Done.
    Success = CqeStatus::Success as u8,
    /// The card could not use this work's memory: `IBV_WC_LOC_PROT_ERR`.
    LocalProtectionError = CqeStatus::LocalProtection as u8,
    /// Not done, because the connection ended or failed before: `IBV_WC_WR_FLUSH_ERR`.
    WrFlushError = CqeStatus::Flushed as u8,
    /// The peer refused the access: `IBV_WC_REM_ACCESS_ERR`.
    RemoteAccessError = CqeStatus::RemoteAccess as u8,
    /// The peer could not do it: `IBV_WC_REM_OP_ERR`.
    RemoteOperationError = CqeStatus::RemoteOperation as u8,
    /// The work request says nothing that can be done: `IBV_WC_LOC_QP_OP_ERR`.
    LocalQpOperationError = CqeStatus::LocalOperation as u8,
    /// Something else: `IBV_WC_GENERAL_ERR`.
    GeneralError = CqeStatus::RemoteOperation as u8 + 1,
}

/// What was done (`ibv_wc_opcode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)] // Likewise.
pub enum WcOpcode {
    /// A Send of this side.
    Send = CqeOpcode::Send as u8,
    /// A Write of this side.
    RdmaWrite = CqeOpcode::Write as u8,
    /// A Read of this side.
    RdmaRead = CqeOpcode::Read as u8,
    /// A receive.
    Recv = CqeOpcode::Recv as u8,
    /// A local invalidate (`IBV_WC_LOCAL_INV`).
    LocalInvalidate = CqeOpcode::LocalInvalidate as u8,
    /// A bind of a memory window (`IBV_WC_BIND_MW`).
    BindMw = CqeOpcode::Bind as u8,
    /// A fast registration (`IB_WC_REG_MR`).
    FastRegister = CqeOpcode::FastRegister as u8,
    /// An atomic (`IBV_WC_FETCH_ADD`).
    FetchAdd = CqeOpcode::FetchAdd as u8,
    /// An atomic (`IBV_WC_COMP_SWAP`).
    CompSwap = CqeOpcode::CmpSwap as u8,
}

/// A work completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wc {
    /// Of the work request.
    pub wr_id: u64,
    /// How it ended.
    pub status: WcStatus,
    /// What it was.
    pub opcode: WcOpcode,
    /// Bytes moved; meaningful on success.
    pub byte_len: u32,
    /// The queue pair ([`Qp::qp_num`](super::Qp::qp_num)).
    pub qp_num: u32,
    /// A receive: the sender asked for an event.
    pub solicited: bool,
    /// A receive: this STag of ours was invalidated by it.
    pub invalidated_rkey: Option<u32>,
    /// A receive: the 8 bytes that its message was (RFC 7306 §6) (`IBV_WC_WITH_IMM`).
    pub imm_data: Option<u64>,
}

/// Where the short way of a poll writes what it finds, each as soon as it is known: so nothing has to be kept ([`Cq::poll_usual`](super::Cq::poll_usual)).
pub trait FoundWc {
    /// What was done, and how it ended.
    fn what(&mut self, opcode: WcOpcode, status: WcStatus, qp_num: u32);

    /// By which work request. It has no flags: no immediate data, nothing invalidated, nothing solicited.
    fn which(&mut self, wr_id: u64, byte_len: u32);
}

impl FoundWc for Wc {
    #[inline(always)]
    fn what(&mut self, opcode: WcOpcode, status: WcStatus, qp_num: u32) {
        (self.opcode, self.status, self.qp_num) = (opcode, status, qp_num);
    }

    #[inline(always)]
    fn which(&mut self, wr_id: u64, byte_len: u32) {
        (self.wr_id, self.byte_len, self.solicited) = (wr_id, byte_len, false);
        (self.invalidated_rkey, self.imm_data) = (None, None);
    }
}

impl Default for Wc {
    /// Of nothing: to be written over by [`Cq::poll_slice`](super::Cq::poll_slice).
    fn default() -> Self {
        Self {
            wr_id: 0,
            status: WcStatus::GeneralError,
            opcode: WcOpcode::Send,
            byte_len: 0,
            qp_num: 0,
            solicited: false,
            invalidated_rkey: None,
            imm_data: None,
        }
    }
}

impl From<CqeStatus> for WcStatus {
    #[inline(always)]
    fn from(status: CqeStatus) -> Self {
        match status {
            CqeStatus::Success => WcStatus::Success,
            CqeStatus::Flushed => WcStatus::WrFlushError,
            CqeStatus::LocalProtection => WcStatus::LocalProtectionError,
            CqeStatus::LocalOperation => WcStatus::LocalQpOperationError,
            CqeStatus::RemoteAccess => WcStatus::RemoteAccessError,
            CqeStatus::RemoteOperation => WcStatus::RemoteOperationError,
        }
    }
}

/// What a CQE was and how it ended ([`PlainCqe::what_and_how`](weft_queues::PlainCqe::what_and_how)), if both are usual: the first four codes of each, which
/// one comparison finds out.
#[inline(always)]
pub(super) fn usual(codes: u16) -> Option<(WcOpcode, WcStatus)> {
    let above = codes.wrapping_sub(CqeOpcode::Send as u16);
    if above & 0xfcfc != 0 {
        return None;
    }
    let opcode = match above & 3 {
        0 => WcOpcode::Send,
        1 => WcOpcode::RdmaWrite,
        2 => WcOpcode::RdmaRead,
        _ => WcOpcode::Recv,
    };
    let status = match above >> 8 & 3 {
        0 => WcStatus::Success,
        1 => WcStatus::WrFlushError,
        2 => WcStatus::LocalProtectionError,
        _ => WcStatus::LocalQpOperationError,
    };
    Some((opcode, status))
}

impl From<CqeOpcode> for WcOpcode {
    #[inline(always)]
    fn from(opcode: CqeOpcode) -> Self {
        match opcode {
            CqeOpcode::Send => WcOpcode::Send,
            CqeOpcode::Write => WcOpcode::RdmaWrite,
            CqeOpcode::Read => WcOpcode::RdmaRead,
            CqeOpcode::Recv => WcOpcode::Recv,
            CqeOpcode::LocalInvalidate => WcOpcode::LocalInvalidate,
            CqeOpcode::Bind => WcOpcode::BindMw,
            CqeOpcode::FastRegister => WcOpcode::FastRegister,
            CqeOpcode::FetchAdd => WcOpcode::FetchAdd,
            CqeOpcode::CmpSwap => WcOpcode::CompSwap,
        }
    }
}

impl Wc {
    /// What a CQE says. Written in place: a completion is not copied on its way to the program.
    pub(super) fn set(&mut self, wr_id: u64, cqe: &Cqe) {
        self.wr_id = wr_id;
        self.status = cqe.status().map_or(WcStatus::GeneralError, WcStatus::from);
        self.opcode = cqe.opcode().map_or(WcOpcode::Send, WcOpcode::from);
        self.byte_len = cqe.byte_len;
        self.qp_num = cqe.qp_num;
        self.solicited = cqe.solicited();
        self.invalidated_rkey = cqe.has_invalidated().then_some(cqe.invalidated);
        self.imm_data = cqe.has_immediate().then_some(cqe.immediate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever is written where a code should be: what nobody knows is no success.
    #[test]
    fn codes_that_nobody_knows_are_errors() {
        for code in 0..=u8::MAX {
            let mut wc = Wc::default();
            let cqe = Cqe {
                status: code,
                opcode: code,
                ..Cqe::default()
            };
            wc.set(1, &cqe);
            let known = code <= CqeStatus::RemoteOperation as u8;
            assert_eq!(wc.status == WcStatus::GeneralError, !known, "{code}");
            assert_eq!(wc.status == WcStatus::Success, code == 0, "{code}");
            let send = !(2..=9).contains(&code);
            assert_eq!(wc.opcode == WcOpcode::Send, send, "{code}");
        }
    }

    /// The short way says of two codes what the long way says, or nothing.
    #[test]
    fn usual_codes_are_as_ever() {
        let mut found = 0;
        for codes in 0..=u16::MAX {
            let [opcode, status] = codes.to_le_bytes();
            let Some(short) = usual(codes) else {
                continue;
            };
            found += 1;
            let mut wc = Wc::default();
            let cqe = Cqe {
                status,
                opcode,
                ..Cqe::default()
            };
            wc.set(1, &cqe);
            assert_eq!(short, (wc.opcode, wc.status));
            assert!((1..=4).contains(&opcode));
        }
        assert_eq!(found, 16);
    }
}
