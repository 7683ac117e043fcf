//! Identifiers.

use std::ffi::{c_int, c_void};
use std::net::SocketAddr;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex};

use weft_hostdrv::cm::{CmId, CmOption, CmState, ConnParam};
use weft_hostdrv::verbs::Pd;

use super::channel::{acknowledge, forget, hand_over, next, Channel, Inbox};
use super::{endpoint, ip};
use crate::bindings::*;
use crate::calls::{refuse, Answer};
use crate::completions::Acknowledged;
use crate::object::{given, zeros, Object};
use crate::process::{lock, process, Process};
use crate::queue_pairs::{self, Extended};
use crate::{settings, xrc};

/// `rdma_cm_id`.
#[repr(C)]
pub(crate) struct Identifier {
    c: rdma_cm_id,
    pub(crate) weft: CmId,
    process: &'static Process,
    pub(crate) acknowledged: Acknowledged,
    /// Where its events wait.
    inbox: Mutex<Arc<Inbox>>,
    /// It has a channel of its own, and its calls wait for their event.
    is_synchronous: AtomicPtr<rdma_event_channel>,
    /// What a listener of `rdma_create_ep` gives each connection.
    pub(crate) template: Mutex<Option<endpoint::Template>>,
}

// SAFETY: `repr(C)`, and `rdma_cm_id` comes first.
unsafe impl Object for Identifier {
    type C = rdma_cm_id;
}

/// The identifiers of the process that are not destroyed.
#[derive(Default)]
pub(crate) struct Ids(Mutex<Vec<(CmId, AtomicPtr<rdma_cm_id>)>>);

impl Ids {
    /// The program's handle.
    pub(crate) fn find(&self, id: &CmId) -> Option<*mut rdma_cm_id> {
        let ids = lock(&self.0);
        let found = ids.iter().find(|(other, _)| other.is(id));
        found.map(|(_, handle)| handle.load(Ordering::Relaxed))
    }

    fn add(&self, id: &CmId, handle: *mut rdma_cm_id) {
        lock(&self.0).push((id.clone(), AtomicPtr::new(handle)));
    }

    fn remove(&self, id: &CmId) {
        let mut ids = lock(&self.0);
        let at = ids.iter().position(|(other, _)| other.is(id));
        let gone = at.map(|at| ids.swap_remove(at));
        drop(ids);
        drop(gone);
    }

    pub(crate) fn all(&self) -> Vec<CmId> {
        lock(&self.0).iter().map(|(id, _)| id.clone()).collect()
    }
}

/// `RDMA_OPTION_ID_TOS` and so on, which the headers have in an enumeration without a name.
const TOS: c_int = 0;
const REUSE_ADDRESS: c_int = 1;
const AFONLY: c_int = 2;
const ACK_TIMEOUT: c_int = 3;

/// Reads at a time that a program means by "as many as there can be".
const MOST_READS: u8 = 0xff;

impl Identifier {
    fn create(
        process: &'static Process,
        weft: CmId,
        channel: (*mut rdma_event_channel, &Arc<Inbox>),
        context: *mut c_void,
        ps: rdma_port_space,
    ) -> *mut rdma_cm_id {
        let (channel, inbox) = channel;
        // SAFETY: pointers that may be null and numbers.
        let mut c: rdma_cm_id = unsafe { zeros() };
        (c.channel, c.context, c.ps, c.qp_type) = (channel, context, ps, IBV_QPT_RC);
        c.port_num = 1;
        let id = weft.clone();
        let handle = Self {
            c,
            weft,
            process,
            inbox: Mutex::new(inbox.clone()),
            acknowledged: Acknowledged::default(),
            is_synchronous: AtomicPtr::default(),
            template: Mutex::default(),
        }
        .give();
        process.ids.add(&id, handle);
        handle
    }

    /// The identifier of a request.
    ///
    /// # Safety
    /// The listener is the program's.
    pub(crate) unsafe fn of_request(
        process: &'static Process,
        channel: *mut rdma_event_channel,
        listener: *mut rdma_cm_id,
        weft: CmId,
    ) -> Answer<*mut rdma_cm_id> {
        // SAFETY: the caller's promise.
        let (context, ps, inbox) = unsafe {
            let inbox = Channel::of(channel)?.events.clone();
            ((*listener).context, (*listener).ps, inbox)
        };
        let handle = Self::create(process, weft, (channel, &inbox), context, ps);
        // SAFETY: it was made just now.
        unsafe {
            Self::bind(process, handle);
            (*handle).qp_type = (*listener).qp_type;
        }
        Ok(handle)
    }

    /// It has a device from now on.
    ///
    /// # Safety
    /// It is the program's.
    unsafe fn bind(process: &Process, id: *mut rdma_cm_id) {
        // SAFETY: the caller's promise.
        unsafe { (*id).verbs = process.context.as_c() };
    }

    /// Its addresses, where the program reads them.
    ///
    /// # Safety
    /// It is the program's.
    pub(crate) unsafe fn show_addresses(&self, id: *mut rdma_cm_id) {
        let local = ip::made(self.weft.local_addr());
        // SAFETY: the caller's promise.
        unsafe {
            (*id).route.addr.__bindgen_anon_1.src_sin = local;
            if let Some(peer) = self.weft.peer_addr() {
                (*id).route.addr.__bindgen_anon_2.dst_sin = ip::made(peer);
            }
        }
    }

    /// Its calls wait for their events: in a channel of its own.
    ///
    /// # Safety
    /// It is the program's.
    pub(crate) unsafe fn become_synchronous(&self, id: *mut rdma_cm_id) -> Answer<()> {
        let channel = Channel::create(self.process)?;
        self.is_synchronous.store(channel, Ordering::Relaxed);
        // SAFETY: the caller's promise; the channel was made just now.
        unsafe { self.move_to(id, channel) }
    }

    /// # Safety
    /// Both are the program's.
    unsafe fn move_to(&self, id: *mut rdma_cm_id, channel: *mut rdma_event_channel) -> Answer<()> {
        // SAFETY: the caller's promise.
        unsafe {
            let new = Channel::of(channel)?;
            self.weft.migrate(&new.weft)?;
            let mut inbox = lock(&self.inbox);
            hand_over(&inbox, &self.weft, &new.events);
            *inbox = new.events.clone();
            (*id).channel = channel;
        }
        Ok(())
    }

    /// Waits for the event of what was just asked for, if its calls are synchronous.
    ///
    /// # Safety
    /// It is the program's.
    unsafe fn complete(&self, id: *mut rdma_cm_id) -> Answer<()> {
        self.process.nudge();
        if self.is_synchronous.load(Ordering::Relaxed).is_null() {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe {
            forget_event(id)?;
            let event = next((*id).channel)?;
            (*id).event = event;
            match ((*event).status, (*event).event) {
                (0, _) => Ok(()),
                (_, RDMA_CM_EVENT_REJECTED) => refuse(libc::ECONNREFUSED, "the peer said no"),
                (status, _) => refuse(status.abs(), "it did not come about"),
            }
        }
    }
}

/// The event that a synchronous identifier shows is acknowledged.
///
/// # Safety
/// It is the program's.
pub(crate) unsafe fn forget_event(id: *mut rdma_cm_id) -> Answer<()> {
    // SAFETY: the caller's promise.
    unsafe {
        let event = std::mem::replace(&mut (*id).event, ptr::null_mut());
        if event.is_null() {
            return Ok(());
        }
        acknowledge(event)
    }
}

/// What a program says of a connection.
///
/// # Safety
/// It is null or valid, and so are its private data.
unsafe fn param(process: &Process, given: *const rdma_conn_param) -> ConnParam {
    let device = process.device.attributes();
    let reads = |wanted: u8, most: u16| match wanted {
        MOST_READS => most,
        wanted => u16::from(wanted).min(most),
    };
    // SAFETY: the caller's promise.
    let (private_data, ird, ord) = match unsafe { given.as_ref() } {
        None => (Vec::new(), MOST_READS, MOST_READS),
        Some(given) => {
            let len = usize::from(given.private_data_len);
            let bytes = given.private_data.cast::<u8>();
            let bytes = match len > 0 && !bytes.is_null() {
                // SAFETY: the caller's promise.
                true => unsafe { std::slice::from_raw_parts(bytes, len) }.to_vec(),
                false => Vec::new(),
            };
            (bytes, given.responder_resources, given.initiator_depth)
        }
    };
    ConnParam {
        private_data,
        responder_resources: reads(ird, device.max_qp_rd_atom),
        initiator_depth: reads(ord, device.max_qp_init_rd_atom),
        ..ConnParam::default()
    }
}

/// The domain of identifiers whose programs name none.
pub(crate) fn default_domain(process: &'static Process) -> Answer<*mut ibv_pd> {
    static DOMAIN: AtomicPtr<ibv_pd> = AtomicPtr::new(ptr::null_mut());
    static MAKING: Mutex<()> = Mutex::new(());
    let making = lock(&MAKING);
    if DOMAIN.load(Ordering::Relaxed).is_null() {
        let pd: Pd = process.device.alloc_pd()?;
        let domain = crate::memory::Domain::new(process.context.as_c(), pd).give();
        DOMAIN.store(domain, Ordering::Relaxed);
    }
    drop(making);
    Ok(DOMAIN.load(Ordering::Relaxed))
}

/// # Safety
/// As `rdma_create_qp`.
pub(crate) unsafe fn create_qp(
    id: *mut rdma_cm_id,
    pd: *mut ibv_pd,
    init: *mut ibv_qp_init_attr,
    mut extended: Extended,
) -> Answer<()> {
    // SAFETY: the caller's promise.
    unsafe {
        let identifier = Identifier::of(id)?;
        given(init)?;
        let pd = match pd.is_null() {
            true => default_domain(identifier.process)?,
            false => pd,
        };
        if (*init).qp_type == IBV_QPT_XRC_RECV && extended.xrcd.is_none() {
            extended.xrcd = Some(xrc::of_process()?);
        }
        let queues = endpoint::give_queues(id, &mut *init)?;
        match queue_pairs::create(pd, &mut *init, Some(&identifier.weft), &extended) {
            Ok(qp) => {
                ((*id).qp, (*id).pd) = (qp, pd);
                Ok(())
            }
            Err(refused) => {
                if queues {
                    endpoint::take_queues(id);
                }
                Err(refused)
            }
        }
    }
}

/// # Safety
/// As `rdma_destroy_qp`.
pub(crate) unsafe fn destroy_qp(id: *mut rdma_cm_id) -> Answer<()> {
    // SAFETY: the caller's promise.
    unsafe {
        Identifier::of(id)?;
        let qp = std::mem::replace(&mut (*id).qp, ptr::null_mut());
        if !qp.is_null() {
            queue_pairs::destroy(qp)?;
        }
        endpoint::take_queues(id);
    }
    Ok(())
}

/// # Safety
/// As `rdma_create_id`.
pub(crate) unsafe fn create(
    channel: *mut rdma_event_channel,
    context: *mut c_void,
    ps: rdma_port_space,
) -> Answer<*mut rdma_cm_id> {
    if ps != RDMA_PS_TCP && ps != RDMA_PS_IB {
        return refuse(libc::EOPNOTSUPP, "iWARP has the port space of TCP alone");
    }
    let process = process()?;
    let own = match channel.is_null() {
        true => Channel::create(process)?,
        false => ptr::null_mut(),
    };
    let channel = if own.is_null() { channel } else { own };
    // SAFETY: the caller's promise, or made just now.
    let to = unsafe { Channel::of(channel) }?;
    let id = to.weft.create_id();
    let id = Identifier::create(process, id, (channel, &to.events), context, ps);
    // SAFETY: it was made just now.
    unsafe { Identifier::of(id) }?
        .is_synchronous
        .store(own, Ordering::Relaxed);
    Ok(id)
}

/// # Safety
/// As `rdma_destroy_id`.
pub(crate) unsafe fn destroy(id: *mut rdma_cm_id) -> Answer<()> {
    // SAFETY: the caller's promise.
    unsafe {
        let identifier = Identifier::of(id)?;
        identifier.process.ids.remove(&identifier.weft);
        forget(&lock(&identifier.inbox), &identifier.weft);
        forget_event(id)?;
        if !identifier.acknowledged.wait() {
            // The program may still name it: its memory stays.
            return Ok(());
        }
        // A connection that is closing gets to its end.
        let gone = Identifier::take(id)?;
        let own = gone.is_synchronous.load(Ordering::Relaxed);
        if !own.is_null() {
            drop(Channel::take(own)?);
        }
    }
    Ok(())
}

/// The own address that a program means: this host's loopback one is the device's, as in Linux.
///
/// # Safety
/// As of [`ip::read`].
unsafe fn own(address: *const sockaddr) -> Answer<SocketAddr> {
    // SAFETY: the caller's promise.
    let said = unsafe { ip::read(address) }?;
    Ok(match said.ip().is_loopback() {
        true => SocketAddr::new(settings::ip().into(), said.port()),
        false => said,
    })
}

/// # Safety
/// As `rdma_bind_addr`.
pub(crate) unsafe fn bind(id: *mut rdma_cm_id, address: *mut sockaddr) -> Answer<()> {
    // SAFETY: the caller's promise.
    unsafe {
        let identifier = Identifier::of(id)?;
        let local = own(address)?;
        identifier.weft.bind_ip(local)?;
        if !local.ip().is_unspecified() {
            Identifier::bind(identifier.process, id);
            identifier.show_addresses(id);
        }
    }
    Ok(())
}

/// # Safety
/// As `rdma_resolve_addr`.
pub(crate) unsafe fn resolve(
    id: *mut rdma_cm_id,
    from: *mut sockaddr,
    to: *mut sockaddr,
) -> Answer<()> {
    // SAFETY: the caller's promise.
    unsafe {
        let identifier = Identifier::of(id)?;
        let to: SocketAddr = ip::read(to)?;
        if !from.is_null() {
            identifier.weft.bind_ip(own(from)?)?;
        }
        identifier.weft.resolve_ip(to)?;
        Identifier::bind(identifier.process, id);
        identifier.show_addresses(id);
        identifier.complete(id)
    }
}

/// # Safety
/// As `rdma_resolve_route`.
pub(crate) unsafe fn resolve_route(id: *mut rdma_cm_id) -> Answer<()> {
    // SAFETY: the caller's promise.
    unsafe {
        let identifier = Identifier::of(id)?;
        identifier.weft.resolve_route()?;
        identifier.complete(id)
    }
}

entries! {
    /// An identifier; without a channel its calls wait for their events.
    cm fn rdma_create_id(
        channel: *mut rdma_event_channel,
        id: *mut *mut rdma_cm_id,
        context: *mut c_void,
        ps: rdma_port_space,
    ) -> c_int {
        given(id)?;
        id.write(create(channel, context, ps)?);
        Ok(())
    }

    /// It goes, when its events are acknowledged. A connection that is closing gets to its end.
    cm fn rdma_destroy_id(id: *mut rdma_cm_id) -> c_int {
        destroy(id)
    }

    /// Its own address.
    cm fn rdma_bind_addr(id: *mut rdma_cm_id, address: *mut sockaddr) -> c_int {
        bind(id, address)
    }

    /// The way to an address.
    cm fn rdma_resolve_addr(
        id: *mut rdma_cm_id,
        from: *mut sockaddr,
        to: *mut sockaddr,
        _timeout_ms: c_int,
    ) -> c_int {
        resolve(id, from, to)
    }

    /// iWARP has no routes: that is known at once.
    cm fn rdma_resolve_route(id: *mut rdma_cm_id, _timeout_ms: c_int) -> c_int {
        resolve_route(id)
    }

    /// Its queue pair.
    cm fn rdma_create_qp(id: *mut rdma_cm_id, pd: *mut ibv_pd, init: *mut ibv_qp_init_attr) -> c_int {
        create_qp(id, pd, init, Extended::default())
    }

    /// The same with an XRC domain, and for `ibv_wr_start`, where it is asked for.
    cm fn rdma_create_qp_ex(id: *mut rdma_cm_id, init: *mut ibv_qp_init_attr_ex) -> c_int {
        let asked = given(init)?;
        let extended = queue_pairs::extensions(asked)?;
        let pd = match asked.comp_mask & IBV_QP_INIT_ATTR_PD {
            0 => ptr::null_mut(),
            _ => asked.pd,
        };
        create_qp(id, pd, init.cast(), extended)
    }

    /// It goes.
    void fn rdma_destroy_qp(id: *mut rdma_cm_id) {
        destroy_qp(id)
    }

    /// Connects.
    cm fn rdma_connect(id: *mut rdma_cm_id, conn: *mut rdma_conn_param) -> c_int {
        let identifier = Identifier::of(id)?;
        identifier.weft.connect(&param(identifier.process, conn))?;
        identifier.complete(id)
    }

    /// Listens.
    cm fn rdma_listen(id: *mut rdma_cm_id, backlog: c_int) -> c_int {
        let identifier = Identifier::of(id)?;
        identifier.weft.listen(usize::try_from(backlog).unwrap_or(0))?;
        Identifier::bind(identifier.process, id);
        identifier.show_addresses(id);
        settings::tell_listening();
        Ok(())
    }

    /// Takes a request.
    cm fn rdma_accept(id: *mut rdma_cm_id, conn: *mut rdma_conn_param) -> c_int {
        let identifier = Identifier::of(id)?;
        identifier.weft.accept(&param(identifier.process, conn))?;
        identifier.complete(id)
    }

    /// Refuses a request.
    cm fn rdma_reject(id: *mut rdma_cm_id, data: *const c_void, len: u8) -> c_int {
        let identifier = Identifier::of(id)?;
        let bytes = match data.is_null() {
            true => &[][..],
            false => std::slice::from_raw_parts(data.cast::<u8>(), len.into()),
        };
        identifier.weft.reject(bytes)?;
        identifier.process.nudge();
        Ok(())
    }

    /// Closes the connection in order; one that is over already is.
    cm fn rdma_disconnect(id: *mut rdma_cm_id) -> c_int {
        let identifier = Identifier::of(id)?;
        let is_over = || matches!(identifier.weft.state(), CmState::Closed | CmState::Disconnecting);
        if !is_over() {
            let asked = identifier.weft.disconnect();
            // The peer may have been quicker.
            identifier.process.nudge();
            if !is_over() {
                asked?;
            }
        }
        identifier.complete(id)
    }

    /// Its events arrive elsewhere from now on; without a channel, its calls wait for them.
    cm fn rdma_migrate_id(id: *mut rdma_cm_id, channel: *mut rdma_event_channel) -> c_int {
        let identifier = Identifier::of(id)?;
        if channel.is_null() {
            return identifier.become_synchronous(id);
        }
        forget_event(id)?;
        identifier.move_to(id, channel)?;
        let own = identifier.is_synchronous.swap(ptr::null_mut(), Ordering::Relaxed);
        if !own.is_null() {
            drop(Channel::take(own)?);
        }
        Ok(())
    }

    /// Options of an identifier: its type of service, and the reuse of its address.
    cm fn rdma_set_option(
        id: *mut rdma_cm_id,
        level: c_int,
        name: c_int,
        value: *mut c_void,
        len: size_t,
    ) -> c_int {
        let identifier = Identifier::of(id)?;
        match (level, name, len) {
            (0, TOS, 1) => {
                let tos = *given(value.cast::<u8>())?;
                identifier.weft.set_option(CmOption::TypeOfService(tos))?;
            }
            (0, REUSE_ADDRESS, 4) => {
                let on = *given(value.cast::<c_int>())? != 0;
                identifier.weft.set_option(CmOption::ReuseAddress(on))?;
            }
            // One family, and TCP's own timeout, are all that there is.
            (0, AFONLY | ACK_TIMEOUT, _) => {}
            _ => return refuse(libc::EOPNOTSUPP, "an option that iWARP has not"),
        }
        Ok(())
    }

    /// Its own port, big-endian.
    number fn rdma_get_src_port(id: *mut rdma_cm_id) -> __be16 {
        Ok(Identifier::of(id)?.weft.local_addr().port().to_be())
    }

    /// The peer's, big-endian.
    number fn rdma_get_dst_port(id: *mut rdma_cm_id) -> __be16 {
        Ok(Identifier::of(id)?.weft.peer_addr().map_or(0, |peer| peer.port().to_be()))
    }
}
