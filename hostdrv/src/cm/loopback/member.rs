//! A member as its device knows it: what other processes that have queue pairs of the device command goes this way.

use std::net::Ipv4Addr;

use weft_engine::commands::Refusal;
use weft_engine::{AcceptParams, ConnId, ConnectParams, Error, QpId};

use super::Member;
use crate::cm::CmError;
use crate::device::{Device, Loopback};

/// What a command is refused with.
fn refusal(error: CmError) -> Refusal {
    match error {
        CmError::Refused(error) => error.into(),
        _ => Error::UnknownConnection.into(),
    }
}

impl Member {
    fn device(&self) -> Result<Device, Refusal> {
        let device = self.exchange.member(self.number);
        device.ok_or(Error::UnknownConnection.into())
    }
}

impl Loopback for Member {
    fn look(&self) {
        self.exchange.look(self.number);
    }

    fn reaches(&self, ip: Ipv4Addr) -> bool {
        self.exchange.at(ip).is_some()
    }

    fn prepare(&self, qp: QpId, params: &ConnectParams<'_>) -> Result<ConnId, Refusal> {
        let made = self.exchange.prepare(&self.device()?, qp, params);
        made.map_err(refusal)
    }

    fn ask(&self, conn: ConnId, params: &ConnectParams<'_>) {
        if let Ok(device) = self.device() {
            self.exchange.ask(&device, conn, params);
        }
    }

    fn accept(&self, conn: ConnId, qp: QpId, params: &AcceptParams<'_>) -> Result<(), Refusal> {
        let accepted = self.exchange.accept(&self.device()?, conn, qp, params);
        accepted.map_err(refusal)
    }

    fn reject(&self, conn: ConnId, private_data: &[u8]) -> Result<(), Refusal> {
        self.exchange.reject(conn, private_data).map_err(refusal)
    }

    fn disconnect(&self, conn: ConnId) {
        if let Ok(device) = self.device() {
            self.exchange.disconnect(&device, conn);
        }
    }

    fn abort(&self, conn: ConnId) {
        if let Ok(device) = self.device() {
            self.exchange.abort(&device, conn);
        }
    }
}
