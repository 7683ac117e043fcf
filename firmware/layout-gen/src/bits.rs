//! Bits that have a name, and values that have one.

use serde::Deserialize;
use std::collections::HashSet;

use crate::description::{Description, FieldType};

/// Some neighbouring bits of a register, a field or a word.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bits {
    pub name: String,
    pub at: Range,
    pub doc: String,
    /// The enumeration that names their values.
    #[serde(default)]
    pub values: Option<String>,
}

impl Bits {
    /// One bit that has no enumeration is a yes or no.
    pub fn is_flag(&self) -> bool {
        self.at.width() == 1 && self.values.is_none()
    }
}

/// `"3"`, or `"7:4"`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(try_from = "String")]
pub(crate) struct Range {
    pub high: u32,
    pub low: u32,
}

impl Range {
    pub fn width(self) -> u32 {
        self.high - self.low + 1
    }

    /// The bits as a number.
    pub fn mask(self) -> u64 {
        (u64::MAX >> (64 - self.width())) << self.low
    }

    /// As the page writes it.
    pub fn text(self) -> String {
        match self.width() {
            1 => self.low.to_string(),
            _ => format!("{}:{}", self.high, self.low),
        }
    }
}

impl TryFrom<String> for Range {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("'{text}' is neither a bit (\"3\") nor a range of bits (\"7:4\")");
        let number = |text: &str| text.parse::<u32>().ok().filter(|n| *n < 64);
        let (high, low) = text.split_once(':').unwrap_or((&text, &text));
        match (number(high), number(low)) {
            (Some(high), Some(low)) if high >= low => Ok(Range { high, low }),
            _ => Err(wrong()),
        }
    }
}

/// Names for the values of a number of `width` bits.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Enumeration {
    pub name: String,
    #[serde(default = "eight")]
    pub width: u32,
    pub doc: String,
    pub values: Vec<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Value {
    pub name: String,
    pub value: u8,
    pub doc: String,
}

/// A number whose bits have names, that is no register and stands in fields whose meaning is not always the same.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Word {
    pub name: String,
    #[serde(default = "eight")]
    pub width: u32,
    pub doc: String,
    pub bits: Vec<Bits>,
}

fn eight() -> u32 {
    8
}

/// What must hold of all of them.
pub(crate) fn check(d: &Description) -> Result<(), String> {
    let mut types = HashSet::new();
    let records = d.records.iter().map(|r| &r.name);
    let enumerations = d.enumerations.iter().map(|e| &e.name);
    let words = d.words.iter().map(|w| &w.name);
    for name in records.chain(enumerations).chain(words) {
        if !types.insert(name) {
            return Err(format!("{name} is described twice"));
        }
    }
    for e in &d.enumerations {
        e.check()?;
    }
    for w in &d.words {
        if !matches!(w.width, 8 | 16 | 32) {
            return Err(format!("word {}: 8, 16 or 32 bits", w.name));
        }
        let mut names = HashSet::new();
        check_bits(d, &format!("word {}", w.name), w.width, &w.bits, &mut names)?;
    }
    for r in &d.registers {
        let place = format!("register {}", r.name);
        let mut names = HashSet::new();
        check_bits(d, &place, 32, &r.bits, &mut names)?;
        check_bits(d, &place, 32, &r.read_bits, &mut names)?;
        if !r.read_bits.is_empty() && r.access != "rw" {
            return Err(format!(
                "{place}: read_bits are for one that is written, too"
            ));
        }
    }
    for r in &d.records {
        let mut names = HashSet::new();
        for f in &r.fields {
            let place = format!("{}.{}", r.name, f.name);
            let FieldType::Number(bytes) = f.kind else {
                if !f.bits.is_empty() || f.values.is_some() {
                    return Err(format!("{place}: bytes have no bits and no values"));
                }
                continue;
            };
            let width = 8 * bytes as u32;
            check_bits(d, &place, width, &f.bits, &mut names)?;
            if let Some(name) = &f.values {
                if !f.bits.is_empty() {
                    return Err(format!("{place}: either bits or values"));
                }
                // Its getter has the field's name.
                if !names.insert(&f.name) {
                    return Err(format!("{place}: the name is used twice in its record"));
                }
                let e = find(d, &place, name)?;
                if e.width != width {
                    return Err(format!(
                        "{place}: {width} bits wide, {name} has {}",
                        e.width
                    ));
                }
            }
        }
    }
    Ok(())
}

fn find<'a>(d: &'a Description, place: &str, name: &str) -> Result<&'a Enumeration, String> {
    d.enumerations
        .iter()
        .find(|e| e.name == name)
        .ok_or_else(|| format!("{place}: no enumeration {name}"))
}

fn check_bits<'a>(
    d: &Description,
    place: &str,
    width: u32,
    all: &'a [Bits],
    names: &mut HashSet<&'a String>,
) -> Result<(), String> {
    let mut taken = 0;
    for bits in all {
        let at = bits.at.text();
        let name = &bits.name;
        if bits.at.high >= width {
            return Err(format!(
                "{place}: bit {at} ({name}) is not among its {width}"
            ));
        }
        if taken & bits.at.mask() != 0 {
            return Err(format!(
                "{place}: bits {at} ({name}) overlap others before them"
            ));
        }
        taken |= bits.at.mask();
        if !names.insert(name) {
            return Err(format!("{place}: the name {name} is used twice"));
        }
        if let Some(values) = &bits.values {
            let e = find(d, place, values)?;
            if e.width != bits.at.width() {
                return Err(format!(
                    "{place}: bits {at} ({name}), but {values} has {} bits",
                    e.width
                ));
            }
        }
    }
    Ok(())
}

impl Enumeration {
    fn check(&self) -> Result<(), String> {
        let name = &self.name;
        if !(1..=8).contains(&self.width) {
            return Err(format!("enumeration {name}: 1 to 8 bits"));
        }
        if self.values.windows(2).any(|v| v[0].value >= v[1].value) {
            return Err(format!("enumeration {name}: values do not rise"));
        }
        match self
            .values
            .iter()
            .find(|v| u32::from(v.value) >> self.width != 0)
        {
            Some(v) => Err(format!(
                "enumeration {name}: {} = {} needs more than {} bits",
                v.name, v.value, self.width
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Range;
    use crate::tests::{refused, PCI};
    use crate::Description;

    #[test]
    fn ranges_are_read() {
        let range = |text: &str| Range::try_from(text.to_owned());
        assert_eq!(range("3"), Ok(Range { high: 3, low: 3 }));
        assert_eq!(range("7:4").map(Range::mask), Ok(0xf0));
        assert_eq!(range("63:0").map(Range::mask), Ok(u64::MAX));
        for wrong in ["", "x", "4:7", "64", "7:", ":7", "-1", "7:4:2"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }

    fn register(bits: &str) -> String {
        format!(
            r#"{PCI}
            [[register]]
            name = "R"
            at = 0
            access = "rw"
            doc = ""
            {bits}
            [[enumeration]]
            name = "colour"
            width = 2
            doc = ""
            values = [ {{ name = "RED", value = 1, doc = "" }}, {{ name = "BLUE", value = 3, doc = "" }} ]
            "#
        )
    }

    fn field(field: &str) -> String {
        let record = format!(
            r#"
            [[record]]
            name = "r"
            size = 8
            doc = ""
            fields = [ {{ at = 0, name = "f", doc = "", {field} }} ]
            "#
        );
        register("") + &record
    }

    /// Description, and what its refusal must say.
    fn refusals(cases: &[(String, &str)]) {
        for (text, why) in cases {
            let error = refused(text);
            assert!(error.contains(why), "{error} -- expected: {why}");
        }
    }

    #[test]
    fn good_bits_are_accepted() {
        for text in [
            register(
                r#"bits = [ { name = "A", at = "31", doc = "" }, { name = "B", at = "1:0", values = "colour", doc = "" } ]"#,
            ),
            register(
                r#"bits = [ { name = "A", at = "0", doc = "" } ]
                   read_bits = [ { name = "B", at = "0", doc = "" } ]"#,
            ),
            field(
                r#"type = "u8", bits = [ { name = "a", at = "7:6", values = "colour", doc = "" } ]"#,
            ),
        ] {
            if let Err(error) = Description::parse(&text) {
                panic!("{error}: {text}");
            }
        }
    }

    #[test]
    fn bits_that_contradict_each_other_are_refused() {
        refusals(&[
            (
                register(
                    r#"bits = [ { name = "A", at = "4:2", doc = "" }, { name = "B", at = "2", doc = "" } ]"#,
                ),
                "register R: bits 2 (B) overlap",
            ),
            (
                register(r#"bits = [ { name = "A", at = "32:31", doc = "" } ]"#),
                "bit 32:31 (A) is not among its 32",
            ),
            (
                field(r#"type = "u8", bits = [ { name = "a", at = "8", doc = "" } ]"#),
                "r.f: bit 8 (a) is not among its 8",
            ),
            (
                register(r#"bits = [ { name = "A", at = "1:3", doc = "" } ]"#),
                "'1:3' is neither",
            ),
            (
                register(
                    r#"bits = [ { name = "A", at = "0", doc = "" }, { name = "A", at = "1", doc = "" } ]"#,
                ),
                "the name A is used twice",
            ),
            (
                field(r#"type = "bytes4", bits = [ { name = "a", at = "0", doc = "" } ]"#),
                "bytes have no bits",
            ),
        ]);
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        refusals(&[
            (
                register(r#"bits = [ { name = "A", at = "1:0", values = "color", doc = "" } ]"#),
                "register R: no enumeration color",
            ),
            (
                register(r#"bits = [ { name = "A", at = "2:0", values = "colour", doc = "" } ]"#),
                "bits 2:0 (A), but colour has 2 bits",
            ),
            (
                field(r#"type = "u8", values = "colour""#),
                "r.f: 8 bits wide, colour has 2",
            ),
            (
                register("").replace("value = 3", "value = 4"),
                "BLUE = 4 needs more than 2 bits",
            ),
            (
                register("").replace("value = 3", "value = 1"),
                "do not rise",
            ),
            (
                register("")
                    + &register("").replace(PCI, "").replace(
                        "name = \"R\"\n            at = 0",
                        "name = \"S\"\n            at = 4",
                    ),
                "colour is described twice",
            ),
        ]);
    }
}
