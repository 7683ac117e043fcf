//! Protection domains that a client has asked for, and the shared receive queues in them.

use std::sync::Arc;

use super::asked::{charge, half, size, text};
use super::packet::{halves, words, Words};
use super::queue_pairs::{lend_qp, Lent};
use weft_hostdrv::device::{Account, Charge, Device, Resource};
use weft_hostdrv::verbs::{
    lent_srq_bytes, ControlLease, Pd, Qp, QpCap, QpInit, QpKind, Srq, SrqInit,
};

/// What a client has of them. What uses something goes before it.
#[derive(Default)]
pub(super) struct OwnDomains {
    /// By their numbers in commands.
    srqs: Vec<(u32, Srq, Vec<Charge>)>,
    pds: Vec<(u32, Pd, Charge)>,
}

fn none() -> String {
    "no such protection domain".to_owned()
}

impl OwnDomains {
    /// The domain that commands call so.
    pub(super) fn pd(&self, number: u32) -> Result<&Pd, String> {
        let found = self.pds.iter().find(|(own, ..)| *own == number);
        found.map(|(_, pd, _)| pd).ok_or_else(none)
    }

    /// A new domain.
    pub(super) fn open(
        &mut self,
        device: &Device,
        control: &ControlLease,
        account: &Arc<Account>,
    ) -> Result<Words, String> {
        let charge = account.charge(Resource::Domains, 1).map_err(text)?;
        let pd = device.alloc_pd().map_err(text)?;
        let number = control.give_pd(&pd).map_err(text)?;
        self.pds.push((number, pd, charge));
        Ok(words(&[number.into()]))
    }

    /// A domain is wanted no more, and nothing is in it.
    pub(super) fn leave(&mut self, control: &ControlLease, asked: &[u64]) -> Result<(), String> {
        let number = half(asked, 0);
        let at = self.pds.iter().position(|(own, ..)| *own == number);
        let at = at.ok_or_else(none)?;
        let (_, pd, _) = &self.pds[at];
        // This one, and the lease's.
        if pd.handles() > 2 || !control.take_pd_back(pd) {
            return Err("something is in the protection domain".to_owned());
        }
        drop(self.pds.swap_remove(at));
        Ok(())
    }

    /// A queue pair in a domain, which may take its receives from a shared queue of it.
    pub(super) fn queue_pair<'q>(
        &self,
        device: &Device,
        control: &ControlLease,
        account: &Arc<Account>,
        qps: &'q mut Vec<Qp>,
        asked: &[u64],
    ) -> Result<Lent<'q>, String> {
        let [pd, work, sges, inline, cqe, srq, kind, ..] = *asked else {
            return Err("no such request".to_owned());
        };
        let pd = self.pd(u32::try_from(pd).unwrap_or(u32::MAX))?;
        let srq = match srq {
            0 => None,
            number => {
                let mut all = self.srqs.iter();
                let found = all.find(|(own, ..)| u64::from(*own) == number);
                Some(found.ok_or("no such shared receive queue")?.1.clone())
            }
        };
        let [[send, recv], [send_sge, recv_sge]] = [work, sges].map(halves);
        let cap = QpCap {
            max_send_wr: send,
            max_recv_wr: recv,
            max_send_sge: send_sge as usize,
            max_recv_sge: recv_sge as usize,
            max_inline_data: usize::try_from(inline).unwrap_or(usize::MAX),
        };
        let cqe = usize::try_from(cqe).unwrap_or(usize::MAX);
        let kind = match kind {
            0 => QpKind::Rc,
            _ => QpKind::XrcInitiator,
        };
        lend_qp(device, pd, control, account, qps, (cap, cqe), |init| {
            QpInit { srq, kind, ..init }
        })
    }

    /// A shared receive queue in a domain.
    pub(super) fn receives(
        &mut self,
        control: &ControlLease,
        account: &Arc<Account>,
        asked: &[u64],
    ) -> Result<Lent<'_>, String> {
        let init = SrqInit {
            max_wr: half(asked, 1),
            max_sge: size(asked, 2),
            srq_limit: half(asked, 3),
        };
        let charges = charge(
            account,
            &[
                (Resource::SharedQueues, 1),
                (Resource::Files, 1),
                (
                    Resource::Memory,
                    lent_srq_bytes(init.max_wr, 1).unwrap_or(0),
                ),
            ],
        )?;
        let pd = self.pd(half(asked, 0))?;
        let srq = pd.create_shareable_srq(&init).map_err(text)?;
        let number = control.give_srq(&srq).map_err(text)?;
        self.srqs.push((number, srq, charges));
        let (_, srq, _) = self.srqs.last().ok_or("no queue")?;
        let file = srq.file().ok_or("no file")?;
        Ok((words(&[number.into()]), vec![file]))
    }

    /// A shared receive queue is wanted no more, and no queue pair has it.
    pub(super) fn leave_receives(
        &mut self,
        control: &ControlLease,
        asked: &[u64],
    ) -> Result<(), String> {
        let number = half(asked, 0);
        let at = self.srqs.iter().position(|(own, ..)| *own == number);
        let (_, srq, charges) = self
            .srqs
            .swap_remove(at.ok_or("no such shared receive queue")?);
        control.take_srq_back(&srq);
        match srq.destroy() {
            Ok(()) => Ok(()),
            Err(refused) => {
                if let Some(srq) = refused.handle {
                    let _ = control.give_srq(&srq);
                    self.srqs.push((number, srq, charges));
                }
                Err(text(refused.error))
            }
        }
    }
}
