//! The help: subcommands by what a person wants, examples of each, and how they end.

use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

use clap::Command;

/// What a person wants, and what does it.
const WISHES: [(&str, &[&str]); 6] = [
    ("See it run", &["demo", "replay"]),
    (
        "Bring a card up, and see what is wrong",
        &["probe", "selftest", "regs", "trace", "capture", "firmware"],
    ),
    (
        "Use it: talk to other hosts",
        &["run", "rping", "ucmatose", "stream", "tap"],
    ),
    ("Measure, and predict", &["perf", "partitions", "project"]),
    (
        "Serve cards and ways to others",
        &["serve", "share", "resolver"],
    ),
    ("This command itself", &["completions", "man", "help"]),
];

/// How any of them ends.
const STATUS: [(&str, &str); 5] = [
    ("0", "What was asked for is done, and all of it was right."),
    ("1", "It failed; the reason is on standard error."),
    ("2", "The arguments are wrong; nothing was done."),
    ("130", "Interrupted a second time, while it was ending."),
    ("141", "Nobody reads the output any more."),
];

/// A command line, and what it does.
type Example = (&'static str, &'static str);

/// Of a subcommand.
fn examples(name: &str) -> &'static [Example] {
    match name {
        "capture" => &[(
            "weft capture -w card.pcapng --seconds 10 --device vfio:0000:3b:00.0 --ip 10.0.0.1/24",
            "What passes the card's port in ten seconds, for Wireshark.",
        )],
        "completions" => &[(
            "weft completions bash",
            "Completions; into /etc/bash_completion.d/weft with them.",
        )],
        "demo" => &[
            (
                "weft demo",
                "Twelve ways, on the widest card of this build.",
            ),
            (
                "weft demo notes.txt --card model",
                "A file of one's own, and the functional model.",
            ),
        ],
        "firmware" => &[
            (
                "weft firmware --device vfio:0000:3b:00.0",
                "How the control processor is.",
            ),
            (
                "weft firmware --device vfio:0000:3b:00.0 --load weft-firmware.elf",
                "Another firmware, from now on.",
            ),
        ],
        "man" => &[(
            "weft man --out /usr/local/share/man/man1",
            "This page, and its like.",
        )],
        "partitions" => &[
            (
                "weft partitions small-reads --rung host,placement --html ladder.html",
                "Two rungs of the ladder, with a page of plots.",
            ),
            (
                "weft partitions key-value-rates --rung host,placement --seeds 9 --figures figures",
                "A key-value store's latency against its load, over nine seeds.",
            ),
        ],
        "perf" => &[
            ("weft perf", "Bandwidth and latency."),
            ("weft perf --loss --milliseconds 10", "Goodput under loss."),
            ("weft perf --mixed", "Frames of several kinds mixed."),
        ],
        "probe" => &[
            ("weft probe", "All cards on the PCI bus."),
            ("weft probe vfio-user:/tmp/a.sock", "A simulated one."),
        ],
        "project" => &[(
            "weft project bulk --line 100,400 --pcie 4x16,5x16",
            "Two lines at two PCIe ports.",
        )],
        "regs" => &[
            (
                "weft regs --device vfio:0000:3b:00.0 --nonzero",
                "What is not zero.",
            ),
            (
                "weft regs --device vfio:0000:3b:00.0 --watch --filter rx_drop",
                "What is dropped, each second.",
            ),
        ],
        "replay" => &[(
            "weft replay 7 --card rtl128 --waves 50000",
            "The demonstration of seed 7 again, with waves.",
        )],
        "resolver" => &[(
            "weft resolver --table cluster.toml --socket /run/weft/resolver.sock",
            "Ways by a table.",
        )],
        "rping" => &[
            (
                "weft rping -s -P --device vfio:0000:3b:00.0 --ip 10.0.0.2/24",
                "A server of any number of clients.",
            ),
            (
                "weft rping -c -a 10.0.0.2 -C 10 -v --device vfio:0000:3b:00.0 --ip 10.0.0.1/24",
                "Ten pings.",
            ),
        ],
        "run" => &[
            (
                "weft run --device vfio:0000:3b:00.0 --ip 10.0.0.1/24 rping -s -v",
                "rdma-core's own rping on the card.",
            ),
            (
                "weft run --pair 'rping -s -C 10' --loss 1000 rping -c -a 10.0.0.1 -C 10",
                "Server and client on two simulated cards; the link loses one frame in a thousand.",
            ),
        ],
        "selftest" => &[(
            "weft selftest --device vfio:0000:3b:00.0 --report card.json",
            "All tests, with a report to attach to a question.",
        )],
        "serve" => &[(
            "weft serve --socket /tmp/a.sock --port card:1 --socket /tmp/b.sock --port card:0",
            "Two cards with a cable between them.",
        )],
        "share" => &[(
            "weft share --socket /run/weft/card.sock --device vfio:0000:3b:00.0 --ip 10.0.0.1/24",
            "The card, for several processes.",
        )],
        "stream" => &[(
            "weft stream --echo 7 --device vfio:0000:3b:00.0 --ip 10.0.0.1/24",
            "Echo over plain TCP.",
        )],
        "tap" => &[(
            "weft tap --rping-server --device vfio:0000:3b:00.0 --ip 10.0.0.1/24",
            "The interface weft0, and a ping server beside it.",
        )],
        "trace" => &[
            (
                "weft trace --device vfio:0000:3b:00.0",
                "What the card's last user did.",
            ),
            (
                "weft trace --device vfio:0000:3b:00.0 --kind doorbell,report --follow",
                "Two kinds of events, as they come.",
            ),
        ],
        "ucmatose" => &[(
            "weft ucmatose -s 10.0.0.2 -c 100 --device vfio:0000:3b:00.0 --ip 10.0.0.1/24",
            "A hundred connections.",
        )],
        _ => &[],
    }
}

/// The command line, with all of it.
pub fn with_help(command: Command) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\nOptions:\n{{options}}\n\n\
         Each subcommand has examples in its --help.",
        by_wish(&command)
    );
    let names: Vec<_> = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned())
        .collect();
    let mut command = command.help_template(template);
    for name in names {
        command = command.mut_subcommand(&name, |sub| {
            let mut text = sub
                .get_after_help()
                .map_or(String::new(), |own| format!("{own}\n\n"));
            text += "Examples:";
            for (line, what) in examples(&name) {
                // Into a String nothing fails.
                let _ = write!(text, "\n  {line}\n      {what}");
            }
            text += "\n\nExit status:";
            for (status, what) in STATUS {
                let _ = write!(text, "\n  {status:>3}  {what}");
            }
            sub.after_long_help(text)
        });
    }
    command
}

/// Subcommands by what a person wants.
fn by_wish(command: &Command) -> String {
    let mut text = String::new();
    for (wish, names) in WISHES {
        let _ = write!(text, "\n{wish}:\n");
        for name in names {
            let about = match command.find_subcommand(name).and_then(Command::get_about) {
                Some(about) => about.to_string(),
                None if *name == "help" => "Prints this, or the help of a subcommand".to_owned(),
                None => continue,
            };
            let _ = writeln!(text, "  {name:<12} {about}");
        }
    }
    text
}

/// A manual page for each subcommand, and one for the whole, in this folder.
pub fn write_pages(command: Command, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut command = command.disable_help_subcommand(true);
    command.build();
    for each in std::iter::once(&command).chain(command.get_subcommands()) {
        let name = each
            .get_display_name()
            .unwrap_or(each.get_name())
            .to_owned();
        let mut page = Vec::new();
        clap_mangen::Man::new(each.clone()).render(&mut page)?;
        sections(each.get_name(), &mut page)?;
        fs::write(folder.join(format!("{name}.1")), page)?;
    }
    Ok(())
}

/// What clap does not know of.
fn sections(name: &str, page: &mut impl io::Write) -> io::Result<()> {
    let escaped = |text: &str| text.replace('\\', "\\\\").replace('-', "\\-");
    if !examples(name).is_empty() {
        writeln!(page, ".SH EXAMPLES")?;
    }
    for (line, what) in examples(name) {
        writeln!(page, ".TP\n\\fB{}\\fR\n{}", escaped(line), escaped(what))?;
    }
    writeln!(page, ".SH \"EXIT STATUS\"")?;
    for (status, what) in STATUS {
        writeln!(page, ".TP\n\\fB{status}\\fR\n{}", escaped(what))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_subcommand_is_there_for_one_wish() {
        let command = crate::Weft::command();
        let all: Vec<_> = WISHES.iter().flat_map(|(_, names)| *names).collect();
        for sub in command.get_subcommands() {
            let times = all.iter().filter(|name| sub.get_name() == ***name).count();
            assert_eq!(times, 1, "{}", sub.get_name());
        }
    }

    #[test]
    fn examples_are_command_lines() {
        for sub in crate::Weft::command().get_subcommands() {
            let name = sub.get_name();
            assert!(!examples(name).is_empty(), "{name}");
            for (line, _) in examples(name) {
                let words: Vec<_> = line.split(' ').collect();
                assert_eq!(words[1], name, "{line}");
                let parsed = crate::Weft::command().try_get_matches_from(&words);
                match parsed {
                    Ok(_) => {}
                    // A build without RTL has none of its cards.
                    Err(error) if error.to_string().contains("this build") => {}
                    Err(error) => panic!("{line}: {error}"),
                }
            }
        }
    }
}
