//! What a file names, for all who open it: XRC domains. What they are the device does not know.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use weft_engine::{QpId, XrcdId};

use super::{Place, State, XrcdAsked};
use crate::error::DeviceError;

/// A file: its file system and its inode.
pub(crate) type XrcdFileName = (u64, u64);

/// What is there, as long as somebody has it.
#[derive(Default)]
pub(crate) struct XrcdRegistry {
    all: BTreeMap<XrcdFileName, Weak<dyn Any + Send + Sync>>,
}

impl XrcdRegistry {
    /// What a file names.
    pub(crate) fn find<T: Send + Sync + 'static>(&self, name: XrcdFileName) -> Option<Arc<T>> {
        let there = self.all.get(&name)?.upgrade()?;
        there.downcast().ok()
    }

    /// From now on it names this.
    pub(crate) fn give<T: Send + Sync + 'static>(&mut self, name: XrcdFileName, to: &Arc<T>) {
        self.all.retain(|_, one| one.strong_count() > 0);
        let to: Arc<dyn Any + Send + Sync> = to.clone();
        self.all.insert(name, Arc::downgrade(&to));
    }
}

impl State {
    /// The number of a domain of a lender's. `Some(None)`: there is none like that. `None`: the device is not lent.
    pub(crate) fn lent_xrcd(&self, asked: XrcdAsked) -> Option<Result<Option<u32>, DeviceError>> {
        match &self.place {
            Place::Lent(lent) => Some(lent.xrcd(asked)),
            Place::Here(_) | Place::OnCard(_) => None,
        }
    }

    /// A target of a domain of a lender's, by the number that another process has told. `None`: this one has it still.
    pub(crate) fn open_lent_target(
        &mut self,
        xrcd: XrcdId,
        qp_num: u32,
    ) -> Result<Option<QpId>, DeviceError> {
        match &mut self.place {
            Place::Lent(lent) => lent.open_target(xrcd, qp_num),
            Place::Here(_) | Place::OnCard(_) => Err(DeviceError::NotLent {
                reason: "the device is no lender's".to_owned(),
            }),
        }
    }
}
