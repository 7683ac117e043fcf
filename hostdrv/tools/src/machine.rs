//! State machines, and the loop that runs one.

use std::sync::atomic::{AtomicBool, Ordering};

use weft_hostdrv::device::Device;
use weft_hostdrv::DeviceError;

/// How long the loop sleeps before it looks whether it is to stop.
const STOP_POLL_NS: u64 = 100_000_000;

/// A tool that talks to a peer, advanced by its caller.
pub trait Machine {
    /// What it has to say in the end.
    type Report;

    /// Does what can be done now and never blocks. Answers when it is over, once; what went wrong is in the report.
    fn poll(&mut self) -> Option<Self::Report>;

    /// When `poll` is to be called even if nothing arrives, in the device's time.
    fn deadline(&self) -> Option<u64>;

    /// Asks it to end in order as soon as it can.
    fn stop(&mut self);
}

/// Runs a machine to its end; `stop` ends it earlier.
pub fn run<M: Machine>(
    device: &Device,
    machine: &mut M,
    stop: &AtomicBool,
) -> Result<M::Report, DeviceError> {
    let mut stopped = false;
    loop {
        if !stopped && stop.load(Ordering::Relaxed) {
            stopped = true;
            machine.stop();
        }
        // A device that failed says so to the machine, whose report has more to tell.
        let handled = device.progress().unwrap_or(0);
        if let Some(report) = machine.poll() {
            return Ok(report);
        }
        if handled > 0 || device.progress()? > 0 {
            continue;
        }
        let look = device.now().saturating_add(STOP_POLL_NS);
        device.wait(Some(
            machine
                .deadline()
                .map_or(look, |deadline| deadline.min(look)),
        ))?;
    }
}
