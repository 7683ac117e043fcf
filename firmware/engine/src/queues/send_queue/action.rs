//! What a send-queue entry does, and its operands as words.

use weft_layout::WqeOpcode;
use weft_wire::rdmap::Atomic;

use crate::interface::verbs::{Access, Binding};

/// What a send-queue entry does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A Send with this opcode; what RsvdULP has: the STag to invalidate, the peer's shared receive queue, or 0.
    Send { opcode: u8, rsvd_ulp: u32 },
    /// A Write.
    Write { stag: u32, to: u64 },
    /// A Read into the entry's pieces.
    Read { stag: u32, to: u64 },
    /// An atomic, whose old value goes to the entry's piece.
    Atomic { stag: u32, to: u64, atomic: Atomic },
    /// A memory window is bound.
    Bind(Binding),
    /// A region gets its memory.
    FastRegister(Binding),
    /// An STag is invalidated.
    LocalInvalidate { stag: u32 },
}

/// Operands at most.
pub(crate) const MAX_OPERANDS: usize = 6;
/// Words that an action's operands take.
pub(super) fn operand_count(opcode: WqeOpcode) -> u32 {
    match opcode {
        WqeOpcode::Write | WqeOpcode::Read => 2,
        WqeOpcode::FetchAdd => 4,
        WqeOpcode::Bind | WqeOpcode::FastRegister => 5,
        WqeOpcode::CmpSwap => 6,
        // An STag, or what RsvdULP has.
        _ => 1,
    }
}

/// The operands of a binding.
fn of_binding(binding: &Binding) -> [u64; MAX_OPERANDS] {
    [
        u64::from(binding.stag) | u64::from(binding.region) << 32,
        binding.base_to,
        binding.region_to,
        binding.length,
        binding.access.bits().into(),
        0,
    ]
}

fn binding([stags, base_to, region_to, length, access, _]: [u64; MAX_OPERANDS]) -> Binding {
    Binding {
        stag: stags as u32,
        base_to,
        region: (stags >> 32) as u32,
        region_to,
        length,
        access: Access::from_bits(access as u8).unwrap_or(Access::NONE),
    }
}

impl Action {
    /// What its completion says, and the operands.
    pub(super) fn take_apart(&self) -> (WqeOpcode, u8, [u64; MAX_OPERANDS]) {
        let (opcode, wire, operands) = match *self {
            Action::Send { opcode, rsvd_ulp } => {
                (WqeOpcode::Send, opcode, [rsvd_ulp.into(), 0, 0, 0, 0, 0])
            }
            Action::Write { stag, to } => (WqeOpcode::Write, 0, [stag.into(), to, 0, 0, 0, 0]),
            Action::Read { stag, to } => (WqeOpcode::Read, 0, [stag.into(), to, 0, 0, 0, 0]),
            Action::Atomic {
                stag,
                to,
                atomic: Atomic::FetchAdd { add, mask },
            } => (WqeOpcode::FetchAdd, 0, [stag.into(), to, add, mask, 0, 0]),
            Action::Atomic {
                stag,
                to,
                atomic:
                    Atomic::CmpSwap {
                        compare,
                        compare_mask,
                        swap,
                        swap_mask,
                    },
            } => {
                let operands = [stag.into(), to, compare, compare_mask, swap, swap_mask];
                (WqeOpcode::CmpSwap, 0, operands)
            }
            Action::Bind(ref binding) => (WqeOpcode::Bind, 0, of_binding(binding)),
            Action::FastRegister(ref binding) => (WqeOpcode::FastRegister, 0, of_binding(binding)),
            Action::LocalInvalidate { stag } => {
                (WqeOpcode::LocalInvalidate, 0, [stag.into(), 0, 0, 0, 0, 0])
            }
        };
        (opcode, wire, operands)
    }

    pub(crate) fn put_together(opcode: WqeOpcode, wire: u8, operands: [u64; MAX_OPERANDS]) -> Self {
        let [first, to, a, b, c, d] = operands;
        let stag = first as u32;
        let atomic = |atomic| Action::Atomic { stag, to, atomic };
        match opcode {
            WqeOpcode::Write => Action::Write { stag, to },
            WqeOpcode::Read => Action::Read { stag, to },
            WqeOpcode::FetchAdd => atomic(Atomic::FetchAdd { add: a, mask: b }),
            WqeOpcode::CmpSwap => atomic(Atomic::CmpSwap {
                compare: a,
                compare_mask: b,
                swap: c,
                swap_mask: d,
            }),
            WqeOpcode::Bind => Action::Bind(binding(operands)),
            WqeOpcode::FastRegister => Action::FastRegister(binding(operands)),
            WqeOpcode::LocalInvalidate => Action::LocalInvalidate { stag },
            // A message to the peer's receive queue.
            _ => Action::Send {
                opcode: wire,
                rsvd_ulp: stag,
            },
        }
    }

    /// STags that work which sends nothing needs.
    pub(super) fn names(&self) -> [Option<u32>; 2] {
        match self {
            Action::Bind(binding) | Action::FastRegister(binding) => {
                [Some(binding.stag), Some(binding.region)]
            }
            Action::LocalInvalidate { stag } => [Some(*stag), None],
            _ => [None; 2],
        }
    }
}
