//! Queue pairs of clients: each with a completion queue of its own, and both lent.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use super::asked::{charge, half, size, text};
use super::packet::{words, Words};
use weft_hostdrv::device::{Account, Device, Resource};
use weft_hostdrv::verbs::{lent_bytes, ControlLease, Pd, Qp, QpCap, QpInit, QpKind};

/// What a client is answered, and files that go along.
pub(super) type Lent<'a> = (Words, Vec<BorrowedFd<'a>>);

/// One of the client's own domain, as versions before 4 ask for it.
pub(super) fn create_qp<'q>(
    device: &Device,
    pd: &Pd,
    control: &ControlLease,
    account: &Arc<Account>,
    qps: &'q mut Vec<Qp>,
    asked: &[u64],
) -> Result<Lent<'q>, String> {
    let cap = QpCap {
        max_send_wr: half(asked, 0),
        max_recv_wr: half(asked, 1),
        max_send_sge: size(asked, 2),
        max_recv_sge: size(asked, 3),
        max_inline_data: size(asked, 4),
    };
    let kind = match size(asked, 6) {
        0 => QpKind::Rc,
        _ => QpKind::XrcInitiator,
    };
    let cqe = size(asked, 5);
    lend_qp(device, pd, control, account, qps, (cap, cqe), |init| {
        QpInit { kind, ..init }
    })
}

/// Makes a queue pair with a completion queue of its own, and lends both.
pub(super) fn lend_qp<'q>(
    device: &Device,
    pd: &Pd,
    control: &ControlLease,
    account: &Arc<Account>,
    qps: &'q mut Vec<Qp>,
    (cap, cqe): (QpCap, usize),
    with: impl FnOnce(QpInit) -> QpInit,
) -> Result<Lent<'q>, String> {
    let Some(bytes) = lent_bytes(&cap, cqe) else {
        return Err(no_such_queues(device, pd, cap, cqe));
    };
    let charges = charge(
        account,
        &[
            (Resource::QueuePairs, 1),
            (Resource::Files, 2),
            (Resource::Memory, bytes),
        ],
    )?;
    let cq = device.create_shareable_cq(cqe).map_err(text)?;
    let init = with(QpInit {
        cap,
        shareable: true,
        ..QpInit::new(&cq)
    });
    let qp = pd.create_qp(&init).map_err(text)?;
    qp.keep(charges);
    qp.share().map_err(text)?;
    let number = control.give_qp(&qp).map_err(text)?;
    qps.push(qp);
    let lease = qps.last().ok_or("no queue pair")?.lease().map_err(text)?;
    let terms = lease.terms;
    let said = [
        number,
        terms.qp_num,
        terms.max_send_wr,
        terms.max_recv_wr,
        terms.max_sge,
        terms.max_inline_data,
        terms.cqe,
    ];
    let files = vec![lease.queues, lease.completions];
    Ok((words(&said.map(u64::from)), files))
}

/// Why there are no queues of these sizes: the smallest of the one beside the other is refused, and says why.
fn no_such_queues(device: &Device, pd: &Pd, cap: QpCap, cqe: usize) -> String {
    let made = device.create_cq(cqe.min(1), None).and_then(|cq| {
        let init = QpInit {
            cap,
            ..QpInit::new(&cq)
        };
        pd.create_qp(&init)
    });
    match made {
        Ok(_) => format!("{cqe} completion queue entries: use at most 16777216"),
        Err(why) => text(why),
    }
}
