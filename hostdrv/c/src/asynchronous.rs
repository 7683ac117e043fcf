//! Asynchronous events.

use std::ffi::c_int;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::bindings::*;
use crate::object::given;
use crate::process::process;

/// An event, and whose it is.
pub(crate) struct Asynchronous {
    kind: ibv_event_type,
    of: Of,
}

enum Of {
    Qp(AtomicPtr<ibv_qp>),
    Srq(AtomicPtr<ibv_srq>),
    Device,
}

impl Asynchronous {
    pub(crate) fn qp(kind: ibv_event_type, qp: *mut ibv_qp) -> Self {
        let of = Of::Qp(AtomicPtr::new(qp));
        Self { kind, of }
    }

    pub(crate) fn srq(kind: ibv_event_type, srq: *mut ibv_srq) -> Self {
        let of = Of::Srq(AtomicPtr::new(srq));
        Self { kind, of }
    }

    pub(crate) fn device(kind: ibv_event_type) -> Self {
        let of = Of::Device;
        Self { kind, of }
    }

    pub(crate) fn is_of_qp(&self, qp: *mut ibv_qp) -> bool {
        matches!(&self.of, Of::Qp(of) if of.load(Ordering::Relaxed) == qp)
    }

    pub(crate) fn is_of_srq(&self, srq: *mut ibv_srq) -> bool {
        matches!(&self.of, Of::Srq(of) if of.load(Ordering::Relaxed) == srq)
    }
}

entries! {
    /// The next asynchronous event.
    cm fn ibv_get_async_event(context: *mut ibv_context, event: *mut ibv_async_event) -> c_int {
        given(context)?;
        given(event)?;
        let next = process()?.events.take()?;
        let element = match &next.of {
            Of::Qp(qp) => ibv_async_event__bindgen_ty_1 { qp: qp.load(Ordering::Relaxed) },
            Of::Srq(srq) => ibv_async_event__bindgen_ty_1 { srq: srq.load(Ordering::Relaxed) },
            Of::Device => ibv_async_event__bindgen_ty_1 { port_num: 1 },
        };
        event.write(ibv_async_event { element, event_type: next.kind });
        Ok(())
    }

    /// An event holds nothing.
    void fn ibv_ack_async_event(_event: *mut ibv_async_event) {
        Ok(())
    }
}
