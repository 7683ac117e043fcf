//! Memory that an STag is given, and taken away from it, by work of a send queue (and by a peer: [`Regions::invalidate`]).

use weft_layout::table;

use super::Regions;
use crate::card::port::Port;
use crate::interface::error::Error;
use crate::interface::verbs::{Access, Binding, PdId, QpId, StagKind};

impl Regions {
    /// Whether a queue pair may bind so; the memory.
    fn check_binding(&self, pd: PdId, binding: &Binding, fast: bool) -> Result<u64, Error> {
        let stag = binding.stag;
        let target = self.rows.get((stag >> 8) as usize).and_then(Option::as_ref);
        let target = target.ok_or(Error::UnknownStag(stag))?;
        if target.pd != pd {
            return Err(Error::WrongPd(stag));
        }
        let kind = target.kind.ok_or(Error::NotBindable(stag))?;
        let is_window = kind != StagKind::FastRegion;
        if fast == is_window
            || kind != StagKind::Window1 && (target.valid || binding.length == 0)
            || target.parts > 0
        {
            return Err(Error::NotBindable(stag));
        }
        if binding.length == 0 {
            return Ok(0);
        }
        let source = binding.region;
        let region = self.find(source).ok_or(Error::UnknownStag(source))?;
        if region.pd != pd {
            return Err(Error::WrongPd(source));
        }
        let from = binding.region_to;
        if region.kind.is_some_and(|kind| kind != StagKind::FastRegion) || source >> 8 == stag >> 8
        {
            return Err(Error::NotBindable(source));
        }
        let end = from
            .checked_sub(region.base)
            .and_then(|at| at.checked_add(binding.length));
        if end.is_none_or(|end| end > region.length) {
            let length = binding.length.try_into().unwrap_or(u32::MAX);
            let (stag, to) = (source, from);
            return Err(Error::OutOfBounds { stag, to, length });
        }
        if binding.base_to.checked_add(binding.length - 1).is_none() {
            return Err(Error::InvalidRegion);
        }
        let remote = Access::REMOTE_READ
            | Access::REMOTE_WRITE
            | Access::REMOTE_ATOMIC
            | Access::REMOTE_INVALIDATE;
        let writes =
            Access::REMOTE_WRITE | Access::REMOTE_ATOMIC | Access::LOCAL_WRITE | Access::READ_SINK;
        let access = binding.access;
        let allowed = !is_window || remote.contains(access) && region.access.contains(Access::BIND);
        let may_write =
            region.access.contains(Access::LOCAL_WRITE) || access.without(writes) == access;
        if !allowed || !may_write {
            return Err(Error::NeedsRight(source));
        }
        Ok(region.iova.wrapping_add(from.wrapping_sub(region.base)))
    }

    /// An STag names other memory from now on; `fast`: it is a region's. `Error::InUse`: not as long as issued work uses it. The card has the row of a window of type 1 and of a region; of one of type 2 it has none,
    /// since it knows domains and no queue pairs: what comes for it is placed by the engine.
    pub fn bind<P: Port>(
        &mut self,
        pd: PdId,
        qp: QpId,
        (binding, fast): (&Binding, bool),
        port: &mut P,
    ) -> Result<(), Error> {
        let iova = self.check_binding(pd, binding, fast)?;
        if self.is_pinned(binding.stag) {
            return Err(Error::InUse);
        }
        self.take_away(binding.stag, port);
        self.registered = self.registered.wrapping_add(1);
        let (index, source) = ((binding.stag >> 8) as usize, binding.region >> 8);
        let memory = self.row(binding.region);
        let memory = memory.map_or(source, |region| region.memory);
        let Some(Some(region)) = self.rows.get_mut(index) else {
            return Err(Error::UnknownStag(binding.stag));
        };
        region.key = binding.stag as u8;
        self.keys[index] = region.key;
        if binding.length == 0 {
            return Ok(());
        }
        region.generation = self.registered;
        region.memory = memory;
        region.uses.forget_peers();
        region.valid = true;
        region.access = binding.access;
        region.base = binding.base_to;
        region.length = binding.length;
        region.iova = iova;
        region.part_of = Some(source);
        if region.kind == Some(StagKind::Window2) {
            region.of_qp = Some(qp);
        } else {
            let row = region.row();
            port.write_table(table::STAG, index as u32, &row.to_bytes());
        }
        if let Some(Some(region)) = self.rows.get_mut(source as usize) {
            region.parts += 1;
        }
        Ok(())
    }

    /// Whether a queue pair may take an STag away.
    fn check_invalidate(&self, pd: PdId, qp: QpId, stag: u32) -> Result<(), Error> {
        let region = self.find(stag).ok_or(Error::UnknownStag(stag))?;
        if region.pd != pd || region.of_qp.is_some_and(|owner| owner != qp) {
            return Err(Error::WrongPd(stag));
        }
        let is_of_kind = matches!(region.kind, Some(StagKind::Window2 | StagKind::FastRegion));
        if !is_of_kind || region.parts > 0 {
            return Err(Error::NotBindable(stag));
        }
        Ok(())
    }

    /// A queue pair takes an STag away. `Error::InUse`: not as long as issued work uses it.
    pub fn invalidate_own<P: Port>(
        &mut self,
        pd: PdId,
        qp: QpId,
        stag: u32,
        port: &mut P,
    ) -> Result<(), Error> {
        self.check_invalidate(pd, qp, stag)?;
        if self.is_pinned(stag) {
            return Err(Error::InUse);
        }
        self.take_away(stag, port);
        Ok(())
    }

    /// A queue pair is no more: what it has bound for itself is nobody's.
    pub fn unbind_all<P: Port>(&mut self, qp: QpId, port: &mut P) {
        for index in 0..self.rows.len() {
            let region = self.rows[index]
                .as_ref()
                .filter(|region| region.of_qp == Some(qp));
            if region.is_some() {
                self.take_away((index as u32) << 8, port);
            }
        }
    }
}
