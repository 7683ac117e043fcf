//! The meetings of the table.

use weft_hostdrv::cm::{ConnParam, RtrKinds};

use super::profile::{Profile, Rtr};

/// The peer's part in the start-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It connects to Weft.
    Initiator,
    /// Weft connects to it.
    Responder,
}

/// How a meeting has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Connected; data both ways; closed in order.
    Data,
    /// The connection does not come about; Weft says so by an event.
    Refused,
}

/// A meeting.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The peer.
    pub profile: Profile,
    /// Its part.
    pub role: Role,
    /// Weft's parameters: of `connect` or of `accept`.
    pub param: ConnParam,
    /// What is particular about it.
    pub remark: &'static str,
    /// The peer's first request never arrives; it is reset instead, as by a box that knows revision 1 alone.
    pub reset_first: bool,
    /// How it has to end.
    pub outcome: Outcome,
}

/// All of them.
pub fn scenarios() -> Vec<Scenario> {
    let meeting = |profile: Profile, role, remark| Scenario {
        profile,
        role,
        param: ConnParam::default(),
        remark,
        reset_first: false,
        outcome: Outcome::Data,
    };
    let with = |scenario: Scenario, change: fn(&mut Scenario)| {
        let mut scenario = scenario;
        change(&mut scenario);
        scenario
    };
    let mut list = Vec::new();
    for profile in [Profile::siw(), Profile::siw_peer_to_peer()] {
        for role in [Role::Initiator, Role::Responder] {
            list.push(meeting(profile.clone(), role, ""));
        }
    }
    let siw = || meeting(Profile::siw(), Role::Responder, "");
    list.push(with(siw(), |s| {
        s.param.peer_to_peer = Some(false);
        s.remark = "without peer-to-peer: its application speaks right behind the reply";
    }));
    list.push(with(siw(), |s| {
        s.param.rtr = Some(RtrKinds::READ);
        s.remark = "the Read alone offered";
    }));
    list.push(with(siw(), |s| {
        s.param.crc = false;
        s.remark = "CRC off: only so if neither asks";
    }));
    list.push(with(siw(), |s| {
        s.param.markers = true;
        s.outcome = Outcome::Refused;
        s.remark = "markers asked for";
    }));
    let siw = || meeting(Profile::siw_peer_to_peer(), Role::Initiator, "");
    list.push(with(siw(), |s| {
        s.profile.offers = Some(Rtr::WRITE);
        s.profile.crc = true;
        s.remark = "the Write alone, CRC required";
    }));
    list.push(with(siw(), |s| {
        s.param.rtr = Some(RtrKinds::SEND);
        s.outcome = Outcome::Refused;
        s.remark = "Weft takes the Send alone: its Terminate comes swapped";
    }));
    for role in [Role::Initiator, Role::Responder] {
        list.push(meeting(Profile::chelsio(), role, ""));
    }
    let chelsio = || meeting(Profile::chelsio(), Role::Initiator, "");
    list.push(with(chelsio(), |s| {
        s.profile.offers = Some(Rtr::WRITE);
        s.remark = "set to the Write";
    }));
    list.push(with(chelsio(), |s| {
        s.reset_first = true;
        s.remark = "reset at first: a Read that nobody agreed on comes";
    }));
    for role in [Role::Initiator, Role::Responder] {
        list.push(meeting(Profile::intel(), role, ""));
    }
    let intel = || meeting(Profile::intel(), Role::Responder, "");
    list.push(with(intel(), |s| {
        s.param.peer_to_peer = Some(false);
        s.outcome = Outcome::Refused;
        s.remark = "without peer-to-peer";
    }));
    list.push(with(intel(), |s| {
        s.param.peer_to_peer = Some(false);
        s.param.fall_back = true;
        s.remark = "the same, and Weft may fall back";
    }));
    list.push(with(meeting(Profile::intel(), Role::Initiator, ""), |s| {
        s.reset_first = true;
        s.remark = "reset at first";
    }));
    list.push(meeting(Profile::revision_1(), Role::Initiator, ""));
    let old = || meeting(Profile::revision_1(), Role::Responder, "");
    list.push(with(old(), |s| {
        s.outcome = Outcome::Refused;
        s.remark = "Weft asks by revision 2";
    }));
    list.push(with(old(), |s| {
        s.param.fall_back = true;
        s.remark = "Weft may fall back";
    }));
    list
}
