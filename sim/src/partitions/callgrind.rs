//! A profile of callgrind, folded into the layers of a host.

use std::collections::HashMap;

use super::layers::{Layer, Place};

/// How often what nobody owns is handed on to those that called it: deeper than any such calls are nested.
const ROUNDS: usize = 64;

/// Instructions of each layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Folded {
    counts: [f64; Layer::COUNT],
    /// Whether the profile names the sources of lines; without, what is compiled into another function counts as that one's.
    pub(super) by_lines: bool,
}

impl Folded {
    /// Of this one.
    pub(super) fn of(&self, layer: Layer) -> u64 {
        self.counts[layer as usize].round() as u64
    }
}

/// A function that is no layer's own: of the language's library, of the system's, or one that hosts and simulated cards share.
#[derive(Default)]
struct Foreign {
    /// Its instructions: those of a layer if a host called it, and those of whichever layer called.
    own: HashMap<Option<Layer>, f64>,
    copies: bool,
    /// Instructions in calls of it: from lines of a layer, and from other such functions.
    from_layers: [f64; Layer::COUNT],
    from_foreign: HashMap<usize, f64>,
}

/// Who has a line: a layer, or a function that is none's; then the layer that it is if a host called it, where not the caller's.
#[derive(Clone, Copy)]
enum Owner {
    Layer(Layer),
    Foreign(usize, Option<Layer>),
}

#[derive(Default)]
struct Reader {
    folded: Folded,
    foreign: Vec<Foreign>,
    /// By file and name.
    numbers: HashMap<(String, String), usize>,
}

impl Reader {
    fn owner(&mut self, line_file: &str, file: &str, function: &str) -> Owner {
        let around = Place::of_file(file).or_else(|| Place::of_function(function));
        let line = Place::of_file(line_file).or(around);
        match (line, around) {
            (Some(Place::Of(layer)), _) => Owner::Layer(layer),
            (_, Some(Place::Of(Layer::Simulator))) => Owner::Layer(Layer::Simulator),
            (Some(Place::Shared(layer)), Some(Place::Of(_))) => Owner::Layer(layer),
            (Some(Place::Shared(layer)), _) => {
                Owner::Foreign(self.number(file, function), Some(layer))
            }
            (None, _) => Owner::Foreign(self.number(file, function), None),
        }
    }

    fn number(&mut self, file: &str, function: &str) -> usize {
        let key = (file.to_owned(), function.to_owned());
        *self.numbers.entry(key).or_insert_with(|| {
            self.foreign.push(Foreign {
                copies: function.contains("memcpy") || function.contains("memmove"),
                ..Foreign::default()
            });
            self.foreign.len() - 1
        })
    }

    /// Instructions of a line.
    fn line(&mut self, owner: Owner, count: f64) {
        match owner {
            Owner::Layer(layer) => self.folded.counts[layer as usize] += count,
            Owner::Foreign(number, layer) => {
                *self.foreign[number].own.entry(layer).or_default() += count;
            }
        }
    }

    /// Instructions in calls that a line makes.
    fn call(&mut self, from: Owner, to: Owner, count: f64) {
        let Owner::Foreign(to, _) = to else {
            return;
        };
        match from {
            Owner::Layer(layer) => self.foreign[to].from_layers[layer as usize] += count,
            Owner::Foreign(from, _) if from != to => {
                *self.foreign[to].from_foreign.entry(from).or_default() += count;
            }
            Owner::Foreign(..) => {}
        }
    }

    /// What is nobody's own is of those that called it, by the instructions of their calls.
    fn fold(mut self) -> Folded {
        let mut shares = vec![[0.0; Layer::COUNT]; self.foreign.len()];
        for _ in 0..ROUNDS {
            let next: Vec<_> = self
                .foreign
                .iter()
                .map(|function| {
                    let mut share = function.from_layers;
                    for (&caller, weight) in &function.from_foreign {
                        let known: &[f64; Layer::COUNT] = &shares[caller];
                        for (sum, part) in share.iter_mut().zip(known) {
                            *sum += weight * part;
                        }
                    }
                    let all: f64 = share.iter().sum();
                    if all > 0.0 {
                        share.map(|part| part / all)
                    } else {
                        share
                    }
                })
                .collect();
            if next == shares {
                break;
            }
            shares = next;
        }
        let counts = &mut self.folded.counts;
        for (function, share) in self.foreign.iter().zip(&shares) {
            let nobody = 1.0 - share.iter().sum::<f64>();
            let copies = function.copies.then_some(Layer::Copies);
            for (layer, own) in &function.own {
                counts[Layer::Simulator as usize] += nobody * own;
                for (caller, part) in share.iter().enumerate() {
                    let simulator = caller == Layer::Simulator as usize;
                    let fixed = layer.or(copies).filter(|_| !simulator);
                    counts[fixed.map_or(caller, |layer| layer as usize)] += part * own;
                }
            }
        }
        self.folded
    }
}

/// Reads a profile that was written without compressed names and positions.
pub(super) fn fold(profile: &str) -> Folded {
    let mut reader = Reader::default();
    let (mut file, mut line_file, mut function) = (String::new(), String::new(), String::new());
    let (mut called_file, mut called) = (None, String::new());
    let mut is_call = false;
    for line in profile.lines() {
        if let Some((key, value)) = line.split_once('=') {
            match key {
                "fl" => {
                    value.clone_into(&mut file);
                    value.clone_into(&mut line_file);
                    reader.folded.by_lines |= Place::of_file(value).is_some();
                }
                "fi" | "fe" => value.clone_into(&mut line_file),
                "fn" => {
                    value.clone_into(&mut function);
                    line_file.clone_from(&file);
                }
                "cfi" | "cfl" => called_file = Some(value.to_owned()),
                "cfn" => value.clone_into(&mut called),
                "calls" => is_call = true,
                _ => {}
            }
            continue;
        }
        let mut numbers = line.split(' ').map(str::parse::<u64>);
        let (Some(Ok(_)), Some(Ok(count))) = (numbers.next(), numbers.next()) else {
            continue;
        };
        let owner = reader.owner(&line_file, &file, &function);
        if is_call {
            let called_file = called_file.take().unwrap_or_else(|| line_file.clone());
            let to = reader.owner(&called_file, &called_file, &called);
            reader.call(owner, to, count as f64);
            is_call = false;
        } else {
            reader.line(owner, count as f64);
        }
    }
    reader.fold()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A driver that calls the engine, which has a line of TCP compiled in, copies, and calls the library, which allocates; and a
    /// simulator that copies as well.
    const PROFILE: &str = "\
version: 1
events: Ir

fl=/w/hostdrv/src/device.rs
fn=weft_hostdrv::device::Device::progress
10 5
cfi=/w/firmware/engine/src/queues/qp.rs
cfn=weft_engine::qp::Qp::take
calls=1 20
11 1000

fl=/w/firmware/engine/src/queues/qp.rs
fn=weft_engine::qp::Qp::take
20 30
fi=/w/firmware/tcp/src/sender.rs
7 40
fi=/rustc/1/library/core/src/slice/mod.rs
8 2
fe=/w/firmware/engine/src/queues/qp.rs
cfi=???
cfn=__memcpy_avx
calls=3 0
21 60
cfi=/rustc/1/library/alloc/src/vec.rs
cfn=alloc::vec::grow
calls=1 0
22 100

fl=/rustc/1/library/alloc/src/vec.rs
fn=alloc::vec::grow
5 10
cfi=???
cfn=malloc
calls=1 0
6 90

fl=???
fn=malloc
0 90

fn=__memcpy_avx
0 100

fl=/w/sim/src/iommu.rs
fn=weft_sim::iommu::read
4 400
cfi=???
cfn=__memcpy_avx
calls=1 0
5 40
cfi=/w/firmware/wire/src/checksum.rs
cfn=weft_wire::checksum::sum
calls=1 0
6 75
fi=/w/firmware/wire/src/walk.rs
9 11

fl=/w/firmware/wire/src/checksum.rs
fn=weft_wire::checksum::sum
8 100

fl=/w/firmware/engine/src/tcp/output.rs
fn=weft_engine::output::send
3 1
cfi=/w/firmware/wire/src/checksum.rs
cfn=weft_wire::checksum::sum
calls=1 0
4 25
";

    #[test]
    fn what_is_compiled_in_counts_where_it_was_written_and_a_library_for_its_callers() {
        let folded = fold(PROFILE);
        assert!(folded.by_lines);
        let of = |layer| folded.of(layer);
        assert_eq!(of(Layer::Driver), 5);
        // Its own lines and the library's in it, and what it allocates: all of `grow`, and of `malloc` below that.
        assert_eq!(of(Layer::Engine), 30 + 2 + 10 + 90 + 1);
        assert_eq!(of(Layer::Tcp), 40);
        // What both use is theirs by the calls; what a simulated card has compiled in is its own.
        assert_eq!(of(Layer::Formats), 25);
        let simulator = 400 + 40 + 75 + 11;
        assert_eq!((of(Layer::Copies), of(Layer::Simulator)), (60, simulator));
        assert_eq!((of(Layer::Verbs), of(Layer::Crc)), (0, 0));
    }

    #[test]
    fn without_sources_functions_are_told_by_their_crates() {
        let lines = PROFILE.lines().filter(|line| !line.contains("/w/"));
        let folded = fold(&lines.collect::<Vec<_>>().join("\n"));
        assert!(!folded.by_lines);
        assert_eq!(folded.of(Layer::Driver), 5);
        // The line of TCP is in the engine's function now.
        assert_eq!(
            (folded.of(Layer::Tcp), folded.of(Layer::Engine)),
            (0, 30 + 40 + 2 + 100 + 1)
        );
    }
}
