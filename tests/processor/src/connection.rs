//! A connection between two devices of one simulated world, and Writes over it.

use std::error::Error;
use std::net::SocketAddrV4;

use weft_hostdrv::cm::{CmEventType, CmId, ConnParam, EventChannel};
use weft_hostdrv::verbs::{Access, Cq, Mr, Pd, Qp, QpInit, SendWr, Wc};
use weft_hostdrv::Device;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Simulated time after which something should have happened.
const LIMIT_NS: u64 = 1_000_000_000;
/// What is waited for is looked at so often.
const LOOK_NS: u64 = 20_000;

/// Runs the world until there is something. All devices of it are to be given.
///
/// # Errors
/// It did not come in time, or the condition's own.
pub fn until<T>(
    devices: &[&Device],
    what: &str,
    mut condition: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    let first = devices.first().ok_or("no device")?;
    let end = first.now() + LIMIT_NS;
    while first.now() < end {
        for device in devices {
            // One that failed is the condition's to notice.
            while device.progress().is_ok_and(|done| done > 0) {}
        }
        if let Some(found) = condition()? {
            return Ok(found);
        }
        for device in devices {
            let _ = device.wait(Some(0));
        }
        let _ = first.wait(Some(first.now() + LOOK_NS));
    }
    Err(format!("{what}: not in time").into())
}

/// One end.
pub struct End {
    /// Its queue pair.
    pub qp: Qp,
    /// Where its completions come.
    pub cq: Cq,
    /// What it sends.
    pub source: Mr,
    /// Where the other end writes.
    pub target: Mr,
    _channel: EventChannel,
    _ids: Vec<CmId>,
    _pd: Pd,
}

fn end(device: &Device, channel: EventChannel, mut ids: Vec<CmId>, bytes: usize) -> Result<End> {
    let (pd, cq) = (device.alloc_pd()?, device.create_cq(64, None)?);
    let id = ids.pop().ok_or("no identifier")?;
    let qp = id.create_qp(&pd, &QpInit::new(&cq))?;
    ids.push(id);
    Ok(End {
        qp,
        source: pd.alloc_mr_at(bytes, 0, Access::REMOTE_READ)?,
        target: pd.alloc_mr_at(bytes, 0, Access::LOCAL_WRITE | Access::REMOTE_WRITE)?,
        cq,
        _channel: channel,
        _ids: ids,
        _pd: pd,
    })
}

/// The first device asks the second one for a connection; `all` are those of the world.
pub fn connect(
    all: &[&Device],
    devices: [&Device; 2],
    port: u16,
    bytes: usize,
) -> Result<[End; 2]> {
    let [from, to] = devices;
    let event = |channel: &EventChannel, kind: CmEventType| {
        let event = until(all, kind.name(), || Ok(channel.try_get_event()?))?;
        match event.event == kind {
            true => Ok::<_, Box<dyn Error>>(event.id),
            false => Err(format!("{:?} where {kind:?} was awaited", event.event).into()),
        }
    };
    let of_peer = to.create_event_channel();
    let listener = of_peer.create_id();
    listener.bind_addr(SocketAddrV4::new(to.ip(), port))?;
    listener.listen(1)?;
    let channel = from.create_event_channel();
    let id = channel.create_id();
    id.resolve_addr(SocketAddrV4::new(to.ip(), port))?;
    event(&channel, CmEventType::AddrResolved)?;
    id.resolve_route()?;
    event(&channel, CmEventType::RouteResolved)?;
    let asking = end(from, channel, vec![id], bytes)?;
    let param = ConnParam {
        peer_to_peer: Some(true),
        ..ConnParam::default()
    };
    asking._ids[0].connect(&param)?;
    let request = event(&of_peer, CmEventType::ConnectRequest)?;
    let asked = end(to, of_peer, vec![listener, request], bytes)?;
    asked._ids[1].accept(&ConnParam::default())?;
    event(&asked._channel, CmEventType::Established)?;
    event(&asking._channel, CmEventType::Established)?;
    Ok([asking, asked])
}

impl End {
    /// Writes so many bytes of the source to the same place of the other end's target.
    pub fn write(&self, other: &End, at: usize, len: usize) -> Result<()> {
        let to = other.target.remote().offset(at as u64);
        let source = self.source.sge(at as u64, len as u32);
        Ok(self
            .qp
            .post_send(SendWr::write(at as u64, to).sge(source).signaled())?)
    }

    /// A completion, if there is one.
    pub fn done(&self) -> Result<Option<Wc>> {
        Ok(self.cq.poll_one()?)
    }
}
