//! Puts the faults of one file into its text, each behind a choice made when the program runs.

use std::ops::Range;

use crate::list::Fault;

/// Where the selector comes from in SystemVerilog. Each mutated file brings it, for it is compiled alone as well.
const SYSTEMVERILOG: &str = "`ifndef WEFT_FAULT_PKG
`define WEFT_FAULT_PKG
package weft_fault_pkg;
  import \"DPI-C\" function int weft_fault_number();
  int fault = weft_fault_number();
endpackage
`endif
";

/// What the models' C++ gets for it.
pub const CPP: &str = "
#include <cstdlib>
extern \"C\" int weft_fault_number() {
    const char* text = std::getenv(\"WEFT_FAULT\");
    return text ? std::atoi(text) : 0;
}
";

/// A text without its white space, which formatters choose, and where each of its bytes stood.
struct Squeezed {
    text: String,
    at: Vec<usize>,
}

impl Squeezed {
    fn new(text: &str) -> Self {
        let mut squeezed = Self {
            text: String::new(),
            at: Vec::new(),
        };
        for (at, letter) in text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
            squeezed.text.push(letter);
            squeezed.at.extend(at..at + letter.len_utf8());
        }
        squeezed
    }

    /// Where a text stands in the one that this was made of.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let text = Self::new(text).text;
        let found = self.text.match_indices(&text);
        found
            .map(|(from, _)| self.at[from]..self.at[from + text.len() - 1] + 1)
            .collect()
    }
}

/// The text with the faults (and their numbers) in it.
pub fn plant(text: &str, faults: &[(u32, &Fault)]) -> Result<String, String> {
    let squeezed = Squeezed::new(text);
    let mut places = Vec::new();
    for (number, fault) in faults {
        let Fault {
            name, find, file, ..
        } = fault;
        match squeezed.find(find).as_slice() {
            [place] => places.push((place.clone(), *number, *fault)),
            [] => return Err(format!("{name}: `{find}` is not in {file}")),
            _ => return Err(format!("{name}: `{find}` stands more than once in {file}")),
        }
    }
    places.sort_by_key(|(place, ..)| place.start);
    let systemverilog = faults.iter().all(|(_, fault)| fault.file.ends_with(".sv"));
    let mut planted = String::new();
    if systemverilog {
        planted.push_str(SYSTEMVERILOG);
    }
    let mut from = 0;
    let mut index = 0;
    while let Some((place, _, fault)) = places.get(index) {
        // Faults in the same text are one choice of several.
        let same: Vec<_> = places[index..]
            .iter()
            .take_while(|(other, ..)| other == place)
            .collect();
        if place.start < from {
            return Err(format!("{}: overlaps another fault", fault.name));
        }
        planted.push_str(&text[from..place.start]);
        let mut choice = text[place.clone()].to_owned();
        for (_, number, fault) in &same {
            choice = choose(systemverilog, *number, fault, &choice);
        }
        planted.push_str(&choice);
        from = place.end;
        index += same.len();
    }
    planted.push_str(&text[from..]);
    Ok(planted)
}

fn choose(systemverilog: bool, number: u32, fault: &Fault, or: &str) -> String {
    let plant = &fault.plant;
    match (systemverilog, fault.statement) {
        (true, false) => format!("(weft_fault_pkg::fault == {number} ? ({plant}) : ({or}))"),
        (true, true) => {
            format!("if (weft_fault_pkg::fault == {number}) begin {plant} end else begin {or} end")
        }
        (false, false) => {
            format!("(if weft_planted::planted({number}) {{ {plant} }} else {{ {or} }})")
        }
        (false, true) => {
            format!("if weft_planted::planted({number}) {{ {plant} }} else {{ {or} }}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::Kind;

    fn fault(name: &str, file: &str, find: &str, plant: &str) -> Fault {
        Fault {
            name: name.into(),
            file: file.into(),
            kind: Kind::Boundary,
            find: find.into(),
            plant: plant.into(),
            statement: false,
            catch: vec!["a/b".into()],
        }
    }

    #[test]
    fn each_fault_is_a_choice() {
        let one = fault("one", "a.sv", "a == b", "a != b");
        let two = fault("two", "a.sv", "c < d", "c <= d");
        let planted = plant("x = a == b && c < d;", &[(2, &two), (1, &one)]).unwrap();
        assert!(planted.ends_with(
            "x = (weft_fault_pkg::fault == 1 ? (a != b) : (a == b)) && (weft_fault_pkg::fault == 2 ? (c <= d) : (c < d));"
        ));
    }

    #[test]
    fn two_faults_in_one_place() {
        let one = fault("one", "a.rs", "a < b", "a <= b");
        let two = fault("two", "a.rs", "a < b", "true");
        let planted = plant("let x = (a < b);", &[(1, &one), (2, &two)]).unwrap();
        assert_eq!(
            planted,
            "let x = ((if weft_planted::planted(2) { true } else { (if weft_planted::planted(1) { a <= b } else { a < b }) }));"
        );
    }

    #[test]
    fn white_space_is_the_formatter_s() {
        let one = fault("one", "a.rs", "a == b", "a != b");
        let planted = plant("let x = a\n    ==b;", &[(1, &one)]).unwrap();
        assert_eq!(
            planted,
            "let x = (if weft_planted::planted(1) { a != b } else { a\n    ==b });"
        );
    }

    #[test]
    fn a_place_must_be_one() {
        let none = fault("none", "a.rs", "q", "r");
        assert!(plant("a + b", &[(1, &none)])
            .unwrap_err()
            .contains("not in"));
        let twice = fault("twice", "a.rs", "a", "r");
        assert!(plant("a + a", &[(1, &twice)])
            .unwrap_err()
            .contains("more than once"));
        let long = fault("long", "a.rs", "a + b", "0");
        let inside = fault("inside", "a.rs", "b", "0");
        assert!(plant("a + b", &[(1, &long), (2, &inside)])
            .unwrap_err()
            .contains("overlaps"));
    }
}
