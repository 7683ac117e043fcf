//! Event channels, and events as the program takes them.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::sync::Arc;

use weft_hostdrv::cm::{CmEvent, CmEventType, CmId, EventChannel};

use super::id::Identifier;
use crate::bindings::*;
use crate::calls::Answer;
use crate::events::Events;
use crate::object::{given, zeros, Object};
use crate::process::{process, Process};
use crate::queue_pairs::show_state;

/// `rdma_event_channel`.
#[repr(C)]
pub(crate) struct Channel {
    c: rdma_event_channel,
    pub(crate) weft: EventChannel,
    pub(crate) events: Arc<Inbox>,
}

/// What a channel's program has not taken. Identifiers have it as well: a program may destroy a channel before them.
pub(crate) type Inbox = Events<CmEvent>;

// SAFETY: `repr(C)`, and `rdma_event_channel` comes first.
unsafe impl Object for Channel {
    type C = rdma_event_channel;
}

/// `rdma_cm_event`.
#[repr(C)]
struct Event {
    c: rdma_cm_event,
    /// What the structure points to.
    private_data: Vec<u8>,
    /// Whose it counts as, until it is acknowledged.
    of: *mut rdma_cm_id,
}

// SAFETY: `repr(C)`, and `rdma_cm_event` comes first.
unsafe impl Object for Event {
    type C = rdma_cm_event;
}

impl Channel {
    /// The driver hands each event on as it comes, whichever thread drives it.
    pub(crate) fn create(process: &Process) -> Answer<*mut rdma_event_channel> {
        let events = Arc::new(Events::new()?);
        let to = events.clone();
        let weft = process.device.create_callback_channel(move |event| {
            if kind(event.event).is_some() {
                to.push(event);
            }
        });
        let c = rdma_event_channel { fd: events.file() };
        Ok(Self { c, weft, events }.give())
    }
}

/// Takes out what has not been taken of an identifier, and the requests of a listener.
pub(crate) fn forget(inbox: &Inbox, id: &CmId) {
    let is = |other: &CmId| other.is(id);
    let gone = inbox.remove(|event| is(&event.id) || event.listen_id.as_ref().is_some_and(is));
    // A request that is dropped is rejected.
    drop(gone);
}

/// Events of an identifier that moves to another channel.
pub(crate) fn hand_over(from: &Inbox, id: &CmId, to: &Inbox) {
    for event in from.remove(|event| event.id.is(id)) {
        to.push(event);
    }
}

/// librdmacm's name of an event; `None`: programs for iWARP do not expect it.
fn kind(event: CmEventType) -> Option<rdma_cm_event_type> {
    Some(match event {
        CmEventType::AddrResolved => RDMA_CM_EVENT_ADDR_RESOLVED,
        CmEventType::AddrError => RDMA_CM_EVENT_ADDR_ERROR,
        CmEventType::RouteResolved => RDMA_CM_EVENT_ROUTE_RESOLVED,
        CmEventType::ConnectRequest => RDMA_CM_EVENT_CONNECT_REQUEST,
        CmEventType::ConnectError => RDMA_CM_EVENT_CONNECT_ERROR,
        CmEventType::Unreachable => RDMA_CM_EVENT_UNREACHABLE,
        CmEventType::Rejected => RDMA_CM_EVENT_REJECTED,
        CmEventType::Established => RDMA_CM_EVENT_ESTABLISHED,
        CmEventType::Disconnected => RDMA_CM_EVENT_DISCONNECTED,
        CmEventType::DeviceRemoval => RDMA_CM_EVENT_DEVICE_REMOVAL,
        _ => return None,
    })
}

/// The next event of a channel.
///
/// # Safety
/// `channel` is the program's, or null.
pub(crate) unsafe fn next(channel: *mut rdma_event_channel) -> Answer<*mut rdma_cm_event> {
    let process = process()?;
    loop {
        // SAFETY: the caller's promise.
        let event = unsafe { Channel::of(channel) }?.events.take()?;
        // SAFETY: its identifiers are destroyed by their own threads, which take their events out first.
        if let Some(given) = unsafe { translated(process, channel, event) }? {
            return Ok(given);
        }
    }
}

/// # Safety
/// `channel` is the program's.
unsafe fn translated(
    process: &'static Process,
    channel: *mut rdma_event_channel,
    event: CmEvent,
) -> Answer<Option<*mut rdma_cm_event>> {
    let Some(name) = kind(event.event) else {
        return Ok(None);
    };
    let listener = event.listen_id.as_ref().and_then(|id| process.ids.find(id));
    let request = event.event == CmEventType::ConnectRequest;
    let id = match (request, listener) {
        (true, Some(listener)) => {
            // SAFETY: the listener is not destroyed, else its requests were gone.
            unsafe { Identifier::of_request(process, channel, listener, event.id.clone()) }?
        }
        // Nobody listens any more.
        (true, None) => return Ok(None),
        (false, _) => match process.ids.find(&event.id) {
            Some(id) => id,
            None => return Ok(None),
        },
    };
    let of = match (request, listener) {
        (true, Some(listener)) => listener,
        _ => id,
    };
    // SAFETY: both are in the list of those that are not destroyed.
    unsafe {
        Identifier::of(of)?.acknowledged.gave();
        Identifier::of(id)?.show_addresses(id);
        match event.event {
            CmEventType::Established => show_state((*id).qp, IBV_QPS_RTS),
            CmEventType::Disconnected | CmEventType::Rejected => show_state((*id).qp, IBV_QPS_ERR),
            _ => {}
        }
    }
    let few = |reads: Option<u16>| reads.map_or(0, |reads| reads.min(255) as u8);
    let made = Event {
        c: rdma_cm_event {
            id,
            listen_id: if request { of } else { std::ptr::null_mut() },
            event: name,
            status: event.status,
            // SAFETY: numbers and a pointer that may be null.
            param: unsafe { zeros() },
        },
        private_data: event.private_data,
        of,
    };
    let (bytes, len) = (made.private_data.as_ptr(), made.private_data.len().min(255));
    // SAFETY: as above.
    let mut conn: rdma_conn_param = unsafe { zeros() };
    if len > 0 {
        conn.private_data = bytes.cast::<c_void>();
    }
    conn.private_data_len = len as u8;
    conn.responder_resources = few(event.responder_resources);
    conn.initiator_depth = few(event.initiator_depth);
    let given = made.give();
    // SAFETY: it was made just now.
    unsafe { (*given).param = rdma_cm_event__bindgen_ty_1 { conn } };
    Ok(Some(given))
}

entries! {
    /// A channel.
    made fn rdma_create_event_channel() -> *mut rdma_event_channel {
        Channel::create(process()?)
    }

    /// It goes; its identifiers were destroyed.
    void fn rdma_destroy_event_channel(channel: *mut rdma_event_channel) {
        Channel::take(channel).map(drop)
    }

    /// The next event; blocks, unless the descriptor is set otherwise.
    cm fn rdma_get_cm_event(channel: *mut rdma_event_channel, event: *mut *mut rdma_cm_event) -> c_int {
        given(event)?;
        event.write(next(channel)?);
        Ok(())
    }

    /// The program has done with it.
    cm fn rdma_ack_cm_event(event: *mut rdma_cm_event) -> c_int {
        acknowledge(event)
    }

    /// Its name.
    text fn rdma_event_str(event: rdma_cm_event_type) -> *const c_char {
        Ok(name(event))
    }
}

/// # Safety
/// As `rdma_ack_cm_event`.
pub(crate) unsafe fn acknowledge(event: *mut rdma_cm_event) -> Answer<()> {
    // SAFETY: the caller's promise.
    let event = unsafe { Event::take(event) }?;
    // SAFETY: who destroys an identifier waits for this.
    unsafe { Identifier::of(event.of) }?
        .acknowledged
        .acknowledge(1);
    Ok(())
}

fn name(event: rdma_cm_event_type) -> &'static CStr {
    match event {
        RDMA_CM_EVENT_ADDR_RESOLVED => c"RDMA_CM_EVENT_ADDR_RESOLVED",
        RDMA_CM_EVENT_ADDR_ERROR => c"RDMA_CM_EVENT_ADDR_ERROR",
        RDMA_CM_EVENT_ROUTE_RESOLVED => c"RDMA_CM_EVENT_ROUTE_RESOLVED",
        RDMA_CM_EVENT_ROUTE_ERROR => c"RDMA_CM_EVENT_ROUTE_ERROR",
        RDMA_CM_EVENT_CONNECT_REQUEST => c"RDMA_CM_EVENT_CONNECT_REQUEST",
        RDMA_CM_EVENT_CONNECT_RESPONSE => c"RDMA_CM_EVENT_CONNECT_RESPONSE",
        RDMA_CM_EVENT_CONNECT_ERROR => c"RDMA_CM_EVENT_CONNECT_ERROR",
        RDMA_CM_EVENT_UNREACHABLE => c"RDMA_CM_EVENT_UNREACHABLE",
        RDMA_CM_EVENT_REJECTED => c"RDMA_CM_EVENT_REJECTED",
        RDMA_CM_EVENT_ESTABLISHED => c"RDMA_CM_EVENT_ESTABLISHED",
        RDMA_CM_EVENT_DISCONNECTED => c"RDMA_CM_EVENT_DISCONNECTED",
        RDMA_CM_EVENT_DEVICE_REMOVAL => c"RDMA_CM_EVENT_DEVICE_REMOVAL",
        RDMA_CM_EVENT_MULTICAST_JOIN => c"RDMA_CM_EVENT_MULTICAST_JOIN",
        RDMA_CM_EVENT_MULTICAST_ERROR => c"RDMA_CM_EVENT_MULTICAST_ERROR",
        RDMA_CM_EVENT_ADDR_CHANGE => c"RDMA_CM_EVENT_ADDR_CHANGE",
        RDMA_CM_EVENT_TIMEWAIT_EXIT => c"RDMA_CM_EVENT_TIMEWAIT_EXIT",
        _ => c"UNKNOWN EVENT",
    }
}
