//! XRC domains.

use std::ffi::c_int;
use std::os::fd::BorrowedFd;
use std::sync::Mutex;

use weft_hostdrv::verbs::{VerbsError, Xrcd, XrcdOpen};
use weft_hostdrv::DeviceError;

use crate::bindings::*;
use crate::calls::{refuse, Answer};
use crate::device::of_context;
use crate::object::{given, zeros, Object};
use crate::process::{lock, process};
use crate::queue_pairs::QueuePair;

/// `ibv_xrcd`.
#[repr(C)]
pub(crate) struct Given {
    c: ibv_xrcd,
    pub(crate) xrcd: Xrcd,
}

// SAFETY: `repr(C)`, and `ibv_xrcd` comes first.
unsafe impl Object for Given {
    type C = ibv_xrcd;
}

/// The domain of identifiers whose programs name none: as librdmacm, one for the process.
pub(crate) fn of_process() -> Answer<Xrcd> {
    static DOMAIN: Mutex<Option<Xrcd>> = Mutex::new(None);
    let mut domain = lock(&DOMAIN);
    if let Some(domain) = &*domain {
        return Ok(domain.clone());
    }
    let made = process()?.device.alloc_xrcd()?;
    *domain = Some(made.clone());
    Ok(made)
}

/// How it is to be opened.
fn how(flags: c_int) -> XrcdOpen {
    match (flags & libc::O_CREAT != 0, flags & libc::O_EXCL != 0) {
        (false, _) => XrcdOpen::Existing,
        (true, false) => XrcdOpen::OrNew,
        (true, true) => XrcdOpen::New,
    }
}

operations! {
    /// The domain that a file names, or a new one.
    made fn open_xrcd(context: *mut ibv_context, init: *mut ibv_xrcd_init_attr) -> *mut ibv_xrcd {
        let device = &of_context(context)?.device;
        let init = given(init)?;
        let wanted = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
        if init.comp_mask != wanted {
            return refuse(libc::EINVAL, "an XRC domain is opened by a file and flags");
        }
        let xrcd = match init.fd {
            -1 if init.oflags & libc::O_CREAT == 0 => return refuse(libc::EINVAL, "a new domain is not to be made"),
            -1 => device.alloc_xrcd()?,
            file @ 0.. => device.open_xrcd(BorrowedFd::borrow_raw(file), how(init.oflags))?,
            _ => return refuse(libc::EBADF, "no file"),
        };
        let c = ibv_xrcd { context };
        Ok(Given { c, xrcd }.give())
    }

    /// It goes, when nothing is in it any more.
    verb fn close_xrcd(xrcd: *mut ibv_xrcd) -> c_int {
        Given::take(xrcd).map(drop)
    }

    /// One more handle of a target of a domain by its number: of a broker's card it may be another process'.
    made fn open_qp(context: *mut ibv_context, asked: *mut ibv_qp_open_attr) -> *mut ibv_qp {
        of_context(context)?;
        let asked = given(asked)?;
        let needed = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
        if asked.comp_mask & !IBV_QP_OPEN_ATTR_CONTEXT != needed || asked.qp_type != IBV_QPT_XRC_RECV {
            return refuse(libc::EINVAL, "an XRC target is opened by its number, its domain and its type");
        }
        let qp = match Given::of(asked.xrcd)?.xrcd.open_target(asked.qp_num) {
            Err(VerbsError::NoSuchTarget { .. } | VerbsError::Device(DeviceError::NotLent { .. })) => {
                return refuse(libc::EINVAL, "no target of the domain has this number");
            }
            opened => opened?,
        };
        let mut c: ibv_qp_ex = zeros();
        c.qp_base.context = context;
        if asked.comp_mask & IBV_QP_OPEN_ATTR_CONTEXT != 0 {
            c.qp_base.qp_context = asked.qp_context;
        }
        QueuePair::of_target(qp, c)
    }
}
