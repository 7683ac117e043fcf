//! For build scripts: from SystemVerilog to a model that [`Sim`](crate::Sim) runs.
//!
//! ```no_run
//! use rtl_sim::build::{Design, Project};
//!
//! Project::new()
//!     .design(
//!         Design::new("copier")
//!             .files(["rtl/copier_pkg.sv", "rtl/copier.sv"])
//!             .clock("clk_i")
//!             .reset_low("rst_ni")
//!             .suffixes("_i", "_o")
//!             .axi_lite_slave("s_axil", "s_axil_")
//!             .axi_master("m_axi", "m_axi_"),
//!     )
//!     .build();
//! ```
//!
//! The environment of the build: `VERILATOR` names another Verilator (and `VERILATOR_ROOT` its folder);
//! `RTL_SIM_TRACE=0|1` leaves waves out or compiles them into every model; `RTL_SIM_COVERAGE=1` compiles line coverage and `cover` statements in;
//! `RTL_SIM_ASSERT=0` leaves the assertions out of every model;
//! `RTL_SIM_CFLAGS` adds C++ compiler flags; `-march=x86-64` there makes a binary that runs on every processor.
//! `RTL_SIM_PROFILE=count` makes models that count their branches (with clang, named by `CXX`), and
//! `RTL_SIM_PROFILE=FILE`, an absolute path, models for the counts that `llvm-profdata merge` put into the file.

mod bundle;
mod compile;
mod emit;
mod needed;
mod ports;
mod profile;

use bundle::{Bundle, Protocol};
use compile::{run, Source};
use emit::Interface;
pub use needed::needed;
use profile::Profile;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A design to compile: a top module with its parameters and the names of its ports.
#[derive(Clone, Debug)]
pub struct Design {
    name: String,
    top: String,
    parameters: Vec<(String, String)>,
    files: Vec<PathBuf>,
    include_dirs: Vec<PathBuf>,
    defines: Vec<String>,
    arguments: Vec<String>,
    clock: String,
    reset: Option<(String, bool)>,
    suffixes: (String, String),
    bundles: Vec<Bundle>,
    trace: bool,
    coverage: bool,
    optimise: bool,
}

impl Design {
    /// A model of this name (a Rust identifier). The top module has the same name, unless [`top`](Design::top) says
    /// otherwise; the clock is `clk_i`, there is no reset, and ports have no suffixes.
    pub fn new(name: &str) -> Design {
        Design {
            name: name.into(),
            top: name.into(),
            parameters: Vec::new(),
            files: Vec::new(),
            include_dirs: Vec::new(),
            defines: Vec::new(),
            arguments: Vec::new(),
            clock: "clk_i".into(),
            reset: None,
            suffixes: Default::default(),
            bundles: Vec::new(),
            trace: true,
            coverage: false,
            optimise: true,
        }
    }

    /// The top module.
    pub fn top(mut self, module: &str) -> Design {
        self.top = module.into();
        self
    }

    /// A parameter of the top module.
    pub fn parameter(mut self, name: &str, value: impl ToString) -> Design {
        self.parameters.push((name.into(), value.to_string()));
        self
    }

    /// Source files, packages first.
    pub fn files<P: Into<PathBuf>>(mut self, files: impl IntoIterator<Item = P>) -> Design {
        self.files.extend(files.into_iter().map(Into::into));
        self
    }

    /// A folder for `` `include `` and for modules not named in `files`.
    pub fn include_dir(mut self, folder: impl Into<PathBuf>) -> Design {
        self.include_dirs.push(folder.into());
        self
    }

    /// A preprocessor define, `NAME` or `NAME=VALUE`.
    pub fn define(mut self, text: &str) -> Design {
        self.defines.push(text.into());
        self
    }

    /// A further argument for Verilator.
    pub fn argument(mut self, text: &str) -> Design {
        self.arguments.push(text.into());
        self
    }

    /// The clock port.
    pub fn clock(mut self, port: &str) -> Design {
        self.clock = port.into();
        self
    }

    /// The reset port, active low.
    pub fn reset_low(mut self, port: &str) -> Design {
        self.reset = Some((port.into(), true));
        self
    }

    /// The reset port, active high.
    pub fn reset_high(mut self, port: &str) -> Design {
        self.reset = Some((port.into(), false));
        self
    }

    /// What the names of input and output ports end with. The Rust fields do without.
    pub fn suffixes(mut self, inputs: &str, outputs: &str) -> Design {
        self.suffixes = (inputs.into(), outputs.into());
        self
    }

    /// An AXI-Stream into the design: ports `<prefix>tvalid<suffix>` and so on (the `t` may be missing), field `name`.
    pub fn stream_in(self, name: &str, prefix: &str) -> Design {
        self.bundle(name, prefix, Protocol::StreamIn)
    }

    /// An AXI-Stream out of the design.
    pub fn stream_out(self, name: &str, prefix: &str) -> Design {
        self.bundle(name, prefix, Protocol::StreamOut)
    }

    /// An AXI4 master port of the design.
    pub fn axi_master(self, name: &str, prefix: &str) -> Design {
        self.bundle(name, prefix, Protocol::AxiMaster)
    }

    /// An AXI4 slave port of the design.
    pub fn axi_slave(self, name: &str, prefix: &str) -> Design {
        self.bundle(name, prefix, Protocol::AxiSlave)
    }

    /// An AXI4-Lite master port of the design.
    pub fn axi_lite_master(self, name: &str, prefix: &str) -> Design {
        self.bundle(name, prefix, Protocol::AxiLiteMaster)
    }

    /// An AXI4-Lite slave port of the design.
    pub fn axi_lite_slave(self, name: &str, prefix: &str) -> Design {
        self.bundle(name, prefix, Protocol::AxiLiteSlave)
    }

    fn bundle(mut self, name: &str, prefix: &str, protocol: Protocol) -> Design {
        self.bundles.push(Bundle {
            name: name.into(),
            prefix: prefix.into(),
            protocol,
        });
        self
    }

    /// Whether to compile waves (FST) in. They cost a few percent while switched off. Default: yes.
    pub fn trace(mut self, on: bool) -> Design {
        self.trace = on;
        self
    }

    /// Whether the compiler takes its time for a fast model (-O3, else -O1). Default: yes. A model that runs for seconds is
    /// ready in half the time without.
    pub fn optimise(mut self, on: bool) -> Design {
        self.optimise = on;
        self
    }

    /// Whether to compile line coverage in. Default: no.
    pub fn coverage(mut self, on: bool) -> Design {
        self.coverage = on;
        self
    }

    /// Runs Verilator and writes shim and Rust module. Returns the C++ sources to compile.
    fn generate(&self, verilator: &Verilator, out: &Path) -> Result<Vec<Source>, String> {
        let folder = out.join(format!("{}.verilated", self.name));
        // Files of an earlier run that the new one does not write must not be compiled.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let class = format!("V{}", self.name);
        let mut command = verilator.command();
        command
            .args([
                "--cc",
                "-O3",
                "--no-timing",
                "-Wno-fatal",
                "--x-assign",
                "fast",
                "--x-initial",
                "unique",
            ])
            .args([
                "--timescale-override",
                "1ns/1ps",
                "--output-split",
                "20000",
                "--top-module",
                &self.top,
            ])
            .args(["--prefix", &class, "--Mdir"])
            .arg(&folder);
        // Environment (building): `RTL_SIM_ASSERT`: `0`: the models do not look at their assertions. Without it: they do.
        if env_switch("RTL_SIM_ASSERT").unwrap_or(true) {
            command.arg("--assert");
        }
        if self.trace {
            command.args(["--trace-fst", "--trace-structs"]);
        }
        if self.coverage {
            command.args(["--coverage-line", "--coverage-user"]);
        }
        for (name, value) in &self.parameters {
            command.arg(format!("-G{name}={value}"));
        }
        for define in &self.defines {
            command.arg(format!("-D{define}"));
        }
        for folder in &self.include_dirs {
            command.arg(format!("-I{}", folder.display()));
        }
        command.args(&self.arguments).args(&self.files);
        let warnings = run(&mut command)?;
        for line in warnings.lines().filter(|line| line.starts_with("%Warning")) {
            println!("cargo:warning={}: {line}", self.name);
        }

        let header = read(&folder.join(format!("{class}.h")))?;
        let interface = self.interface(&header, class.clone())?;
        write(
            &folder.join(format!("{}_shim.cpp", self.name)),
            &interface.cpp(),
        )?;
        write(&folder.join("channels.h"), include_str!("channels.h"))?;
        write(&folder.join("runtime.h"), include_str!("runtime.h"))?;
        write(&out.join(format!("{}.rs", self.name)), &interface.rust())?;

        let makefile = read(&folder.join(format!("{class}_classes.mk")))?;
        let flags = verilator.flags(self.trace, self.coverage);
        let mut sources: Vec<Source> = classes(&makefile)
            .into_iter()
            .map(|(class, hot)| Source {
                path: folder.join(class).with_extension("cpp"),
                hot: hot && self.optimise,
                includes: vec![folder.clone()],
                flags: flags.clone(),
            })
            .collect();
        sources.push(Source {
            path: folder.join(format!("{}_shim.cpp", self.name)),
            hot: true,
            includes: vec![folder.clone()],
            flags,
        });
        Ok(sources)
    }

    fn interface(&self, header: &str, class: String) -> Result<Interface, String> {
        let mut ports = ports::parse(header)?;
        let at = ports
            .iter()
            .position(|port| port.input && port.name == self.clock && port.width == 1);
        ports.remove(at.ok_or(format!("no clock port `{}`", self.clock))?);
        let mut bundles = Vec::new();
        for bundle in &self.bundles {
            bundles.push(bundle::bind(bundle, &self.suffixes, &mut ports)?);
        }
        let reset = match &self.reset {
            Some((name, low)) => {
                let port = ports
                    .iter()
                    .find(|port| port.input && port.name == *name && port.width == 1);
                Some((port.ok_or(format!("no reset port `{name}`"))?.clone(), *low))
            }
            None => None,
        };
        Ok(Interface {
            name: self.name.clone(),
            class,
            clock: self.clock.clone(),
            reset,
            bundles,
            plain: ports,
            suffixes: self.suffixes.clone(),
            trace: self.trace,
            coverage: self.coverage,
        })
    }
}

/// The designs of one package.
#[derive(Default)]
pub struct Project {
    designs: Vec<Design>,
}

impl Project {
    /// No designs yet.
    pub fn new() -> Project {
        Project::default()
    }

    /// Adds a design.
    pub fn design(mut self, design: Design) -> Project {
        self.designs.push(design);
        self
    }

    /// Compiles all designs into the package, to be called from its build script.
    ///
    /// # Panics
    /// When anything goes wrong, with the output of the tool: that is how a build script fails.
    pub fn build(self) {
        if let Err(error) = self.try_build() {
            panic!("rtl-sim: {error}");
        }
    }

    /// As [`build`](Project::build), but returns the error.
    pub fn try_build(mut self) -> Result<(), String> {
        let out = PathBuf::from(
            std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: not in a build script?")?,
        );
        for variable in [
            "VERILATOR",
            "VERILATOR_ROOT",
            "RTL_SIM_TRACE",
            "RTL_SIM_ASSERT",
            "RTL_SIM_COVERAGE",
            "RTL_SIM_CFLAGS",
            profile::VARIABLE,
        ] {
            println!("cargo:rerun-if-env-changed={variable}");
        }
        for design in &mut self.designs {
            // Environment (building): `RTL_SIM_TRACE`: `0` or `1`: waves out of, or in, every model. Without it: as each design says.
            design.trace = env_switch("RTL_SIM_TRACE").unwrap_or(design.trace);
            // Environment (building): `RTL_SIM_COVERAGE`: `1`: line coverage in every model. Without it: none.
            design.coverage = env_switch("RTL_SIM_COVERAGE").unwrap_or(design.coverage);
            for path in design.files.iter().chain(&design.include_dirs) {
                println!("cargo:rerun-if-changed={}", path.display());
            }
        }
        let trace = self.designs.iter().any(|design| design.trace);
        let verilator = Verilator::find()?;
        verilator.profile.tell_cargo()?;

        let mut sources = verilator.runtime(&out, trace)?;
        let jobs = std::env::var("NUM_JOBS")
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(1);
        for designs in self.designs.chunks(jobs.max(1)) {
            let results: Vec<_> = std::thread::scope(|scope| {
                let start = |design| {
                    let (verilator, out) = (&verilator, &out);
                    scope.spawn(move || Design::generate(design, verilator, out))
                };
                let threads: Vec<_> = designs.iter().map(start).collect();
                threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or(Err("panicked".into())))
                    .collect()
            });
            for (design, generated) in designs.iter().zip(results) {
                sources.extend(
                    generated.map_err(|error| format!("design `{}`: {error}", design.name))?,
                );
            }
        }
        let objects = compile::compile(&sources, &compile::cache(&out), jobs)?;
        let package = std::env::var("CARGO_PKG_NAME")
            .unwrap_or_default()
            .replace('-', "_");
        let archive = format!("{package}_rtl");
        // The archiver adds to an archive that exists.
        let _ = fs::remove_file(out.join(format!("lib{archive}.a")));
        let mut build = cc::Build::new();
        build
            .cpp(true)
            .objects(objects)
            .try_compile(&archive)
            .map_err(|error| error.to_string())?;
        if trace {
            println!("cargo:rustc-link-lib=z");
            // The FST writer of newer Verilators uses the system's LZ4, the older ones bring theirs.
            if verilator.include.join("fstcpp").exists() {
                println!("cargo:rustc-link-lib=lz4");
            }
        }
        println!("cargo:rustc-link-lib=pthread");
        Ok(())
    }
}

/// The installed Verilator.
struct Verilator {
    program: String,
    include: PathBuf,
    /// Its first line about itself, letters and digits only.
    version: String,
    /// What is done about branches.
    profile: Profile,
}

impl Verilator {
    fn find() -> Result<Verilator, String> {
        // Environment (building): `VERILATOR`, `VERILATOR_ROOT`: which Verilator. Without it: the one on the PATH.
        let program = std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".into());
        let about = run(Command::new(&program).arg("-V")).map_err(|error| {
            format!("Verilator does not run (install the package `verilator`, or set VERILATOR to another one): {error}")
        })?;
        let first = about.lines().next().unwrap_or_default().to_string();
        // Builds from a development tree do not know their number.
        let number = first.split_whitespace().nth(1).unwrap_or_default();
        if number.split_once('.').and_then(|(major, minor)| {
            Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?) < (5, 6))
        }) == Some(true)
        {
            return Err(format!(
                "Verilator 5.006 or newer is needed, this is `{first}`"
            ));
        }
        let root = std::env::var("VERILATOR_ROOT").ok().or_else(|| {
            let line = about
                .lines()
                .find(|line| line.trim_start().starts_with("VERILATOR_ROOT"))?;
            Some(line.split_once('=')?.1.trim().to_string())
        });
        let include = PathBuf::from(root.unwrap_or("/usr/share/verilator".into())).join("include");
        if !include.join("verilated.cpp").exists() {
            return Err(format!(
                "no verilated.cpp in {}: set VERILATOR_ROOT",
                include.display()
            ));
        }
        let version = first.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
        Ok(Verilator {
            program,
            include,
            version,
            profile: Profile::find()?,
        })
    }

    fn command(&self) -> Command {
        Command::new(&self.program)
    }

    fn flags(&self, trace: bool, coverage: bool) -> Vec<String> {
        let on = |yes: bool| u32::from(yes);
        let mut flags: Vec<String> = vec![
            format!("-DVM_COVERAGE={}", on(coverage)),
            "-DVM_SC=0".into(),
            format!("-DVM_TRACE={}", on(trace)),
            format!("-DVM_TRACE_FST={}", on(trace)),
            "-DVM_TRACE_VCD=0".into(),
            "-DVL_USER_FINISH".into(),
            "-DVL_USER_STOP".into(),
            "-DVL_USER_FATAL".into(),
            "-DVL_PRINTF=rtl_sim_printf".into(),
            "-include".into(),
            "runtime.h".into(),
            "-fno-stack-protector".into(),
            "-pthread".into(),
            format!("-isystem{}", self.include.display()),
            format!("-isystem{}", self.include.join("vltstd").display()),
        ];
        if cfg!(target_arch = "x86_64") {
            flags.push("-fcf-protection=none".into());
        }
        // The model gains much from vector and bit-count instructions. Those of x86-64-v3 (AVX2), not all that this
        // processor may have: its programs also run in emulated guests, which know no AVX-512.
        if std::env::var("HOST") == std::env::var("TARGET") && knows_x86_64_v3() {
            flags.push("-march=x86-64-v3".into());
        }
        flags.extend(self.profile.flags());
        // Environment (building): `RTL_SIM_CFLAGS`: more C++ flags for models. Without it: none.
        let more = std::env::var("RTL_SIM_CFLAGS").unwrap_or_default();
        flags.extend(more.split_whitespace().map(String::from));
        // So that another Verilator does not find objects of this one.
        flags.push(format!("-DRTL_SIM_VERILATOR={}", self.version));
        flags
    }

    /// The sources that all models share.
    fn runtime(&self, out: &Path, trace: bool) -> Result<Vec<Source>, String> {
        let folder = out.join("runtime");
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        write(&folder.join("runtime.h"), include_str!("runtime.h"))?;
        write(&folder.join("runtime.cpp"), include_str!("runtime.cpp"))?;
        let mut names = vec!["verilated", "verilated_threads", "verilated_cov"];
        if trace {
            names.push("verilated_fst_c");
        }
        let paths = names
            .iter()
            .map(|name| self.include.join(name).with_extension("cpp"));
        // The flag is the same whatever a single model has, so that the runtime serves all of them.
        let flags = self.flags(true, true);
        Ok(paths
            .filter(|path| path.exists())
            .chain([folder.join("runtime.cpp")])
            .map(|path| Source {
                path,
                hot: true,
                includes: vec![folder.clone()],
                flags: flags.clone(),
            })
            .collect())
    }
}

/// The classes in the generated makefile, and whether each is on the hot path.
fn classes(makefile: &str) -> Vec<(&str, bool)> {
    let mut list = Vec::new();
    let mut hot = None;
    for line in makefile.lines() {
        if let Some((name, _)) = line.split_once("+=") {
            hot = match name.trim() {
                "VM_CLASSES_FAST" => Some(true),
                // Tracing code is slow by nature, and large.
                "VM_CLASSES_SLOW" | "VM_SUPPORT_FAST" | "VM_SUPPORT_SLOW" => Some(false),
                _ => None,
            };
        } else if let (Some(hot), Some(class)) = (hot, line.trim().strip_suffix('\\')) {
            list.push((class.trim(), hot));
        }
    }
    list
}

fn env_switch(name: &str) -> Option<bool> {
    match std::env::var(name).ok()?.as_str() {
        "" => None,
        "0" => Some(false),
        _ => Some(true),
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Is the processor of the build one with AVX2 and what goes with it?
#[cfg(target_arch = "x86_64")]
fn knows_x86_64_v3() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("movbe")
}

#[cfg(not(target_arch = "x86_64"))]
fn knows_x86_64_v3() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fifo() -> Design {
        Design::new("fifo")
            .reset_low("rst_ni")
            .suffixes("_i", "_o")
            .stream_in("rx", "rx_")
    }

    const HEADER: &str = "VL_IN8(&clk_i,0,0);\nVL_IN8(&rst_ni,0,0);\nVL_IN64(&rx_data_i,39,0);\nVL_IN8(&rx_valid_i,0,0);\n\
        VL_OUT8(&rx_ready_o,0,0);\nVL_OUT(&level_o,16,0);\nVL_INW(&key_i,99,0,4);\n";

    #[test]
    fn generated_files_have_the_ports() {
        let interface = fifo().interface(HEADER, "Vfifo".into()).unwrap();
        let rust = interface.rust();
        for line in [
            "pub rx: ::rtl_sim::axis::Forward<5>",
            "pub rx: ::rtl_sim::axis::Backward",
            "pub level: u32",
            "pub key: [u8; 13]",
            "inputs.rst_ni = !asserted;",
        ] {
            assert!(rust.contains(line), "no `{line}` in\n{rust}");
        }
        let cpp = interface.cpp();
        for line in [
            "top->rx_data_i = rtl_sim::load<uint64_t>(in->rx.data, 5);",
            "out->rx.ready = top->rx_ready_o;",
            "out->level = top->level_o;",
        ] {
            assert!(cpp.contains(line), "no `{line}` in\n{cpp}");
        }
    }

    #[test]
    fn a_missing_port_is_named() {
        let error = |header: &str| fifo().interface(header, "Vfifo".into()).err().unwrap();
        assert!(error("VL_IN8(&clk,0,0);").contains("no clock port `clk_i`"));
        let without = HEADER.replace("rx_valid_i", "rx_vld_i");
        let text = error(&without);
        assert!(
            text.contains("rx_tvalid_i") && text.contains("rx_vld_i"),
            "{text}"
        );
    }

    #[test]
    fn hot_classes() {
        let makefile = "VM_CLASSES_FAST += \\\n\tVa \\\n\nVM_SUPPORT_SLOW += \\\n\tVa__Syms \\\n\nVM_GLOBAL_FAST += \\\n\tverilated \\\n";
        assert_eq!(classes(makefile), [("Va", true), ("Va__Syms", false)]);
    }
}
