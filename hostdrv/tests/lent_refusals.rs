//! What a lender refuses, or answers as nobody understands it, is the error of that call alone: the device goes on.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use weft_card_transport::queue_memory::{sealed_file, QueueMemory};
use weft_card_transport::NoCard;
use weft_hostdrv::device::{
    DeviceLender, LentDevice, QueuePairAsked, QueuePairLent, TargetLent, XrcLender,
    XrcReceivesAsked, XrcdAsked,
};
use weft_hostdrv::unstable::queues::{CommandRing, EventRing};
use weft_hostdrv::unstable::SharedControl;
use weft_hostdrv::verbs::{Access, ControlTerms, MwType, QpInit, SrqInit, VerbsError};
use weft_hostdrv::Device;
use weft_layout::Answer;

/// Commands and events of the rings.
const TERMS: ControlTerms = ControlTerms {
    commands: 16,
    events: 64,
};

/// The least number of a status that no command has.
const NO_STATUS: u8 = 255;

/// Lends nothing, or what is of no use, and answers each command with a status.
struct Miser {
    ring: CommandRing,
    memory: QueueMemory,
    status: u8,
    /// Files of queues are too short.
    short: bool,
    left: Mutex<Vec<u32>>,
}

fn no<T>() -> io::Result<T> {
    Err(io::Error::other("the client has 0 of 0"))
}

impl Miser {
    fn files<const N: usize>(&self) -> io::Result<[OwnedFd; N]> {
        if !self.short {
            return no();
        }
        let files: io::Result<Vec<OwnedFd>> = (0..N)
            .map(|_| Ok(sealed_file("weft-test", 8)?.into()))
            .collect();
        Ok(files?.try_into().expect("as many"))
    }

    fn leave(&self, number: u32) -> io::Result<()> {
        self.left.lock().expect("no panic").push(number);
        no()
    }
}

impl XrcLender for Miser {
    fn xrcd(&self, _: XrcdAsked) -> io::Result<Option<u32>> {
        match self.short {
            true => Ok(Some(1)),
            false => no(),
        }
    }
    fn leave_xrcd(&self, _: u32) -> io::Result<()> {
        no()
    }
    fn xrc_receives(&self, _: &XrcReceivesAsked) -> io::Result<(u32, [OwnedFd; 2])> {
        Ok((7, self.files()?))
    }
    fn target(&self, _: u32, _: u32) -> io::Result<TargetLent> {
        no()
    }
    fn open_target(&self, _: u32, _: u32) -> io::Result<TargetLent> {
        no()
    }
    fn leave_target(&self, _: u32) -> io::Result<()> {
        no()
    }
}

impl DeviceLender for Miser {
    fn alloc_pd(&self) -> io::Result<u32> {
        match self.status {
            0 => no(),
            _ => Ok(1),
        }
    }
    fn dealloc_pd(&self, _: u32) -> io::Result<()> {
        no()
    }
    fn queue_pair(&self, _: &QueuePairAsked) -> io::Result<QueuePairLent> {
        let files = self.files()?;
        let (number, qp_num) = (8, 9);
        Ok(QueuePairLent {
            number,
            qp_num,
            files,
        })
    }
    fn leave_queue_pair(&self, number: u32) -> io::Result<()> {
        self.leave(number)
    }
    fn shared_receives(&self, _: u32, _: u32, _: usize, _: u32) -> io::Result<(u32, OwnedFd)> {
        let [file] = self.files()?;
        Ok((6, file))
    }
    fn leave_shared_receives(&self, number: u32) -> io::Result<()> {
        self.leave(number)
    }
    fn posted(&self) {}
    fn arm(&self) {}
    fn wait_until(&self, is_there: &mut dyn FnMut() -> bool) -> io::Result<()> {
        let (ring, memory) = (&self.ring, self.memory.words());
        let number = ring.posted(memory).wrapping_sub(1);
        let status = self.status;
        let answer = Answer {
            status,
            ..Answer::default()
        };
        ring.put_answer(memory, number, answer);
        assert!(is_there(), "whoever waits for this answer waits for ever");
        Ok(())
    }
    fn lost(&self) -> Option<String> {
        None
    }
}

fn borrowed(status: u8, short: bool) -> (Device, Arc<Miser>) {
    let ring = CommandRing::new(TERMS.commands as usize).expect("a ring");
    let events = EventRing::new(TERMS.events as usize).expect("a ring");
    let files = [ring.bytes(), events.bytes()].map(|bytes| {
        let file = sealed_file("weft-test", bytes as u64);
        OwnedFd::from(file.expect("memory"))
    });
    let memory = QueueMemory::map(files[0].try_clone().expect("a file"));
    let lender = Arc::new(Miser {
        ring,
        memory: memory.expect("memory"),
        status,
        short,
        left: Mutex::default(),
    });
    let lent = LentDevice {
        ip: Ipv4Addr::LOCALHOST,
        netmask: Ipv4Addr::BROADCAST,
        gateway: None,
        mtu: 1500,
        most: [16, 16],
    };
    let card = Arc::new(NoCard::new().expect("files"));
    let control = SharedControl::open(files, TERMS).expect("as they were made");
    let device = control.into_device(card, lender.clone(), &lent);
    (device, lender)
}

fn goes_on(device: &Device) {
    assert_eq!(device.progress(), Ok(0));
    assert_eq!(device.get_async_event(), None);
}

fn is_refused<T>(device: &Device, asked: Result<T, VerbsError>) {
    let error = asked.err().expect("refused");
    if let VerbsError::Device(error) = &error {
        assert!(!error.is_gone(), "{error}");
    }
    goes_on(device);
}

#[test]
fn what_a_lender_refuses_is_the_calls_error() {
    let (device, _) = borrowed(0, false);
    is_refused(&device, device.alloc_pd());
    is_refused(&device, device.alloc_xrcd());
    // Every status that a command is refused with, and two that are none.
    for status in (1..64).chain([NO_STATUS - 1, NO_STATUS]) {
        let (device, _) = borrowed(status, false);
        let pd = device.alloc_pd().expect("lent");
        let cq = device.create_cq(16, None).expect("its own");
        is_refused(&device, pd.alloc_mr(4096, Access::LOCAL_WRITE));
        is_refused(&device, pd.create_qp(&QpInit::new(&cq)));
        is_refused(&device, pd.create_qp(&QpInit::new(&cq).initiator()));
        is_refused(&device, pd.create_srq(&SrqInit::default()));
        is_refused(&device, pd.alloc_mw(MwType::Type2));
        let id = device.create_event_channel().create_id();
        assert!(id.listen(4).is_err());
        goes_on(&device);
        // It does not take its domain back.
        drop(pd);
        goes_on(&device);
    }
}

/// What was lent and is of no use here is left.
#[test]
fn what_cannot_be_mapped_is_left() {
    let (device, lender) = borrowed(1, true);
    let pd = device.alloc_pd().expect("lent");
    let cq = device.create_cq(16, None).expect("its own");
    let xrcd = device.alloc_xrcd().expect("lent");
    is_refused(&device, pd.create_qp(&QpInit::new(&cq)));
    is_refused(&device, pd.create_srq(&SrqInit::default()));
    is_refused(&device, pd.create_xrc_srq(&xrcd, &cq, &SrqInit::default()));
    is_refused(&device, pd.create_qp(&xrcd.target()));
    is_refused(&device, xrcd.open_target(9));
    assert_eq!(*lender.left.lock().expect("no panic"), [8, 6, 7]);
}
