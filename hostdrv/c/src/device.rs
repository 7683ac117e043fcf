//! The device list, contexts, and what can be asked of a device.

use std::ffi::{c_char, c_int, c_uint, c_void, CStr};
use std::mem::{offset_of, size_of};
use std::os::fd::RawFd;
use std::ptr;

use crate::bindings::*;
use crate::calls::{refuse, Answer};
use crate::object::{given, zeros, Object};
use crate::process::{process, Process};
use crate::{completions, memory, posting, queue_pairs, settings, shared_receives, xrc};

/// `IBV_LINK_LAYER_ETHERNET`, which the headers have in an enumeration without a name.
const ETHERNET: u8 = 2;
/// The name of the one device.
const NAME: &CStr = c"weft0";

/// No registered OUI: three letters.
const VENDOR: u32 = u32::from_be_bytes([0, b'W', b'F', b'T']);
/// Completion vectors: one.
const VECTORS: c_int = 1;

/// Is it one of the device's completion vectors?
pub(crate) fn check_vector(vector: c_int) -> Answer<()> {
    match (0..VECTORS).contains(&vector) {
        true => Ok(()),
        false => refuse(libc::EINVAL, "a completion vector that there is not"),
    }
}

/// Providers read behind the structure, as if it were the one of rdma-core's core: there are zeros.
#[repr(C)]
struct Listed {
    device: ibv_device,
    behind: [u64; 128],
}

// SAFETY: it is never written after it was made.
unsafe impl Sync for Listed {}
// SAFETY: it has no thread of its own.
unsafe impl Send for Listed {}

/// The one device, if the environment names one.
fn listed() -> Option<*mut ibv_device> {
    static DEVICE: std::sync::OnceLock<Listed> = std::sync::OnceLock::new();
    settings::device().ok()?;
    let listed = DEVICE.get_or_init(|| {
        // SAFETY: function pointers that may be null, numbers and characters.
        let mut device: ibv_device = unsafe { zeros() };
        device.node_type = IBV_NODE_RNIC;
        device.transport_type = IBV_TRANSPORT_IWARP;
        write_text(&mut device.name, NAME);
        write_text(&mut device.dev_name, NAME);
        Listed {
            device,
            behind: [0; 128],
        }
    });
    debug_assert_eq!(listed.behind[0], 0);
    Some((&raw const listed.device).cast_mut())
}

fn write_text(to: &mut [c_char], text: &CStr) {
    for (to, from) in to.iter_mut().zip(text.to_bytes_with_nul()) {
        *to = *from as c_char;
    }
}

/// The GUID: the station address as EUI-64, big-endian.
fn guid() -> u64 {
    let [a, b, c, d] = settings::ip().octets();
    u64::from_be_bytes([0x00, 0x57, a, 0xff, 0xfe, b, c, d]).to_be()
}

/// The context of the process: rdma-core's structure, in which `ibv_context` comes last.
pub(crate) struct Context {
    made: *mut verbs_context,
}

// SAFETY: what it points to lives as long as the process; the program's structure is its own business.
unsafe impl Sync for Context {}
// SAFETY: as above.
unsafe impl Send for Context {}

/// A context that a program has.
struct Given;

// SAFETY: nothing is read of it but by `process_of`.
unsafe impl Object for Given {
    type C = ibv_context;
}

impl Context {
    /// Its asynchronous events come by this descriptor.
    pub(crate) fn new(events: RawFd) -> Answer<Self> {
        let Some(device) = listed() else {
            return refuse(libc::ENODEV, "WEFT_DEVICE names no card");
        };
        // SAFETY: pointers that may be null, numbers; a mutex of zeros is an unlocked one.
        let mut context: verbs_context = unsafe { zeros() };
        context.sz = size_of::<verbs_context>();
        context.query_port = Some(query_port);
        context.query_device_ex = Some(query_device_ex);
        context.create_cq_ex = Some(completions::create_cq_ex);
        context.modify_cq = Some(completions::modify_cq);
        context.create_qp_ex = Some(queue_pairs::create_qp_ex);
        context.create_srq_ex = Some(shared_receives::create_srq_ex);
        context.get_srq_num = Some(shared_receives::get_srq_num);
        context.open_xrcd = Some(xrc::open_xrcd);
        context.close_xrcd = Some(xrc::close_xrcd);
        context.open_qp = Some(xrc::open_qp);
        let inner = &mut context.context;
        inner.device = device;
        inner.cmd_fd = -1;
        inner.async_fd = events;
        inner.num_comp_vectors = VECTORS;
        // `__VERBS_ABI_IS_EXTENDED`: this is a part of a `verbs_context`.
        inner.abi_compat = usize::MAX as *mut c_void;
        inner.ops.alloc_mw = Some(memory::alloc_mw);
        inner.ops.bind_mw = Some(memory::bind_mw);
        inner.ops.dealloc_mw = Some(memory::dealloc_mw);
        inner.ops.poll_cq = Some(completions::poll_cq);
        inner.ops.req_notify_cq = Some(completions::req_notify_cq);
        inner.ops.post_srq_recv = Some(shared_receives::post_srq_recv);
        inner.ops.post_send = Some(posting::post_send);
        inner.ops.post_recv = Some(posting::post_recv);
        let made = Box::into_raw(Box::new(context));
        Ok(Self { made })
    }

    /// As the program has it.
    pub(crate) fn as_c(&self) -> *mut ibv_context {
        // SAFETY: it was made in `new`, and lives as long as the process.
        unsafe { &raw mut (*self.made).context }
    }
}

/// The process of a context.
///
/// # Safety
/// It is null or the one of the process.
pub(crate) unsafe fn of_context(context: *mut ibv_context) -> Answer<&'static Process> {
    // SAFETY: the caller's promise.
    unsafe { Given::of(context) }.and_then(|_| process())
}

fn attributes(process: &Process) -> ibv_device_attr {
    let device = process.device.attributes();
    let most = |value: usize| c_int::try_from(value).unwrap_or(c_int::MAX);
    // SAFETY: numbers and characters.
    let mut attr: ibv_device_attr = unsafe { zeros() };
    write_text(&mut attr.fw_ver, c"weft");
    attr.node_guid = guid();
    attr.sys_image_guid = guid();
    attr.max_mr_size = u64::from(u32::MAX);
    attr.page_size_cap = device.page_size as u64;
    attr.vendor_id = VENDOR;
    attr.hw_ver = 1;
    attr.max_qp = most(device.max_qp as usize);
    attr.max_qp_wr = most(device.max_qp_wr as usize);
    attr.device_cap_flags = IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_XRC;
    attr.max_sge = most(device.max_send_sge.min(device.max_recv_sge));
    attr.max_sge_rd = most(device.max_send_sge);
    attr.max_cq = most(2 * device.max_qp as usize);
    attr.max_cqe = most(device.max_cqe);
    attr.max_mr = most(device.max_mr as usize);
    attr.max_mw = attr.max_mr;
    attr.max_pd = attr.max_qp;
    attr.max_qp_rd_atom = device.max_qp_rd_atom.into();
    attr.max_qp_init_rd_atom = device.max_qp_init_rd_atom.into();
    attr.max_res_rd_atom = attr.max_qp_rd_atom * attr.max_qp;
    attr.atomic_cap = IBV_ATOMIC_HCA;
    attr.max_srq = attr.max_qp;
    attr.max_srq_wr = attr.max_qp_wr;
    attr.max_srq_sge = most(device.max_recv_sge);
    attr.max_pkeys = 1;
    attr.phys_port_cnt = 1;
    attr
}

fn port(process: &Process, number: u8) -> Answer<ibv_port_attr> {
    if number != 1 {
        return refuse(libc::EINVAL, "the device has port 1 alone");
    }
    let mtu = match process.device.attributes().mtu {
        ..=1023 => IBV_MTU_512,
        1024..=2047 => IBV_MTU_1024,
        2048..=4095 => IBV_MTU_2048,
        _ => IBV_MTU_4096,
    };
    // SAFETY: numbers.
    let mut attr: ibv_port_attr = unsafe { zeros() };
    attr.state = IBV_PORT_ACTIVE;
    attr.max_mtu = IBV_MTU_4096;
    attr.active_mtu = mtu;
    attr.gid_tbl_len = 1;
    attr.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_REINIT_SUP | IBV_PORT_DEVICE_MGMT_SUP;
    attr.max_msg_sz = u32::MAX;
    attr.pkey_tbl_len = 1;
    attr.max_vl_num = 1;
    // 4X, EDR: 100 Gbit/s; link up; Ethernet.
    (attr.active_width, attr.active_speed) = (2, 32);
    attr.phys_state = 5;
    attr.link_layer = ETHERNET;
    Ok(attr)
}

/// The one GID.
fn gid_entry(process: &Process) -> ibv_gid_entry {
    // SAFETY: numbers.
    let mut entry: ibv_gid_entry = unsafe { zeros() };
    entry.gid = ibv_gid {
        raw: process.device.gids()[0].0,
    };
    entry.port_num = 1;
    entry
}

/// Writes as much of a structure as the program's has room for.
///
/// # Safety
/// `to` is valid for `room` bytes.
unsafe fn write_part<T>(from: &T, to: *mut u8, room: usize) {
    let bytes = (from as *const T).cast::<u8>();
    // SAFETY: the caller's promise, and no more than there is.
    unsafe { ptr::copy_nonoverlapping(bytes, to, room.min(size_of::<T>())) };
}

operations! {
    /// Its port; a structure that may be shorter or longer than this one.
    verb fn query_port(context: *mut ibv_context, number: u8, attr: *mut ibv_port_attr, room: size_t) -> c_int {
        given(attr)?;
        let port = port(of_context(context)?, number)?;
        ptr::write_bytes(attr.cast::<u8>(), 0, room);
        write_part(&port, attr.cast(), room);
        Ok(())
    }

    /// Its limits; a structure that may be shorter or longer than this one.
    verb fn query_device_ex(
        context: *mut ibv_context,
        _input: *const ibv_query_device_ex_input,
        attr: *mut ibv_device_attr_ex,
        room: size_t,
    ) -> c_int {
        given(attr)?;
        let process = of_context(context)?;
        let mut all: ibv_device_attr_ex = zeros();
        all.orig_attr = attributes(process);
        all.phys_port_cnt_ex = 1;
        ptr::write_bytes(attr.cast::<u8>(), 0, room);
        write_part(&all, attr.cast(), room);
        Ok(())
    }
}

entries! {
    /// The device that the environment names; none if it names none.
    made fn ibv_get_device_list(count: *mut c_int) -> *mut *mut ibv_device {
        let device = listed();
        if !count.is_null() {
            count.write(device.is_some().into());
        }
        let list = Box::new([device.unwrap_or(ptr::null_mut()), ptr::null_mut()]);
        Ok(Box::into_raw(list).cast())
    }

    /// Frees the list; the device stays.
    void fn ibv_free_device_list(list: *mut *mut ibv_device) {
        if !list.is_null() {
            drop(Box::from_raw(list.cast::<[*mut ibv_device; 2]>()));
        }
        Ok(())
    }

    /// Its name.
    text fn ibv_get_device_name(device: *mut ibv_device) -> *const c_char {
        given(device).map(|_| NAME)
    }

    /// Its number.
    number fn ibv_get_device_index(device: *mut ibv_device) -> c_int {
        given(device).map(|_| 1)
    }

    /// Its GUID, big-endian.
    number fn ibv_get_device_guid(device: *mut ibv_device) -> __be64 {
        given(device).map(|_| guid())
    }

    /// Opens it, or gives the context once more.
    made fn ibv_open_device(device: *mut ibv_device) -> *mut ibv_context {
        given(device)?;
        Ok(process()?.context.as_c())
    }

    /// The context stays, as long as the process does.
    cm fn ibv_close_device(context: *mut ibv_context) -> c_int {
        given(context).map(drop)
    }

    /// Its limits.
    verb fn ibv_query_device(context: *mut ibv_context, attr: *mut ibv_device_attr) -> c_int {
        given(attr)?;
        attr.write(attributes(of_context(context)?));
        Ok(())
    }

    /// Its port, as old programs have the structure: without what was added behind its flags.
    verb fn ibv_query_port(context: *mut ibv_context, number: u8, attr: *mut _compat_ibv_port_attr) -> c_int {
        given(attr)?;
        let port = port(of_context(context)?, number)?;
        write_part(&port, attr.cast(), offset_of!(ibv_port_attr, port_cap_flags2));
        Ok(())
    }

    /// Its GID: the station address and zeros, as Linux gives it to iWARP ports.
    cm fn ibv_query_gid(context: *mut ibv_context, _port: u8, index: c_int, gid: *mut ibv_gid) -> c_int {
        given(gid)?;
        let process = of_context(context)?;
        if index != 0 {
            return refuse(libc::EINVAL, "there is GID 0 alone");
        }
        gid.write(ibv_gid { raw: process.device.gids()[0].0 });
        Ok(())
    }

    /// The same with what kind it is.
    verb fn _ibv_query_gid_ex(
        context: *mut ibv_context,
        port: u32,
        index: u32,
        entry: *mut ibv_gid_entry,
        _flags: u32,
        room: size_t,
    ) -> c_int {
        given(entry)?;
        let process = of_context(context)?;
        if (port, index) != (1, 0) {
            return refuse(libc::ENODATA, "there is GID 0 of port 1 alone");
        }
        write_part(&gid_entry(process), entry.cast(), room);
        Ok(())
    }

    /// All of them.
    size fn _ibv_query_gid_table(
        context: *mut ibv_context,
        entries: *mut ibv_gid_entry,
        most: size_t,
        _flags: u32,
        room: size_t,
    ) -> isize {
        given(entries)?;
        let process = of_context(context)?;
        if most == 0 {
            return refuse(libc::EINVAL, "no room for the GID that there is");
        }
        write_part(&gid_entry(process), entries.cast(), room);
        Ok(1)
    }

    /// What kind of GID sysfs would say it is: "IB/RoCE v1", as of all that is not RoCE v2.
    cm fn ibv_query_gid_type(context: *mut ibv_context, _port: u8, index: c_uint, kind: *mut c_uint) -> c_int {
        given(kind)?;
        of_context(context)?;
        if index != 0 {
            return refuse(libc::EINVAL, "there is GID 0 alone");
        }
        kind.write(0);
        Ok(())
    }

    /// iWARP has no partitions: the default one.
    cm fn ibv_query_pkey(context: *mut ibv_context, _port: u8, index: c_int, pkey: *mut __be16) -> c_int {
        given(pkey)?;
        of_context(context)?;
        if index != 0 {
            return refuse(libc::EINVAL, "there is partition 0 alone");
        }
        pkey.write(0xffff);
        Ok(())
    }

    /// Where it is.
    count fn ibv_get_pkey_index(context: *mut ibv_context, _port: u8, pkey: __be16) -> c_int {
        of_context(context)?;
        match pkey {
            0xffff => Ok(0),
            _ => refuse(libc::EINVAL, "there is the default partition alone"),
        }
    }

    /// A process that forks keeps its device; the child has none.
    verb fn ibv_fork_init() -> c_int {
        Ok(())
    }

    /// As if it had been asked for.
    number fn ibv_is_fork_initialized() -> ibv_fork_status {
        Ok(IBV_FORK_UNNEEDED)
    }
}
