//! How a call of a C program begins and ends.

use std::error::Error;
use std::ffi::{c_char, c_int, CStr};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr;
use std::sync::OnceLock;

use weft_hostdrv::cm::CmError;
use weft_hostdrv::transport::TransportError;
use weft_hostdrv::verbs::VerbsError;
use weft_hostdrv::DeviceError;

use crate::absent;

// Environment (programs): `WEFT_C_LOG`: C interface: `refused` or `calls`, what it tells on standard error. Without it: nothing.
/// Says on standard error what is refused (`refused`), and at exit also what was called that is not there (`calls`).
pub const LOG_VARIABLE: &str = "WEFT_C_LOG";

/// Why a call was refused. One word, so that the answer of a call fits a register.
#[derive(Debug)]
pub(crate) struct Refused(Box<Reason>);

#[derive(Debug)]
struct Reason {
    errno: c_int,
    why: Why,
}

#[derive(Debug)]
enum Why {
    Words(&'static str),
    Error(Box<dyn Error>),
}

pub(crate) type Answer<T> = Result<T, Refused>;

/// Refuses with a Linux errno and the reason.
pub(crate) fn refuse<T>(errno: c_int, why: &'static str) -> Answer<T> {
    Err(Refused::new(errno, why))
}

impl Refused {
    #[cold]
    pub(crate) fn new(errno: c_int, why: &'static str) -> Self {
        let why = Why::Words(why);
        Self(Box::new(Reason { errno, why }))
    }

    #[cold]
    fn because(errno: c_int, error: impl Error + 'static) -> Self {
        let why = Why::Error(Box::new(error));
        Self(Box::new(Reason { errno, why }))
    }

    #[cfg(test)]
    pub(crate) fn errno(&self) -> c_int {
        self.0.errno
    }
}

impl From<VerbsError> for Refused {
    #[cold]
    #[inline(never)]
    fn from(error: VerbsError) -> Self {
        use VerbsError as E;
        let errno = match &error {
            E::Device(error) => of_device(error),
            E::SendQueueFull { .. }
            | E::RecvQueueFull { .. }
            | E::SrqFull { .. }
            | E::CqFull { .. }
            | E::NoMemory { .. } => libc::ENOMEM,
            E::RegionInUse { .. } | E::SrqInUse { .. } | E::CqInUse { .. } => libc::EBUSY,
            E::Refused(_) => libc::ENOMEM,
            _ => libc::EINVAL,
        };
        Self::because(errno, error)
    }
}

impl From<CmError> for Refused {
    fn from(error: CmError) -> Self {
        let errno = match error {
            CmError::Verbs(error) => return error.into(),
            CmError::Device(ref error) => of_device(error),
            CmError::NotLocal { .. } => libc::EADDRNOTAVAIL,
            CmError::NoFamily(_) => libc::EAFNOSUPPORT,
            CmError::NoOption { .. } => libc::EOPNOTSUPP,
            CmError::Refused(_) => libc::EADDRINUSE,
            _ => libc::EINVAL,
        };
        Self::because(errno, error)
    }
}

impl From<DeviceError> for Refused {
    fn from(error: DeviceError) -> Self {
        Self::because(of_device(&error), error)
    }
}

/// What a broker does not lend is not there.
fn of_device(error: &DeviceError) -> c_int {
    match error {
        DeviceError::OfLender { .. } => {
            absent::LENT.note();
            libc::EOPNOTSUPP
        }
        DeviceError::OfFirstPort { .. }
        | DeviceError::Transport(TransportError::Unmappable { .. }) => libc::EOPNOTSUPP,
        // As of a card that has no more.
        DeviceError::NotLent { .. } => libc::ENOMEM,
        _ => libc::EIO,
    }
}

impl From<std::io::Error> for Refused {
    fn from(error: std::io::Error) -> Self {
        Self::because(error.raw_os_error().unwrap_or(libc::EIO), error)
    }
}

/// What is to be told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Log {
    Nothing,
    Refused,
    Calls,
}

pub(crate) fn log() -> Log {
    static LOG: OnceLock<Log> = OnceLock::new();
    *LOG.get_or_init(|| match std::env::var_os(LOG_VARIABLE) {
        Some(value) if value == "refused" => Log::Refused,
        Some(value) if value == "calls" => Log::Calls,
        _ => Log::Nothing,
    })
}

/// Tells of a refusal, and gives it to the program's `errno`.
#[cold]
#[inline(never)]
fn tell(name: &str, Refused(refused): &Refused) -> c_int {
    // An empty queue is no refusal.
    if log() >= Log::Refused && refused.errno != libc::EAGAIN {
        match &refused.why {
            Why::Words(why) => eprintln!("weft-rdma: {name}: {why}"),
            Why::Error(error) => eprintln!("weft-rdma: {name}: {error}"),
        }
    }
    // SAFETY: the thread's own errno.
    unsafe { *libc::__errno_location() = refused.errno };
    refused.errno
}

/// Does what an entry does; a panic is a refusal.
#[inline(always)]
fn guarded<T>(name: &'static str, call: impl FnOnce() -> Answer<T>) -> Result<T, c_int> {
    let done = catch_unwind(AssertUnwindSafe(call));
    let done = done.unwrap_or_else(|_| refuse(libc::EIO, "a fault in the driver"));
    done.map_err(|refused| tell(name, &refused))
}

/// A verb: 0, or an errno.
#[inline(always)]
pub(crate) fn verb(name: &'static str, call: impl FnOnce() -> Answer<()>) -> c_int {
    guarded(name, call).err().unwrap_or(0)
}

/// A verb that has answers of its own: one of them, or an errno.
#[inline(always)]
pub(crate) fn status(name: &'static str, call: impl FnOnce() -> Answer<c_int>) -> c_int {
    guarded(name, call).unwrap_or_else(|errno| errno)
}

/// A call of the connection manager's, and those verbs that answer likewise: 0, or -1 and `errno`.
#[inline(always)]
pub(crate) fn cm(name: &'static str, call: impl FnOnce() -> Answer<()>) -> c_int {
    guarded(name, call).map_or(-1, |()| 0)
}

/// A call that makes something: a pointer, or null and `errno`.
#[inline(always)]
pub(crate) fn made<T>(name: &'static str, call: impl FnOnce() -> Answer<*mut T>) -> *mut T {
    guarded(name, call).unwrap_or(ptr::null_mut())
}

/// A call that answers a number; 0 if it is refused.
#[inline(always)]
pub(crate) fn number<T: Default>(name: &'static str, call: impl FnOnce() -> Answer<T>) -> T {
    guarded(name, call).unwrap_or_default()
}

/// A call that answers a number; -1 if it is refused.
#[inline(always)]
pub(crate) fn count(name: &'static str, call: impl FnOnce() -> Answer<c_int>) -> c_int {
    guarded(name, call).unwrap_or(-1)
}

/// A call that answers how much there is; a negative errno if it is refused.
#[inline(always)]
pub(crate) fn size(name: &'static str, call: impl FnOnce() -> Answer<usize>) -> isize {
    guarded(name, call).map_or_else(|errno| -(errno as isize), |size| size as isize)
}

/// A call that answers text.
#[inline(always)]
pub(crate) fn text(
    name: &'static str,
    call: impl FnOnce() -> Answer<&'static CStr>,
) -> *const c_char {
    guarded(name, call).map_or(ptr::null(), CStr::as_ptr)
}

/// A call that answers nothing.
#[inline(always)]
pub(crate) fn void(name: &'static str, call: impl FnOnce() -> Answer<()>) {
    let _ = guarded(name, call);
}

/// Entries.
///
/// The contract of each, which the program keeps to: that of rdma-core's manual page of this name. Pointers point to what their types say, as long as
/// the call lasts; a handle is one that this library made and that was not destroyed; nobody destroys it meanwhile. A null pointer where
/// a handle or a structure has to be is refused.
macro_rules! entries {
    ($($(#[$doc:meta])* $kind:ident fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $answer:ty)? $body:block)*) => {
        $(
            $(#[$doc])*
            /// # Safety
            /// The contract of rdma-core's manual page.
            #[no_mangle]
            #[allow(unused_unsafe)]
            pub unsafe extern "C" fn $name($($arg: $type),*) $(-> $answer)? {
                // SAFETY: the contract is the caller's promise.
                $crate::calls::$kind(stringify!($name), || unsafe { $body })
            }
        )*
    };
}

/// The same of entries that are reached by a table of pointers.
macro_rules! operations {
    ($($(#[$doc:meta])* $kind:ident fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $answer:ty)? $body:block)*) => {
        $(
            $(#[$doc])*
            /// # Safety
            /// The contract of rdma-core's manual page.
            #[allow(unused_unsafe)]
            pub(crate) unsafe extern "C" fn $name($($arg: $type),*) $(-> $answer)? {
                // SAFETY: the contract is the caller's promise.
                $crate::calls::$kind(stringify!($name), || unsafe { $body })
            }
        )*
    };
}

/// Entries that are reached by a table of pointers and that programs call all the time.
///
/// Each has a usual way: it has no call in it, gives its answer, or `None` if anything is unusual; then nothing was done, and the guarded way follows, which
/// does all. A usual way does not panic; if one did, the process would end, as of any `extern "C"` function: nothing is unwound into C.
macro_rules! fast_operations {
    ($($(#[$doc:meta])* $kind:ident fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $answer:ty)? {
        usual $usual:block
        else $body:block
    })*) => {
        $(
            $(#[$doc])*
            /// # Safety
            /// The contract of rdma-core's manual page.
            #[allow(unused_unsafe)]
            pub(crate) unsafe extern "C" fn $name($($arg: $type),*) $(-> $answer)? {
                #[cold]
                #[inline(never)]
                unsafe extern "C" fn guarded($($arg: $type),*) $(-> $answer)? {
                    // SAFETY: the contract is the caller's promise.
                    $crate::calls::$kind(stringify!($name), || unsafe { $body })
                }
                // SAFETY: the contract is the caller's promise.
                unsafe {
                    match $usual {
                        Some(answer) => answer,
                        None => guarded($($arg),*),
                    }
                }
            }
        )*
    };
}
