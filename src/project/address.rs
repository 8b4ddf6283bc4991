//! Reads host and path of an address as browsers do (WHATWG's URL standard), for hosts in ASCII.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::Ipv6Addr;

/// Host and path.
pub(super) struct Address {
    /// In lower case; followed by its port if the scheme is one of the web's and the port is not the usual one.
    pub(super) host: String,
    /// The path, decoded.
    pub(super) path: String,
}

impl Address {
    /// Reads `scheme://…`. Whatever stands before the last @ is no part of the host.
    pub(super) fn of_url(url: &str) -> Option<Address> {
        let kept: String = url
            .trim_matches(|c: char| c <= ' ')
            .chars()
            .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
            .collect();
        let (scheme, rest) = kept.split_once(':')?;
        let scheme = scheme.to_ascii_lowercase();
        let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        if !scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            || !scheme.bytes().all(is_scheme)
            || scheme == "file"
        {
            return None;
        }
        let web = WEB_SCHEMES.iter().find(|(name, _)| *name == scheme);
        let rest = match web {
            Some(_) => rest.trim_start_matches(['/', '\\']),
            None => rest.strip_prefix("//")?,
        };
        let ends = if web.is_some() { &['/', '?', '#', '\\'][..] } else { &['/', '?', '#'] };
        let (authority, rest) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
        let (host, port) = host_and_port(authority.rsplit_once('@').map_or(authority, |(_, host)| host))?;
        let host = if web.is_some() {
            normalize_host(&normalize_web_host(host)?)?
        } else {
            normalize_host(&normalize_opaque_host(host)?)?
        };
        let usual = web.map(|(_, port)| *port);
        let port = port.filter(|port| scheme.starts_with("http") && Some(*port) != usual);
        let path = rest.split(['?', '#']).next().unwrap_or_default();
        Some(Address {
            host: port.map_or_else(|| host.clone(), |port| format!("{host}:{port}")),
            path: decode_path(&resolve_dots(path, web.is_some())),
        })
    }
}

/// The schemes of the web, each with the port it has if none is given.
const WEB_SCHEMES: [(&str, u16); 5] = [("http", 80), ("https", 443), ("ftp", 21), ("ws", 80), ("wss", 443)];

fn host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let inside = authority.starts_with('[').then(|| authority.find(']')).flatten().unwrap_or(0);
    let Some(at) = authority[inside..].find(':').map(|at| at + inside) else {
        return Some((authority, None));
    };
    let digits = &authority[at + 1..];
    let is_port = digits.bytes().all(|byte| byte.is_ascii_digit());
    let port = if digits.is_empty() { None } else { Some(digits.parse().ok()?) };
    is_port.then_some((&authority[..at], port))
}

/// Normalizes a host of a web address: lower case, no dot at its end, one spelling for numeric addresses.
pub(super) fn normalize_host(host: &str) -> Option<String> {
    let kept: String =
        host.strip_suffix('.').unwrap_or(host).chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let kept = kept.trim_end_matches(|c: char| c <= ' ').trim_start_matches(['/', '\\']);
    let kept = kept.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let is_ascii = percent_decode(kept, |_| true).is_ascii() && host.is_ascii();
    is_ascii.then(|| normalize_web_host(kept).unwrap_or_else(|| host.to_ascii_lowercase()))
}

// Normalizes the host of a scheme that browsers know.
fn normalize_web_host(host: &str) -> Option<String> {
    if host.starts_with('[') {
        return normalize_ipv6(host);
    }
    let host = String::from_utf8(percent_decode(host, |_| true)).ok()?.to_ascii_lowercase();
    let is_refused = |c: char| c.is_ascii_control() || " #/:<>?@[\\]^|%".contains(c);
    if host.is_empty() || !host.is_ascii() || host.contains(is_refused) {
        return None;
    }
    match normalize_ipv4(&host) {
        Ipv4Host::None => Some(host),
        Ipv4Host::Wrong => None,
        Ipv4Host::Address(address) => Some(address),
    }
}

// Normalizes the host of any other scheme.
fn normalize_opaque_host(host: &str) -> Option<String> {
    if host.starts_with('[') {
        return normalize_ipv6(host);
    }
    let is_refused = |c: char| matches!(c, '\0' | '\t' | '\n' | '\r') || " #/:<>?@[\\]^|".contains(c);
    (!host.is_empty() && !host.contains(is_refused))
        .then(|| percent_encode(host, |byte| !(b' '..=b'~').contains(&byte)))
}

// Two colons stand for the longest run of zeros, and no part is written by dots.
fn normalize_ipv6(host: &str) -> Option<String> {
    let address: Ipv6Addr = host.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?;
    let parts = address.segments();
    let run = |from: usize| parts[from..].iter().take_while(|part| **part == 0).count();
    let longest = (0..8)
        .rev()
        .map(|from| (run(from), from))
        .max_by_key(|(length, _)| *length)
        .filter(|(length, _)| *length > 1);
    let text = |parts: &[u16]| parts.iter().map(|part| format!("{part:x}")).collect::<Vec<_>>().join(":");
    Some(match longest {
        Some((length, from)) => format!("[{}::{}]", text(&parts[..from]), text(&parts[from + length..])),
        None => format!("[{}]", text(&parts)),
    })
}

enum Ipv4Host {
    None,
    Wrong,
    Address(String),
}

// Reads up to four numbers, decimal, octal or hexadecimal; the last one stands for all remaining bytes.
fn normalize_ipv4(host: &str) -> Ipv4Host {
    let parts: Vec<&str> = host.strip_suffix('.').unwrap_or(host).split('.').collect();
    let last = parts.last().copied().unwrap_or_default();
    let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number
        && !last.strip_prefix("0x").is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
    {
        return Ipv4Host::None;
    }
    let numbers: Option<Vec<u64>> = parts.iter().map(|part| parse_number(part)).collect();
    let Some((last, first)) = numbers.as_ref().and_then(|numbers| numbers.split_last()) else {
        return Ipv4Host::Wrong;
    };
    let room = 256_u64.checked_pow(4_u32.saturating_sub(first.len() as u32)).unwrap_or(0);
    if first.len() > 3 || first.iter().any(|part| *part > 255) || *last >= room {
        return Ipv4Host::Wrong;
    }
    let high = first.iter().zip([24, 16, 8]).fold(0, |sum, (part, shift)| sum | part << shift);
    let [a, b, c, d] = ((high | last) as u32).to_be_bytes();
    Ipv4Host::Address(format!("{a}.{b}.{c}.{d}"))
}

fn parse_number(part: &str) -> Option<u64> {
    let (digits, radix) = match part.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None if part.len() > 1 && part.starts_with('0') => (&part[1..], 8),
        None => (part, 10),
    };
    match digits {
        "" if radix == 16 => Some(0),
        _ if digits.starts_with('+') => None,
        // A number with too many digits is too large.
        _ if digits.chars().all(|digit| digit.is_digit(radix)) && !digits.is_empty() => {
            Some(u64::from_str_radix(digits, radix).unwrap_or(u64::MAX))
        }
        _ => None,
    }
}

// Resolves `.` and `..`.
fn resolve_dots(path: &str, is_web: bool) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(|c| c == '/' || (is_web && c == '\\')) {
        let dots = part.to_ascii_lowercase().replace("%2e", ".");
        match dots.as_str() {
            "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

// Decodes a path. An escape that would become a separator stays as it is written; so does the whole path if some of it
// is no text.
fn decode_path(path: &str) -> String {
    let is_kept = |byte: u8| b";/?:@&=+$,#".contains(&byte);
    let is_broken = path.match_indices('%').any(|(at, _)| hex(&path.as_bytes()[at + 1..]).is_none());
    let text = String::from_utf8(percent_decode(path, |byte| !is_kept(byte)));
    match text {
        Ok(text) if !is_broken => text,
        _ => percent_encode(path, |byte| byte <= b' ' || byte > b'~' || b"\"<>`{}".contains(&byte)),
    }
}

fn percent_decode(text: &str, is_wanted: impl Fn(u8) -> bool) -> Vec<u8> {
    let mut bytes = text.as_bytes();
    let mut decoded = Vec::new();
    while let [first, rest @ ..] = bytes {
        let byte = if *first == b'%' { hex(rest).filter(|byte| is_wanted(*byte)) } else { None };
        decoded.push(byte.unwrap_or(*first));
        bytes = if byte.is_some() { &rest[2..] } else { rest };
    }
    decoded
}

fn hex(digits: &[u8]) -> Option<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    match digits {
        [high, low, ..] => u8::try_from(digit(high)? * 16 + digit(low)?).ok(),
        _ => None,
    }
}

fn percent_encode(text: &str, is_wanted: impl Fn(u8) -> bool) -> String {
    let mut written = String::new();
    for letter in text.chars() {
        for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
            if is_wanted(byte) {
                written += &format!("%{byte:02X}");
            } else {
                written.push(char::from(byte));
            }
        }
    }
    written
}
