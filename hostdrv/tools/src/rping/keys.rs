//! What the server is given to read and to write with.

use super::{work, Info};
use weft_hostdrv::verbs::{
    Access, BindWr, FastMr, InvalidateWr, Mr, Mw, MwType, Pd, Qp, RemoteRegion, VerbsError,
};

/// Whose STags a client advertises. They all look the same to the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keys {
    /// A region's: the same one for all pings.
    #[default]
    Region,
    /// A window's of type 2: bound for each use, and invalidated behind it.
    Window,
    /// A region's that is registered by work of the send queue for each use, and invalidated behind it.
    FastRegistered,
}

/// Memory of the client's, and what the server is given for it.
pub(super) struct Lent {
    // A window goes before the region that it is of.
    key: Key,
    pub(super) memory: Mr,
    access: Access,
}

enum Key {
    Region,
    Window(Mw),
    FastRegistered(FastMr),
}

impl Lent {
    /// So many bytes, for the peer to have with these rights.
    pub(super) fn new(
        pd: &Pd,
        keys: Keys,
        size: usize,
        access: Access,
    ) -> Result<Self, VerbsError> {
        let (key, own) = match keys {
            Keys::Region => (Key::Region, access),
            Keys::Window => {
                let window = pd.alloc_mw(MwType::Type2)?;
                (Key::Window(window), Access::BIND | Access::LOCAL_WRITE)
            }
            Keys::FastRegistered => (
                Key::FastRegistered(pd.alloc_fast_mr()?),
                Access::LOCAL_WRITE,
            ),
        };
        Ok(Self {
            key,
            memory: pd.alloc_mr(size, own)?,
            access,
        })
    }

    /// What the server has to be told, by a Send behind this.
    pub(super) fn share(&self, qp: &Qp) -> Result<Info, VerbsError> {
        let all = self.memory.sge(0, self.memory.len() as u32);
        let bind = BindWr::new(work::BIND, all, self.access);
        let RemoteRegion { addr, rkey, length } = match &self.key {
            Key::Region => RemoteRegion {
                addr: self.memory.addr(),
                rkey: self.memory.rkey(),
                length: self.memory.len() as u64,
            },
            Key::Window(window) => qp.bind_mw(window, bind)?,
            Key::FastRegistered(region) => qp.fast_register(region, bind)?,
        };
        Ok(Info {
            buf: addr,
            rkey,
            size: length as u32,
        })
    }

    /// The server has done with it: what it was told is worth nothing any more.
    pub(super) fn take_back(&self, qp: &Qp) -> Result<(), VerbsError> {
        let rkey = match &self.key {
            Key::Region => return Ok(()),
            Key::Window(window) => window.rkey(),
            Key::FastRegistered(region) => region.rkey(),
        };
        qp.local_invalidate(InvalidateWr::new(work::INVALIDATE, rkey))
    }
}
