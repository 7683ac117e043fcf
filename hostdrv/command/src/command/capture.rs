//! `weft capture`, and the capture that other tools write beside their work.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clap::Args;
use weft_debug::capture::{Capture, CaptureConfig};
use weft_hostdrv::Device;
use weft_tools::capture::{CaptureFile, Captured};

use super::device::{stop_on_interrupt, Station};
use super::trace::CLOCK_MHZ;
use super::Failure;
use crate::output;

/// Between two looks at the ring.
const PAUSE: Duration = Duration::from_millis(1);

/// What to capture.
#[derive(Args)]
pub struct CaptureArgs {
    /// The file, pcapng.
    #[arg(short = 'w', long = "write", value_name = "FILE")]
    write: PathBuf,
    /// Ends after so many frames.
    #[arg(long, value_name = "FRAMES")]
    count: Option<u64>,
    /// Ends after so many seconds.
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
    /// Bytes of a frame that are kept at most.
    #[arg(long, value_name = "BYTES", default_value_t = u16::MAX)]
    snap: u16,
    #[command(flatten)]
    station: Station,
}

fn create(path: &Path, device: &Device) -> Result<CaptureFile<BufWriter<File>>, Failure> {
    let file = File::create(path).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    Ok(CaptureFile::new(
        BufWriter::new(file),
        device.name(),
        CLOCK_MHZ,
    )?)
}

/// Captures until there is enough. The card is brought up for it and answers ARP meanwhile; to capture what another
/// tool does, use that tool's `--capture`.
pub fn run(args: &CaptureArgs) -> Result<(), Failure> {
    let (_reached, device) = args.station.open()?;
    let stop = stop_on_interrupt()?;
    let mut file = create(&args.write, &device)?;
    let mut capture = Capture::start(
        &device,
        CaptureConfig {
            snap: args.snap,
            ..CaptureConfig::default()
        },
    )?;
    let start = Instant::now();
    let over = |captured: Captured| {
        let enough = args.count.is_some_and(|count| captured.frames >= count);
        let late = args
            .seconds
            .is_some_and(|seconds| start.elapsed().as_secs_f64() >= seconds);
        enough || late || stop.load(Ordering::Relaxed)
    };
    while !over(file.captured()) {
        let handled = device.progress()?;
        if file.drain(&mut capture)? + handled == 0 {
            // A captured frame makes no interrupt.
            std::thread::sleep(PAUSE);
        }
    }
    drop(capture);
    let captured = file.captured();
    let mut out = output::stdout();
    match args.station.card.json {
        true => {
            output::json(&mut out, &captured)?;
        }
        false => print(&captured, &args.write, &mut out)?,
    }
    Ok(())
}

fn print(captured: &Captured, path: &Path, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{}: {} frames ({} received, {} sent), {} bytes, {} with a bad FCS, {} truncated, {} lost",
        path.display(),
        captured.frames,
        captured.received,
        captured.sent,
        captured.bytes,
        captured.bad_fcs,
        captured.truncated,
        captured.lost
    )
}

/// Writes what a card receives and sends to a file while something else uses the card.
pub struct Recorder {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Captured, String>>>,
    path: PathBuf,
}

impl Recorder {
    /// Begins.
    pub fn start(device: &Device, path: &Path) -> Result<Self, Failure> {
        let mut file = create(path, device)?;
        let mut capture = Capture::start(device, CaptureConfig::default())?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            follow(&mut capture, &mut file, &stopped).map_err(|e| e.to_string())?;
            Ok(file.captured())
        });
        Ok(Self {
            stop,
            thread: Some(thread),
            path: path.to_owned(),
        })
    }

    /// Ends, with what happened last.
    pub fn stop(mut self) -> Result<(), Failure> {
        let captured = self.end()?;
        Ok(print(&captured, &self.path, &mut io::stderr())?)
    }

    fn end(&mut self) -> Result<Captured, String> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.take() {
            Some(thread) => thread
                .join()
                .map_err(|_| "its thread panicked".to_owned())?,
            None => Ok(Captured::default()),
        }
    }
}

fn follow(
    capture: &mut Capture,
    file: &mut CaptureFile<BufWriter<File>>,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    loop {
        let last = stop.load(Ordering::Relaxed);
        if file.drain(capture)? == 0 {
            if last {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            eprintln!("weft: the capture: {error}");
        }
    }
}
