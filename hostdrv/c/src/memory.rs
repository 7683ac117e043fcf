//! Protection domains, memory regions and windows.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::OnceLock;
use std::time::Duration;

use weft_hostdrv::verbs::{inc_rkey, Access, BindWr, Mr, Mw, MwType, Pd};
use weft_hostdrv::Device;

use crate::bindings::*;
use crate::calls::{refuse, Answer, Refused};
use crate::device::of_context;
use crate::object::{given, zeros, Object};
use crate::process::{process, Process};
use crate::queue_pairs::QueuePair;

/// Bytes of immediate data (RFC 7306 §6).
pub(crate) const IMMEDIATE: usize = 8;

/// How long a region waits for the work of closing connections that still has it.
const LAST_WORK: Duration = Duration::from_secs(1);
/// How often it is tried.
const LOOK: Duration = Duration::from_millis(1);

/// `ibv_pd`.
#[repr(C)]
pub(crate) struct Domain {
    c: ibv_pd,
    pub(crate) pd: Pd,
    /// Where immediate data go whose receive has no room.
    spare: OnceLock<Mr>,
}

// SAFETY: `repr(C)`, and `ibv_pd` comes first.
unsafe impl Object for Domain {
    type C = ibv_pd;
}

impl Domain {
    pub(crate) fn new(context: *mut ibv_context, pd: Pd) -> Self {
        let c = ibv_pd { context, handle: 0 };
        let spare = OnceLock::new();
        Self { c, pd, spare }
    }

    /// Room for immediate data: elsewhere they take none of the receive's, iWARP's are a message.
    pub(crate) fn spare(&self) -> Answer<&Mr> {
        if self.spare.get().is_none() {
            let _ = self
                .spare
                .set(self.pd.alloc_mr(IMMEDIATE, Access::LOCAL_WRITE)?);
        }
        match self.spare.get() {
            Some(spare) => Ok(spare),
            None => refuse(libc::ENOMEM, "no memory for immediate data"),
        }
    }
}

/// `ibv_mr`.
#[repr(C)]
pub(crate) struct Region {
    c: ibv_mr,
    pub(crate) mr: Mr,
}

// SAFETY: `repr(C)`, and `ibv_mr` comes first.
unsafe impl Object for Region {
    type C = ibv_mr;
}

/// `ibv_mw`.
#[repr(C)]
struct Window {
    c: ibv_mw,
    mw: Mw,
}

// SAFETY: `repr(C)`, and `ibv_mw` comes first.
unsafe impl Object for Window {
    type C = ibv_mw;
}

/// The regions of the process by their STags' numbers, for the posts.
pub(crate) struct Regions(Box<[AtomicPtr<Region>]>);

/// Bits of an STag that are its key; those above are its number.
const KEY_BITS: u32 = 8;

impl Regions {
    pub(crate) fn new(device: &Device) -> Self {
        let numbers = device.capabilities().stags as usize;
        Self((0..=numbers).map(|_| AtomicPtr::default()).collect())
    }

    fn set(&self, lkey: u32, region: *mut Region) {
        if let Some(slot) = self.0.get((lkey >> KEY_BITS) as usize) {
            slot.store(region, Ordering::Release);
        }
    }

    /// The region that an lkey names.
    ///
    /// # Safety
    /// Nobody deregisters it for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn get<'a>(&self, lkey: u32) -> Option<&'a Mr> {
        let slot = self.0.get((lkey >> KEY_BITS) as usize)?;
        // SAFETY: null, or a region that is registered: it is taken out before it goes.
        let region = unsafe { slot.load(Ordering::Acquire).as_ref() }?;
        (region.mr.lkey() == lkey).then_some(&region.mr)
    }
}

impl Regions {
    /// Is all of an SGE in the region that its lkey names, which is of this domain and has these rights?
    ///
    /// # Safety
    /// Nobody deregisters it meanwhile.
    pub(crate) unsafe fn has(&self, sge: &ibv_sge, pd: &Pd, needs: Access) -> bool {
        // SAFETY: the caller's promise.
        let Some(mr) = (unsafe { self.get(sge.lkey) }) else {
            return false;
        };
        let offset = sge.addr.wrapping_sub(mr.addr());
        let end = offset.checked_add(sge.length.into());
        let fits = end.is_some_and(|end| end <= mr.len() as u64);
        fits && mr.pd().is(pd) && mr.access().contains(needs)
    }
}

/// Rights. What a Read fills needs a right of its own here, as what iWARP's Read Response writes is tagged: who may write locally has it.
fn access(bits: c_uint) -> Access {
    let rights = [
        (IBV_ACCESS_LOCAL_WRITE, Access::LOCAL_WRITE),
        (IBV_ACCESS_LOCAL_WRITE, Access::READ_SINK),
        (IBV_ACCESS_REMOTE_WRITE, Access::REMOTE_WRITE),
        (IBV_ACCESS_REMOTE_READ, Access::REMOTE_READ),
        (IBV_ACCESS_REMOTE_ATOMIC, Access::REMOTE_ATOMIC),
        (IBV_ACCESS_MW_BIND, Access::BIND),
    ];
    let given = rights.iter().filter(|(bit, _)| bits & bit != 0);
    given.fold(Access::NONE, |all, (_, right)| all | *right)
}

/// Rights that another one has to go with.
const WRITTEN: c_uint = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

/// Rights that no region of Weft's has.
const REFUSED: c_uint = IBV_ACCESS_ON_DEMAND;

/// # Safety
/// Of `ibv_reg_mr`: the bytes stay where they are and in use until the region is deregistered.
unsafe fn register(
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    iova: u64,
    bits: c_uint,
) -> Answer<*mut ibv_mr> {
    // SAFETY: the caller's promise.
    let domain = unsafe { Domain::of(pd) }?;
    let Some(start) = NonNull::new(addr.cast::<u8>()) else {
        return refuse(libc::EINVAL, "no memory to be registered");
    };
    if bits & REFUSED != 0 {
        return refuse(libc::EOPNOTSUPP, "the card has no page faults");
    }
    if bits & WRITTEN != 0 && bits & IBV_ACCESS_LOCAL_WRITE == 0 {
        return refuse(
            libc::EINVAL,
            "who lets the peer write has to be able to write himself",
        );
    }
    let zero_based = bits & IBV_ACCESS_ZERO_BASED != 0;
    let first = if zero_based { 0 } else { iova };
    // SAFETY: the caller's promise. C programs have no references.
    let mr = unsafe { domain.pd.reg_raw_at(start, length, first, access(bits)) }?;
    let c = ibv_mr {
        // SAFETY: the domain is the program's.
        context: unsafe { (*pd).context },
        pd,
        addr,
        length,
        handle: 0,
        lkey: mr.lkey(),
        rkey: mr.rkey(),
    };
    let lkey = mr.lkey();
    let region = Region { c, mr }.give();
    process()?.regions.set(lkey, region.cast());
    Ok(region)
}

/// Takes a region away from the card. Work of a connection that is on its way out may have it: soon that is over. `Err` has the region, if it stays one.
fn deregister(process: &Process, mut mr: Mr) -> Result<(), (Option<Mr>, Refused)> {
    let device = &process.device;
    let soon = |time: Duration| device.now().saturating_add(time.as_nanos() as u64);
    let until = soon(LAST_WORK);
    loop {
        let refused = match mr.dereg() {
            Ok(()) => return Ok(()),
            Err(refused) => refused,
        };
        let Some(left) = refused.handle else {
            return Err((None, refused.error.into()));
        };
        if device.now() >= until {
            return Err((Some(left), refused.error.into()));
        }
        mr = left;
        if let Err(error) = device.wait_for(Some(soon(LOOK)), || None::<()>) {
            return Err((Some(mr), error.into()));
        }
    }
}

entries! {
    /// A new protection domain.
    made fn ibv_alloc_pd(context: *mut ibv_context) -> *mut ibv_pd {
        let process = of_context(context)?;
        Ok(Domain::new(context, process.device.alloc_pd()?).give())
    }

    /// It goes, when nothing is in it any more.
    verb fn ibv_dealloc_pd(pd: *mut ibv_pd) -> c_int {
        Domain::take(pd).map(drop)
    }

    /// Registers any bytes. The remote address is the program's.
    made fn ibv_reg_mr(pd: *mut ibv_pd, addr: *mut c_void, length: size_t, access: c_int) -> *mut ibv_mr {
        register(pd, addr, length, addr as u64, access as c_uint)
    }

    /// The same with another address.
    made fn ibv_reg_mr_iova(
        pd: *mut ibv_pd,
        addr: *mut c_void,
        length: size_t,
        iova: u64,
        access: c_int,
    ) -> *mut ibv_mr {
        register(pd, addr, length, iova, access as c_uint)
    }

    /// The same with all rights.
    made fn ibv_reg_mr_iova2(
        pd: *mut ibv_pd,
        addr: *mut c_void,
        length: size_t,
        iova: u64,
        access: c_uint,
    ) -> *mut ibv_mr {
        register(pd, addr, length, iova, access)
    }

    /// The card does not reach it any more.
    verb fn ibv_dereg_mr(mr: *mut ibv_mr) -> c_int {
        let process = process()?;
        let lkey = Region::of(mr)?.mr.lkey();
        process.regions.set(lkey, ptr::null_mut());
        // Its place stays: it may be a region still.
        let region: *mut Region = Box::into_raw(Region::take(mr)?);
        let refused = deregister(process, ptr::read(&raw const (*region).mr)).err();
        let (left, refused) = match refused {
            Some((left, refused)) => (left, Err(refused)),
            None => (None, Ok(())),
        };
        match left {
            Some(mr) => {
                ptr::write(&raw mut (*region).mr, mr);
                process.regions.set(lkey, region);
            }
            None => drop(Box::from_raw(region.cast::<ManuallyDrop<Region>>())),
        }
        refused
    }

    /// Memory of a process that forks stays its own.
    verb fn ibv_dontfork_range(_base: *mut c_void, _size: size_t) -> c_int {
        Ok(())
    }

    /// As above.
    verb fn ibv_dofork_range(_base: *mut c_void, _size: size_t) -> c_int {
        Ok(())
    }
}

operations! {
    /// A window.
    made fn alloc_mw(pd: *mut ibv_pd, kind: ibv_mw_type) -> *mut ibv_mw {
        let domain = Domain::of(pd)?;
        let weft = match kind {
            IBV_MW_TYPE_1 => MwType::Type1,
            IBV_MW_TYPE_2 => MwType::Type2,
            _ => return refuse(libc::EINVAL, "no type of windows"),
        };
        let mw = domain.pd.alloc_mw(weft)?;
        let mut c: ibv_mw = zeros();
        (c.context, c.pd, c.rkey, c.type_) = ((*pd).context, pd, mw.rkey(), kind);
        Ok(Window { c, mw }.give())
    }

    /// It goes.
    verb fn dealloc_mw(mw: *mut ibv_mw) -> c_int {
        Window::take(mw).map(drop)
    }

    /// Binds a window of type 1.
    verb fn bind_mw(qp: *mut ibv_qp, mw: *mut ibv_mw, bind: *mut ibv_mw_bind) -> c_int {
        let bind = given(bind)?;
        let signaled = bind.send_flags & IBV_SEND_SIGNALED != 0;
        let rkey = bind_window(QueuePair::of(qp)?, mw, None, bind.wr_id, &bind.bind_info, signaled)?;
        (*mw).rkey = rkey;
        Ok(())
    }
}

/// Posts the bind of a window; the key that it will have. `key`: which that is, if the program says so.
///
/// # Safety
/// Of `ibv_bind_mw`.
pub(crate) unsafe fn bind_window(
    qp: &QueuePair,
    mw: *mut ibv_mw,
    key: Option<u32>,
    wr_id: u64,
    info: &ibv_mw_bind_info,
    signaled: bool,
) -> Answer<u32> {
    // SAFETY: the caller's promise.
    let window = unsafe { Window::of(mw) }?;
    if key.is_some_and(|key| key != inc_rkey(window.mw.rkey())) {
        return refuse(
            libc::EINVAL,
            "a key that is not the window's next one: ibv_inc_rkey",
        );
    }
    if info.length == 0 {
        qp.qp.unbind_mw(&window.mw, wr_id)?;
        return Ok(window.mw.rkey());
    }
    // SAFETY: the caller's promise.
    let region = unsafe { Region::of(info.mr) }?;
    let length = u32::try_from(info.length)
        .map_err(|_| Refused::new(libc::EINVAL, "a window of 4 GiB or more"))?;
    let sge = region
        .mr
        .sge(info.addr.wrapping_sub(region.mr.addr()), length);
    let mut rights = access(info.mw_access_flags);
    if window.c.type_ == IBV_MW_TYPE_2 {
        // As of any window of this type: rdma-core has no right of this name.
        rights = rights | Access::REMOTE_INVALIDATE;
    }
    let mut wr = BindWr::new(wr_id, sge, rights).addr(info.addr);
    if signaled {
        wr = wr.signaled();
    }
    Ok(qp.qp.bind_mw(&window.mw, wr)?.rkey)
}
