//! Parsing of byte sizes.

/// Parses a number of bytes, with or without a unit. `KiB`, `MiB` and `GiB` are powers
/// of 1024, and so are `K`, `M` and `G`; `kB`, `MB` and `GB` are powers of 1000.
/// Returns `None` if the input is invalid, zero, or too large for a `u64`.
///
/// ```
/// use bowline::config::parse_size;
///
/// assert_eq!(parse_size("64MiB"), Some(64 * 1024 * 1024));
/// assert_eq!(parse_size("1.5 GB"), Some(1_500_000_000));
/// assert_eq!(parse_size("5000"), Some(5000));
/// assert_eq!(parse_size("much"), None);
/// ```
#[must_use]
pub fn parse_size(input: &str) -> Option<u64> {
    let input = input.trim();
    let is_digit = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
    let (number, unit) = input.split_at(input.find(|c| !is_digit(c)).unwrap_or(input.len()));
    let number = number.replace('_', "");
    let unit: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return None,
    };
    let bytes = match number.split_once('.') {
        None => number.parse::<u64>().ok()?.checked_mul(unit)?,
        Some((whole, fraction)) => with_fraction(whole, fraction, unit)?,
    };
    (bytes > 0).then_some(bytes)
}

/// Parses a number with a fraction, in whole bytes. Nine fractional digits are exact.
fn with_fraction(whole: &str, fraction: &str, unit: u64) -> Option<u64> {
    const SCALE: u64 = 1_000_000_000;
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let digits = fraction.get(..fraction.len().min(9))?;
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let nanos: u64 = format!("{digits:0<9}").parse().ok()?;
    let fraction = u128::from(nanos) * u128::from(unit) / u128::from(SCALE);
    whole
        .checked_mul(unit)?
        .checked_add(u64::try_from(fraction).ok()?)
}

#[cfg(test)]
mod tests {
    use super::parse_size;

    #[test]
    fn sizes_are_read() {
        let cases = [
            ("1", Some(1)),
            (" 16 MiB ", Some(16 << 20)),
            ("16m", Some(16 << 20)),
            ("1.5k", Some(1536)),
            (".5 kb", Some(500)),
            ("1_000_000", Some(1_000_000)),
            ("18446744073709551615", Some(u64::MAX)),
            ("0", None),
            ("0.0MiB", None),
            ("", None),
            ("MiB", None),
            ("1.", None),
            ("1.2.3", None),
            ("-5", None),
            ("5 apples", None),
            ("18446744073709551616", None),
            ("99999999999G", None),
        ];
        for (input, bytes) in cases {
            assert_eq!(parse_size(input), bytes, "{input}");
        }
    }
}
