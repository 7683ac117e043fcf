//! What a client's device asks its broker for.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use super::packet::{
    pair, CLOSE_TARGET, DOMAIN, JOIN, LEAVE_DOMAIN, LEAVE_JOINED, LEAVE_QUEUE_PAIR,
    LEAVE_SHARED_RECEIVES, LEAVE_XRCD, MAP, MEMORY, QUEUE_PAIR, SHARED_RECEIVES, TARGET, XRCD,
    XRCD_EXISTING, XRCD_NEW, XRCD_OR_NEW, XRC_RECEIVES, XRC_TARGET,
};
use super::talk::{half, some, Talk};
use weft_card_transport::{CardLender, LentMemory, MOST_PARTS};
use weft_hostdrv::device::{
    DeviceLender, QueuePairAsked, QueuePairLent, TargetLent, XrcLender, XrcReceivesAsked, XrcdAsked,
};
use weft_hostdrv::verbs::{Access, SharedLine};

/// Looks before a thread that waits for an answer sleeps.
const LOOKS: usize = 200;

/// What parts of the memory may be registered with.
fn all_access() -> Access {
    Access::LOCAL_WRITE
        | Access::REMOTE_READ
        | Access::REMOTE_WRITE
        | Access::READ_SINK
        | Access::REMOTE_INVALIDATE
        | Access::BIND
        | Access::REMOTE_ATOMIC
}

/// The way to the broker that a device has.
pub(super) struct BorrowedDevice {
    talk: Talk,
    line: Arc<SharedLine>,
}

impl BorrowedDevice {
    pub(super) fn new(talk: Talk) -> io::Result<Self> {
        let line = talk.line.clone();
        let line = line.ok_or(io::ErrorKind::Unsupported)?;
        Ok(Self { talk, line })
    }

    /// A broker of an older version would make what has nothing of XRC.
    fn check_xrc(&self) -> io::Result<()> {
        if self.talk.version < 5 {
            let why = "the broker speaks a version of the interface before 5, which lends a device no XRC";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        Ok(())
    }

    /// The files of what was lent by this number. Where they did not come, as this process may have no more, it is left.
    fn or_leave<const N: usize>(
        &self,
        files: Vec<OwnedFd>,
        leave: u64,
        number: u64,
    ) -> io::Result<[OwnedFd; N]> {
        some(files).inspect_err(|_| {
            let _ = self.talk.request(&[leave, number]);
        })
    }

    fn gone(&self) -> Option<String> {
        self.line.gone().map(|gone| gone.to_string())
    }
}

fn too_many<T>(_: T) -> io::Error {
    io::ErrorKind::InvalidInput.into()
}

impl CardLender for BorrowedDevice {
    fn memory(&self, bytes: u64) -> io::Result<LentMemory> {
        let access = all_access().bits().into();
        let ([_, iova, ..], files) = self.talk.request(&[MEMORY, bytes, access, 0])?;
        let [file] = some(files)?;
        Ok(LentMemory { file, iova })
    }

    fn join(&self, parts: &[(u64, u64)]) -> io::Result<u64> {
        let mut request = vec![JOIN];
        request.extend(parts.iter().flat_map(|(iova, bytes)| [*iova, *bytes]));
        if parts.len() > MOST_PARTS {
            let why = "pages that lie in too many places of a broker's memory: register neighbours later, or all at once";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let ([iova, ..], _) = self.talk.request(&request)?;
        Ok(iova)
    }

    fn map_file(&self, file: BorrowedFd<'_>, bytes: u64) -> io::Result<u64> {
        if self.talk.version < 6 {
            let why = "the broker speaks a version of the interface before 6, which takes no memory of a client's own";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let request = [MAP, bytes, all_access().bits().into()];
        let ([iova, ..], _) = self.talk.request_with(&request, Some(file))?;
        Ok(iova)
    }

    fn leave(&self, joined: u64) -> io::Result<()> {
        self.talk.request(&[LEAVE_JOINED, joined])?;
        Ok(())
    }

    fn begin_fence(&self, number: u32) {
        self.line.begin_fence(number);
    }

    fn fence_done(&self) -> u32 {
        self.line.fence_done()
    }

    fn lost(&self) -> Option<String> {
        self.gone()
    }
}

/// A number of a domain that begins with 1, by the broker's place, and the other way.
fn number_of(place: u64) -> u32 {
    half(place.saturating_add(1))
}

fn place_of(number: u32) -> u64 {
    u64::from(number).wrapping_sub(1)
}

impl XrcLender for BorrowedDevice {
    fn xrcd(&self, asked: XrcdAsked) -> io::Result<Option<u32>> {
        self.check_xrc()?;
        let request = match asked {
            XrcdAsked::Unnamed => [XRCD, XRCD_NEW, 0, 0, 0],
            XrcdAsked::OfFile {
                name: (device, inode),
                existing,
                new,
            } => {
                let how = match (existing, new) {
                    (true, false) => XRCD_EXISTING,
                    (true, true) => XRCD_OR_NEW,
                    (false, _) => XRCD_NEW,
                };
                [XRCD, how, 1, device, inode]
            }
        };
        let ([is_there, place, ..], _) = self.talk.request(&request)?;
        Ok((is_there != 0).then(|| number_of(place)))
    }

    fn leave_xrcd(&self, xrcd: u32) -> io::Result<()> {
        self.talk.request(&[LEAVE_XRCD, place_of(xrcd)])?;
        Ok(())
    }

    fn xrc_receives(&self, asked: &XrcReceivesAsked) -> io::Result<(u32, [OwnedFd; 2])> {
        let request = [
            XRC_RECEIVES,
            place_of(asked.xrcd),
            asked.pd.into(),
            asked.max_wr.into(),
            asked.max_sge as u64,
            asked.limit.into(),
        ];
        let ([number, ..], files) = self.talk.request(&request)?;
        Ok((
            half(number),
            self.or_leave(files, LEAVE_SHARED_RECEIVES, number)?,
        ))
    }

    fn target(&self, xrcd: u32, pd: u32) -> io::Result<TargetLent> {
        let request = [XRC_TARGET, place_of(xrcd), pd.into()];
        let ([number, qp_num, ..], _) = self.talk.request(&request)?;
        Ok(TargetLent {
            number: half(number),
            qp_num: half(qp_num),
        })
    }

    fn open_target(&self, xrcd: u32, qp_num: u32) -> io::Result<TargetLent> {
        if qp_num == 0 {
            // The broker would make one.
            return Err(too_many(qp_num));
        }
        let request = [TARGET, place_of(xrcd), qp_num.into()];
        let ([number, qp_num, ..], _) = self.talk.request(&request)?;
        Ok(TargetLent {
            number: half(number),
            qp_num: half(qp_num),
        })
    }

    fn leave_target(&self, number: u32) -> io::Result<()> {
        self.talk.request(&[CLOSE_TARGET, number.into()])?;
        Ok(())
    }
}

impl DeviceLender for BorrowedDevice {
    fn alloc_pd(&self) -> io::Result<u32> {
        let ([number, ..], _) = self.talk.request(&[DOMAIN])?;
        Ok(half(number))
    }

    fn dealloc_pd(&self, pd: u32) -> io::Result<()> {
        self.talk.request(&[LEAVE_DOMAIN, pd.into()])?;
        Ok(())
    }

    fn queue_pair(&self, asked: &QueuePairAsked) -> io::Result<QueuePairLent> {
        let [send, recv] = asked.sges;
        let sges = [
            send.try_into().map_err(too_many)?,
            recv.try_into().map_err(too_many)?,
        ];
        if asked.initiator {
            self.check_xrc()?;
        }
        let request = [
            QUEUE_PAIR,
            asked.pd.into(),
            pair(asked.work),
            pair(sges),
            asked.inline as u64,
            asked.cqe as u64,
            asked.srq.unwrap_or(0).into(),
            asked.initiator.into(),
        ];
        let ([number, qp_num, ..], files) = self.talk.request(&request)?;
        Ok(QueuePairLent {
            number: half(number),
            qp_num: half(qp_num),
            files: self.or_leave(files, LEAVE_QUEUE_PAIR, number)?,
        })
    }

    fn leave_queue_pair(&self, number: u32) -> io::Result<()> {
        self.talk.request(&[LEAVE_QUEUE_PAIR, number.into()])?;
        Ok(())
    }

    fn shared_receives(
        &self,
        pd: u32,
        max_wr: u32,
        max_sge: usize,
        limit: u32,
    ) -> io::Result<(u32, OwnedFd)> {
        let request = [
            SHARED_RECEIVES,
            pd.into(),
            max_wr.into(),
            max_sge as u64,
            limit.into(),
        ];
        let ([number, ..], files) = self.talk.request(&request)?;
        let [file] = self.or_leave(files, LEAVE_SHARED_RECEIVES, number)?;
        Ok((half(number), file))
    }

    fn leave_shared_receives(&self, number: u32) -> io::Result<()> {
        self.talk.request(&[LEAVE_SHARED_RECEIVES, number.into()])?;
        Ok(())
    }

    fn posted(&self) {
        self.line.wake_owner();
    }

    fn arm(&self) {
        self.line.arm();
    }

    fn wait_until(&self, is_there: &mut dyn FnMut() -> bool) -> io::Result<()> {
        for _ in 0..LOOKS {
            if is_there() {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        let waited = self.line.wait_for(None, || is_there().then_some(()));
        waited.map(|_| ()).map_err(io::Error::from)
    }

    fn lost(&self) -> Option<String> {
        self.gone()
    }
}
