//! The port list of a model, as Verilator wrote it into the generated header.

/// One port of the design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Input of the design, else output.
    pub input: bool,
    /// Width in bits.
    pub width: u32,
}

impl Port {
    /// The C++ type of the port holds this many bits; 0: an array of 32-bit words.
    pub fn scalar_bits(&self) -> u32 {
        match self.width {
            0..=8 => 8,
            9..=16 => 16,
            17..=32 => 32,
            33..=64 => 64,
            _ => 0,
        }
    }

    /// Width in bytes, rounded up.
    pub fn bytes(&self) -> usize {
        self.width.div_ceil(8) as usize
    }
}

/// Reads the `VL_IN*`/`VL_OUT*` lines: `VL_INW(&data_i,511,0,16);`.
pub fn parse(header: &str) -> Result<Vec<Port>, String> {
    let mut ports = Vec::new();
    for line in header.lines() {
        let line = line.trim();
        let Some((kind, rest)) = line.split_once('(') else {
            continue;
        };
        let input = match kind {
            "VL_IN8" | "VL_IN16" | "VL_IN" | "VL_IN64" | "VL_INW" => true,
            "VL_OUT8" | "VL_OUT16" | "VL_OUT" | "VL_OUT64" | "VL_OUTW" => false,
            _ if kind.starts_with("VL_INOUT") => {
                return Err(format!("inout ports are not supported: {line}"))
            }
            _ => continue,
        };
        if rest.starts_with('(') {
            return Err(format!("unpacked array ports are not supported: {line}"));
        }
        let fields: Vec<&str> = rest
            .trim_end_matches(");")
            .split(',')
            .map(str::trim)
            .collect();
        let number = |at: usize| fields.get(at).and_then(|text| text.parse::<u32>().ok());
        let (Some(high), Some(low), Some(name)) = (number(1), number(2), fields.first()) else {
            return Err(format!("cannot read the port in: {line}"));
        };
        ports.push(Port {
            name: name.trim_start_matches('&').to_string(),
            input,
            width: high - low + 1,
        });
    }
    Ok(ports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_lines() {
        let ports =
            parse("  VL_IN8(&clk_i,0,0);\n VL_OUTW(&d_o,511,0,16);\n int other;\n").unwrap();
        assert_eq!(ports.len(), 2);
        assert_eq!(
            (ports[0].name.as_str(), ports[0].input, ports[0].width),
            ("clk_i", true, 1)
        );
        assert_eq!(
            (ports[1].name.as_str(), ports[1].input, ports[1].width),
            ("d_o", false, 512)
        );
        assert!(parse("VL_INOUT8(&x,0,0);").is_err());
        assert!(parse("VL_IN8((&arr_i)[2],3,0);").is_err());
    }
}
