//! A step: its command, what it wrote, and the record of both.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::list::{Entry, Needs, OUT};
use crate::shard::Step;

/// The record's name in a step's folder. It is there when the step has ended.
const RECORD: &str = "record.json";

/// What a step was, and how it ended.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Record {
    /// The result.
    pub result: String,
    /// The part.
    pub part: String,
    /// The command, with [`OUT`] for the folder.
    pub command: Vec<String>,
    /// Which seeds, in words.
    pub seeds: String,
    /// Of the program that ran.
    pub version: String,
    /// Its exit status; -1: a signal ended it.
    pub status: i32,
    /// How long it took.
    pub seconds: f64,
}

/// Where programs are, and where results go.
#[derive(Clone, Debug)]
pub struct Place {
    /// Has `weft` and `examples/`.
    pub programs: PathBuf,
    /// Has a folder for each result.
    pub out: PathBuf,
}

/// What is known of a step that was run.
#[derive(Clone, Debug)]
pub enum Known {
    /// It has ended well, with this command and this program.
    Done(Record),
    /// It has ended otherwise.
    Failed(Record),
    /// It was never run to its end.
    Never,
    /// It was run by another program, or by another command.
    Stale,
}

impl Place {
    /// Why this build cannot make a result.
    ///
    /// # Errors
    /// `weft` cannot be asked.
    pub fn lacks(&self, entry: &Entry) -> Result<Option<String>, String> {
        let Some(Needs::Rtl) = entry.needs else {
            return Ok(None);
        };
        let said = self.about()?;
        let mut lines = said.lines();
        let has = lines.any(|line| line.starts_with("simulator:") && line.contains("rtl"));
        Ok((!has).then(|| "this build has no Verilated cards".to_owned()))
    }

    /// What `weft --version` says.
    fn about(&self) -> Result<String, String> {
        let weft = self.programs.join("weft");
        let output = Command::new(&weft).arg("--version").output();
        let output = output.map_err(|error| format!("{}: {error}", weft.display()))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Version of a step's program: what `weft` says of itself, and a hash of the program's bytes.
    ///
    /// # Errors
    /// A program that is not there.
    pub fn version(&self, entry: &Entry) -> Result<String, String> {
        let program = self.program(entry);
        let bytes =
            fs::read(&program).map_err(|error| format!("{}: {error}", program.display()))?;
        let mut hasher = DefaultHasher::new();
        hasher.write(&bytes);
        let said = self.about()?;
        let first = said.lines().next().unwrap_or_default();
        Ok(format!("{first}, program {:016x}", hasher.finish()))
    }

    fn program(&self, entry: &Entry) -> PathBuf {
        let name = entry.command.first();
        self.programs.join(name.map_or("weft", String::as_str))
    }

    /// The folder of a result.
    pub fn of_result(&self, entry: &Entry) -> PathBuf {
        self.out.join(&entry.name)
    }

    /// The folder of a step.
    pub fn of_step(&self, step: &Step) -> PathBuf {
        let number = (step.number + 1).to_string();
        self.of_result(step.entry).join(number)
    }

    /// What there is of a step by a program of this version.
    pub fn known(&self, step: &Step, version: &str) -> Known {
        let text = fs::read_to_string(self.of_step(step).join(RECORD));
        let record = text.ok().and_then(|text| serde_json::from_str(&text).ok());
        let Some(record): Option<Record> = record else {
            return Known::Never;
        };
        let same =
            record.version == version && record.command == step.entry.command_of(step.part());
        match (same, record.status) {
            (false, _) => Known::Stale,
            (true, 0) => Known::Done(record),
            (true, _) => Known::Failed(record),
        }
    }

    /// Runs a step. Its folder is there when it has ended, and only then.
    ///
    /// # Errors
    /// A program that cannot be run, a folder that cannot be written.
    pub fn run(&self, step: &Step, version: &str) -> Result<Record, String> {
        let folder = self.of_step(step);
        let unfinished = folder.with_extension("unfinished");
        let cannot = |error| format!("cannot write {}: {error}", folder.display());
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished).map_err(cannot)?;
        }
        fs::create_dir_all(&unfinished).map_err(cannot)?;
        let command = step.entry.command_of(step.part());
        let here = unfinished.to_string_lossy();
        let arguments = command.iter().skip(1).map(|word| word.replace(OUT, &here));
        let output = File::create(unfinished.join(output_name(step.entry))).map_err(cannot)?;
        let errors = File::create(unfinished.join("errors")).map_err(cannot)?;
        let start = Instant::now();
        let program = self.program(step.entry);
        let status = Command::new(&program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .status()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let record = Record {
            result: step.entry.name.clone(),
            part: step.part().to_owned(),
            command,
            seeds: step.entry.seeds.clone(),
            version: version.to_owned(),
            status: status.code().unwrap_or(-1),
            seconds: start.elapsed().as_secs_f64(),
        };
        let text = serde_json::to_string_pretty(&record).map_err(|error| error.to_string())?;
        fs::write(unfinished.join(RECORD), text + "\n").map_err(cannot)?;
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(cannot)?;
        }
        fs::rename(&unfinished, &folder).map_err(cannot)?;
        Ok(record)
    }

    /// Runs all that are to be run: not what a program of the same version has done, unless `again`. Whether all ended well.
    ///
    /// # Errors
    /// See [`Self::run`].
    pub fn run_all(
        &self,
        steps: &[Step],
        again: bool,
        mut told: impl FnMut(String),
    ) -> Result<bool, String> {
        let mut good = true;
        for step in steps {
            let name = step.name();
            if let Some(why) = self.lacks(step.entry)? {
                told(format!("{name}: skipped, {why}"));
                continue;
            }
            let version = self.version(step.entry)?;
            match self.known(step, &version) {
                Known::Done(record) if !again => {
                    told(format!("{name}: done already, in {:.1} s", record.seconds));
                    continue;
                }
                _ => {}
            }
            let record = self.run(step, &version)?;
            let ended = match record.status {
                0 => String::new(),
                status => format!(", status {status}: {}", self.of_step(step).display()),
            };
            told(format!("{name}: {:.1} s{ended}", record.seconds));
            good &= record.status == 0;
        }
        Ok(good)
    }

    /// What a step wrote on its standard output.
    ///
    /// # Errors
    /// It is not there.
    pub fn output(&self, step: &Step) -> Result<String, String> {
        let path = self.of_step(step).join(output_name(step.entry));
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// The file of a step's standard output.
fn output_name(entry: &Entry) -> &'static Path {
    Path::new(match entry.is_json() {
        true => "output.json",
        false => "output.md",
    })
}
