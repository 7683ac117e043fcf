//! Our end: a card in a process of its own (`weft serve`) and the tools that drive it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use weft_tests::namespace::Namespace;

use crate::process::{built, HostProcess};
use crate::steps::{ensure, NoPass};

use super::rping::READY;
use super::CARD_IP;

/// A served card takes this long to be there at most.
const START: Duration = Duration::from_secs(60);

/// A card on the guest's wire. Dropped, it is gone.
pub struct Card {
    /// `weft serve`.
    pub server: HostProcess,
    socket: PathBuf,
    capture: PathBuf,
    /// Where its logs are.
    pub(super) logs: PathBuf,
    tools: u32,
    /// Where the tools run, if not where this process does.
    namespace: Option<Namespace>,
    /// What their environment has more.
    env: Vec<(&'static str, PathBuf)>,
}

impl Card {
    /// Serves a card whose port is the wire's other end.
    pub(super) fn serve(kind: &str, wire: &Wire, logs: &Path) -> Result<Self, NoPass> {
        std::fs::create_dir_all(logs)?;
        let socket = wire.folder.join("card.vfio-user");
        let capture = logs.join("wire.pcapng");
        // Left over from the card before, which was killed.
        for stale in [&socket, &wire.card_socket()] {
            let _ = std::fs::remove_file(stale);
        }
        let port = format!(
            "dgram:{},{}",
            wire.card_socket().display(),
            wire.guest_socket().display()
        );
        let mut command = Command::new(built("weft")?);
        command
            .arg("serve")
            .arg("--card")
            .arg(kind)
            .arg("--port")
            .arg(port);
        command
            .arg("--socket")
            .arg(&socket)
            .arg("--capture")
            .arg(&capture);
        let mut server = HostProcess::start(&mut command, &logs.join("serve.log"))?;
        if !server.wait_for_file(&socket, START) {
            return Err(NoPass::Fail(format!(
                "weft serve does not serve:\n{}",
                server.output()
            )));
        }
        Ok(Self {
            server,
            socket,
            capture,
            logs: logs.to_owned(),
            tools: 0,
            namespace: None,
            env: Vec::new(),
        })
    }

    /// How the tools name it.
    pub fn device(&self) -> String {
        format!("vfio-user:{}", self.socket.display())
    }

    /// The tools run in a network namespace of their own from now on: the kernel that they may give an interface to is another host's.
    pub(super) fn in_a_namespace(&mut self) -> Result<(), NoPass> {
        let why = "needs root, /dev/net/tun, ip and unshare";
        let namespace = Namespace::new().ok_or_else(|| NoPass::Skip(why.into()))?;
        self.namespace = Some(namespace);
        Ok(())
    }

    /// The tools have this variable from now on.
    pub(super) fn set_env(&mut self, name: &'static str, value: &Path) {
        self.env.push((name, value.to_owned()));
    }

    /// Starts `weft TOOL ARGUMENTS` on this card, with its address.
    pub fn tool(&mut self, tool: &str, arguments: &str) -> Result<HostProcess, NoPass> {
        self.tools += 1;
        let mut command = Command::new(built("weft")?);
        command
            .arg(tool)
            .args(["--device", &self.device(), "--ip", &format!("{CARD_IP}/24")]);
        command.args(arguments.split_whitespace());
        command.envs(self.env.iter().cloned());
        let log = self.logs.join(format!("{:02}-{tool}.log", self.tools));
        let mut start = move || HostProcess::start(&mut command, &log);
        Ok(match &self.namespace {
            Some(namespace) => namespace.run(start)?,
            None => start()?,
        })
    }

    /// The same, of a tool that is a server: it listens.
    pub(super) fn listening(&mut self, tool: &str, arguments: &str) -> Result<HostProcess, NoPass> {
        let mut server = self.tool(tool, arguments)?;
        ensure(
            server.wait_for_output("listening", READY),
            format!("weft {tool} does not listen:\n{}", server.output()),
        )?;
        Ok(server)
    }

    /// Runs `weft TOOL ARGUMENTS` to its end, which must be a success; returns what it wrote.
    pub fn must(&mut self, tool: &str, arguments: &str, limit: Duration) -> Result<String, NoPass> {
        let process = self.tool(tool, arguments)?;
        finish(process, &format!("weft {tool} {arguments}"), limit)
    }

    /// Takes the card from the wire; the capture is complete then.
    pub(super) fn stop(mut self) -> PathBuf {
        self.server.stop(Duration::from_secs(10));
        self.capture.clone()
    }
}

/// Waits for the success of a process.
pub fn finish(mut process: HostProcess, what: &str, limit: Duration) -> Result<String, NoPass> {
    match process.wait(limit) {
        Some(status) if status.success() => Ok(process.output()),
        Some(status) => Err(NoPass::Fail(format!(
            "`{what}`: {status}\n{}",
            process.output()
        ))),
        None => Err(NoPass::Fail(format!(
            "`{what}` did not end in {limit:?}\n{}",
            process.output()
        ))),
    }
}

/// The two sockets between QEMU and the card.
pub(super) struct Wire {
    pub(super) folder: PathBuf,
}

impl Wire {
    pub(super) fn guest_socket(&self) -> PathBuf {
        self.folder.join("wire.guest")
    }

    pub(super) fn card_socket(&self) -> PathBuf {
        self.folder.join("wire.card")
    }
}
