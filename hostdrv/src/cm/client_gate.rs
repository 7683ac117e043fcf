//! The host's policy and packet filter before the ports and connections of a broker's client.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;

use super::device_state::DeviceState;
use super::packet_filter::lets_in;
use super::policy::{Asker, Judgement, PolicyDirection, REJECTED_BY_POLICY};
use super::{CmError, TransportKind};
use crate::device::{Device, Gate, Knock};

/// Ports below are root's, or the broker's own user's.
const FIRST_OF_ALL: u16 = 1024;

/// Who decides for clients of one user.
struct ClientGate {
    device: Device,
    user: u32,
    /// It may listen on ports below 1024.
    privileged: bool,
}

/// What decides on the ports and connections of a client of this user: the device's policy, [that of the host](super::HostPolicy::of_host) unless
/// another one was set, and its packet filter. `privileged`: it may listen on ports below 1024.
pub fn client_gate(device: &Device, user: u32, privileged: bool) -> Result<Arc<dyn Gate>, CmError> {
    device.take_host_policy()?;
    Ok(Arc::new(ClientGate {
        device: device.clone(),
        user,
        privileged,
    }))
}

impl ClientGate {
    fn judge(&self, asker: Asker<'_>) -> Result<(), Vec<u8>> {
        let policy = DeviceState::of(&self.device).policy().clone().flatten();
        let judgement = policy.map(|policy| policy.judge(self.device.now(), &asker));
        let Some(Judgement::Rejected(reason)) = judgement else {
            return Ok(());
        };
        let Asker { user, port, .. } = asker;
        tracing::debug!(?user, port, other = %asker.from, direction = ?asker.direction, "a client's, rejected");
        Err(reason)
    }

    /// What it wants itself.
    fn wants<'a>(
        &self,
        direction: PolicyDirection,
        other: SocketAddrV4,
        private_data: &'a [u8],
    ) -> Asker<'a> {
        Asker {
            direction,
            user: Some(self.user),
            from: *other.ip(),
            port: other.port(),
            transport: TransportKind::Iwarp,
            private_data,
        }
    }
}

impl Gate for ClientGate {
    fn listens(&self, port: u16) -> Result<(), Vec<u8>> {
        if (1..FIRST_OF_ALL).contains(&port) && !self.privileged {
            return Err(REJECTED_BY_POLICY.to_vec());
        }
        let here = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port);
        self.judge(self.wants(PolicyDirection::Listen, here, &[]))
    }

    fn connects(&self, to: SocketAddrV4, private_data: &[u8]) -> Result<(), Vec<u8>> {
        self.judge(self.wants(PolicyDirection::Out, to, private_data))
    }

    fn request(&self, request: &Knock<'_>) -> Result<(), Vec<u8>> {
        if !request.inside && !lets_in(&self.device, request.from, request.port) {
            return Err(REJECTED_BY_POLICY.to_vec());
        }
        self.judge(Asker {
            direction: PolicyDirection::In,
            user: Some(self.user),
            from: *request.from.ip(),
            port: request.port,
            transport: match request.inside {
                true => TransportKind::Loop,
                false => TransportKind::Iwarp,
            },
            private_data: request.private_data,
        })
    }
}
