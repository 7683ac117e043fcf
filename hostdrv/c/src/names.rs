//! Names of what programs print.

use std::ffi::{c_char, CStr};

use crate::bindings::*;

fn completion(status: ibv_wc_status) -> &'static CStr {
    match status {
        IBV_WC_SUCCESS => c"success",
        IBV_WC_LOC_LEN_ERR => c"local length error",
        IBV_WC_LOC_QP_OP_ERR => c"local QP operation error",
        IBV_WC_LOC_PROT_ERR => c"local protection error",
        IBV_WC_WR_FLUSH_ERR => c"Work Request Flushed Error",
        IBV_WC_MW_BIND_ERR => c"memory window bind error",
        IBV_WC_BAD_RESP_ERR => c"bad response error",
        IBV_WC_LOC_ACCESS_ERR => c"local access error",
        IBV_WC_REM_INV_REQ_ERR => c"remote invalid request error",
        IBV_WC_REM_ACCESS_ERR => c"remote access error",
        IBV_WC_REM_OP_ERR => c"remote operation error",
        IBV_WC_FATAL_ERR => c"fatal error",
        IBV_WC_GENERAL_ERR => c"general error",
        _ => c"unknown",
    }
}

entries! {
    /// How work ended.
    text fn ibv_wc_status_str(status: ibv_wc_status) -> *const c_char {
        Ok(completion(status))
    }

    /// What kind of device.
    text fn ibv_node_type_str(kind: ibv_node_type) -> *const c_char {
        Ok(match kind {
            IBV_NODE_RNIC => c"iWARP NIC",
            IBV_NODE_CA => c"InfiniBand channel adapter",
            IBV_NODE_SWITCH => c"InfiniBand switch",
            IBV_NODE_ROUTER => c"InfiniBand router",
            _ => c"unknown",
        })
    }

    /// How a port is.
    text fn ibv_port_state_str(state: ibv_port_state) -> *const c_char {
        Ok(match state {
            IBV_PORT_NOP => c"no state change (NOP)",
            IBV_PORT_DOWN => c"down",
            IBV_PORT_INIT => c"init",
            IBV_PORT_ARMED => c"armed",
            IBV_PORT_ACTIVE => c"active",
            IBV_PORT_ACTIVE_DEFER => c"active defer",
            _ => c"invalid state",
        })
    }

    /// What happened.
    text fn ibv_event_type_str(event: ibv_event_type) -> *const c_char {
        Ok(match event {
            IBV_EVENT_QP_FATAL => c"local work queue catastrophic error",
            IBV_EVENT_QP_ACCESS_ERR => c"local access violation work queue error",
            IBV_EVENT_COMM_EST => c"communication established",
            IBV_EVENT_QP_LAST_WQE_REACHED => c"last WQE reached",
            IBV_EVENT_SRQ_LIMIT_REACHED => c"SRQ limit reached",
            IBV_EVENT_DEVICE_FATAL => c"local catastrophic error",
            _ => c"unknown",
        })
    }
}
