//! Everything can be shared between threads.

use weft_hostdrv::{cm, device, dma, transport, verbs, Device, DeviceError};

fn shared<T: Send + Sync + ?Sized>() {}

#[test]
fn everything_is_send_and_sync() {
    shared::<Device>();
    shared::<DeviceError>();
    shared::<device::Drive>();
    shared::<cm::Connection>();
    shared::<dyn transport::Transport>();
    shared::<dma::DmaBuffer>();
    shared::<verbs::Pd>();
    shared::<verbs::Mr>();
    shared::<verbs::Cq>();
    shared::<verbs::CompChannel>();
    shared::<verbs::Qp>();
    shared::<verbs::SendWr>();
    shared::<verbs::VerbsError>();
    shared::<cm::EventChannel>();
    shared::<cm::CmId>();
    shared::<cm::CmEvent>();
    shared::<cm::CmError>();
}
