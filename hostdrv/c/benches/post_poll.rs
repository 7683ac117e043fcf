//! What a C program pays to post work and to take its completion: instructions, counted by callgrind.
//!
//! `cargo bench -p weft-rdma --bench post_poll` prints the table; with `-- --gate` a figure above the bar fails. As the driver's own bench, the engine's
//! work is left out: the device is `deferred`, there is no peer, and the completions are flushed ones.

#[path = "../../tests/fake/mod.rs"]
mod fake;

use std::process::{Command, ExitCode};
use std::ptr::null_mut;
use std::sync::Arc;

use fake::FakeCard;
use weft_hostdrv::{Device, DeviceConfig};
use weft_rdma::c::*;
use weft_rdma::cm::{channel::*, id::*};
use weft_rdma::{completions::*, device::*, memory::*, queue_pairs::*};

/// Work requests of a run.
const WORK: u64 = 1024;
/// Instructions at most, of a post and its poll: what it takes now.
const BAR: u64 = 245;

const OPCODES: [(&str, ibv_wr_opcode, u64); 3] = [
    ("Write", IBV_WR_RDMA_WRITE, 64),
    ("Send", IBV_WR_SEND, 64),
    ("Read", IBV_WR_RDMA_READ, 64),
];

/// Callgrind counts in here.
#[inline(never)]
fn weft_counted_post(qp: *mut ibv_qp, wr: *mut ibv_send_wr) -> i32 {
    let mut bad = null_mut();
    // SAFETY: a queue pair and a work request that `run` made. It is `ibv_post_send` of the headers.
    unsafe {
        (*(*qp).context)
            .ops
            .post_send
            .map_or(-1, |post| post(qp, wr, &mut bad))
    }
}

/// And in here.
#[inline(never)]
fn weft_counted_poll(cq: *mut ibv_cq, wc: *mut ibv_wc) -> i32 {
    // SAFETY: a queue and a completion that `run` made. It is `ibv_poll_cq` of the headers.
    unsafe {
        (*(*cq).context)
            .ops
            .poll_cq
            .map_or(-1, |poll| poll(cq, 1, wc))
    }
}

/// Posts and polls, under callgrind.
fn run(opcode: ibv_wr_opcode, bytes: u64) {
    std::env::set_var("WEFT_DEVICE", "fake");
    let config = DeviceConfig::new([2, 0, 0, 0, 0, 1], [10, 0, 0, 1].into()).deferred();
    let device = Device::open(Arc::new(FakeCard::new()), config).expect("nothing is wrong");
    assert!(weft_rdma::open_on(device.clone()));
    let mut memory = vec![0u8; 4096];
    // SAFETY: the calls of a C program, in its order; all that they are given lives to the end.
    unsafe {
        let context = ibv_open_device(*ibv_get_device_list(null_mut()));
        let pd = ibv_alloc_pd(context);
        let rights = (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ) as i32;
        let mr = ibv_reg_mr(pd, memory.as_mut_ptr().cast(), memory.len(), rights);
        let cq = ibv_create_cq(context, 2 * WORK as i32, null_mut(), null_mut(), 0);
        let channel = rdma_create_event_channel();
        let mut id = null_mut();
        assert_eq!(rdma_create_id(channel, &mut id, null_mut(), RDMA_PS_TCP), 0);
        let mut to: sockaddr_in = std::mem::zeroed();
        (to.sin_family, to.sin_port) = (2, 4791u16.to_be());
        to.sin_addr.s_addr = u32::from_ne_bytes([10, 0, 0, 2]);
        assert_eq!(
            rdma_resolve_addr(id, null_mut(), (&raw mut to).cast(), 0),
            0
        );
        assert_eq!(rdma_resolve_route(id, 0), 0);
        let mut init: ibv_qp_init_attr = std::mem::zeroed();
        (init.send_cq, init.recv_cq, init.qp_type) = (cq, cq, IBV_QPT_RC);
        (init.cap.max_send_wr, init.cap.max_send_sge) = (WORK as u32, 1);
        assert_eq!(rdma_create_qp(id, pd, &mut init), 0);
        assert_eq!(rdma_connect(id, null_mut()), 0);
        let mut sge = ibv_sge {
            addr: memory.as_ptr() as u64,
            length: bytes as u32,
            lkey: (*mr).lkey,
        };
        let mut wr: ibv_send_wr = std::mem::zeroed();
        (wr.sg_list, wr.num_sge) = (&mut sge, 1);
        (wr.opcode, wr.send_flags) = (opcode, IBV_SEND_SIGNALED);
        wr.wr.rdma.rkey = 0x100;
        for n in 0..WORK {
            wr.wr_id = n;
            assert_eq!(weft_counted_post((*id).qp, &mut wr), 0);
        }
        let mut error: ibv_qp_attr = std::mem::zeroed();
        error.qp_state = IBV_QPS_ERR;
        assert_eq!(ibv_modify_qp((*id).qp, &mut error, IBV_QP_STATE as i32), 0);
        let mut wc: ibv_wc = std::mem::zeroed();
        for n in 0..WORK {
            assert_eq!(weft_counted_poll(cq, &mut wc), 1);
            assert_eq!((wc.wr_id, wc.status), (n, IBV_WC_WR_FLUSH_ERR));
        }
    }
}

/// Instructions of all posts or all polls, for each.
fn count(name: &str, what: &str) -> Result<u64, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--collect-atstart=no",
            "--callgrind-out-file=/dev/null",
        ])
        .arg(format!("--toggle-collect=*weft_counted_{what}*"))
        .arg(own)
        .args(["--scene", name])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let number = said
        .split_once("Collected : ")
        .and_then(|(_, rest)| rest.split_whitespace().next()?.parse::<u64>().ok());
    number
        .filter(|_| output.status.success())
        .map(|all| all.div_ceil(WORK))
        .ok_or(said)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--scene") {
        let found = OPCODES
            .iter()
            .find(|(name, ..)| Some(*name) == arguments.get(at + 1).map(String::as_str));
        return match found {
            Some((_, opcode, bytes)) => {
                run(*opcode, *bytes);
                ExitCode::SUCCESS
            }
            None => ExitCode::FAILURE,
        };
    }
    let mut fits = true;
    println!("| instructions, C interface | post | poll | both | bar |\n|---|---|---|---|---|");
    for (name, _, bytes) in OPCODES {
        let counts = count(name, "post").and_then(|post| Ok((post, count(name, "poll")?)));
        let (post, poll) = match counts {
            Ok(counts) => counts,
            Err(error) => {
                eprintln!("{name}: {error}");
                return ExitCode::FAILURE;
            }
        };
        println!(
            "| {name} of {bytes} bytes | {post} | {poll} | {} | {BAR} |",
            post + poll
        );
        fits &= post + poll <= BAR;
    }
    if arguments.iter().any(|argument| argument == "--gate") && !fits {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
