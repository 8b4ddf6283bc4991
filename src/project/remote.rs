//! The name of a remote: host and path, the same for each way to reach it.

use alloc::format;
use alloc::string::String;

use super::address::{Address, normalize_host};

/// Returns host and path of a remote, as git gives its address: no scheme, user or password. A port is kept if it tells
/// one web server from another. `None` for a place on this machine, a program, or a host beyond ASCII, whose spellings
/// only Unicode's tables tell to be one. The host of this library gives it in Unicode's form C.
pub fn name(address: &str) -> Option<String> {
    if is_helper(address) {
        return None;
    }
    let Address { host, path } =
        if address.contains("://") { Address::of_url(address)? } else { of_scp(address)? };
    let mut names = path.split('/').filter(|name| !name.is_empty()).peekable();
    names.next_if_eq(&"~");
    let name = names.collect::<alloc::vec::Vec<_>>().join("/");
    let name = name.strip_suffix(".git").unwrap_or(&name);
    let text = format!("{host}/{name}");
    let is_name = !host.is_empty() && !name.is_empty() && !text.contains(char::is_control);
    is_name.then_some(text)
}

// True for `ext::…`: git runs a program for it.
fn is_helper(address: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '+' | '.' | '-');
    let rest = address.trim_start_matches(is_letter);
    rest.len() < address.len() && rest.starts_with("::")
}

// Reads an address as ssh takes it: `user@host:path`.
fn of_scp(address: &str) -> Option<Address> {
    let (head, _) = address.split_once(':')?;
    let bytes = address.as_bytes();
    let is_drive =
        head.len() == 1 && bytes[0].is_ascii_alphabetic() && matches!(bytes.get(2), Some(b'/' | b'\\'));
    if is_drive || head.contains(['/', '\\']) {
        return None;
    }
    // Before an @ may stand a password with colons in it: the last @ that a host follows counts.
    let behind = address.rmatch_indices('@').map(|(at, _)| at + 1).chain([0]);
    let (host, path) = behind.filter_map(|start| host_and_path(&address[start..])).next()?;
    Some(Address { host: normalize_host(host)?, path: path.into() })
}

fn host_and_path(rest: &str) -> Option<(&str, &str)> {
    let bracketed = rest.strip_prefix('[').and_then(|inside| inside.find(']')).map(|end| end + 2);
    let behind = |end: usize| Some((&rest[..end], rest[end..].strip_prefix(':')?));
    bracketed.and_then(behind).or_else(|| behind(rest.find([':', '/', '@']).filter(|end| *end > 0)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(address: &str, expected: Option<&str>) {
        assert_eq!(name(address).as_deref(), expected, "{address}");
    }

    #[test]
    fn a_place_on_this_machine_or_a_program_has_no_name() {
        for address in [
            "",
            "/srv/git/b.git",
            "../b",
            "./a:b",
            "C:/code/b",
            "C:\\code\\b",
            "c:\\b",
            "a/b:c",
            "file:///srv/git/b.git",
            "file://example.org/srv/b",
            "ext::ssh user@example.org:a",
            "ext::https://example.org/a",
            "https://example.org/",
            "https:///",
            "https://",
            "ssh://git@/a",
            "://a/b",
            "1s://a/b",
            "example.org:",
            ":a",
        ] {
            check(address, None);
        }
    }

    #[test]
    fn a_host_beyond_ascii_has_no_name() {
        for address in [
            "https://bücher.example/a",
            "https://b%C3%BCcher.example/a",
            "https://%20/a",
            "https://@/a",
            "git@bücher.example:a",
            "ssh://b%C3%BCcher.example/a",
        ] {
            check(address, None);
        }
        check("https://xn--bcher-kva.example/a", Some("xn--bcher-kva.example/a"));
    }

    #[test]
    fn what_cannot_be_decoded_stays_as_it_is_written() {
        check("https://example.org/a/%zz", Some("example.org/a/%zz"));
        check("https://example.org/a b/%ff/ü", Some("example.org/a%20b/%ff/%C3%BC"));
        check("https://example.org/a%2Fb%20c/%C3%BC", Some("example.org/a%2Fb c/ü"));
        check("https://example.org/a%0Ab", None);
        check(" \u{1}https://example.org/a\t/b\n ", Some("example.org/a/b"));
    }

    #[test]
    fn an_at_that_no_host_follows_is_part_of_the_path() {
        check("git@example.org:a@:b", Some("example.org/a@:b"));
        check("git@example.org:a@b", Some("example.org/a@b"));
    }

    #[test]
    fn what_only_ssh_has_as_a_host_is_one() {
        check("git@?b:a/c", Some("?b/a/c"));
        check("git@#Work:a/c", Some("#work/a/c"));
    }

    #[test]
    fn a_port_tells_web_servers_apart_and_nothing_else() {
        check("http://localhost:3000/a/b", Some("localhost:3000/a/b"));
        check("https://example.org:0443/a", Some("example.org/a"));
        check("http://example.org:443/a", Some("example.org:443/a"));
        check("ssh://example.org:2222/a", Some("example.org/a"));
        check("https://example.org:65536/a", None);
        check("https://example.org:x/a", None);
    }

    #[test]
    fn an_address_by_numbers_is_in_one_spelling() {
        check("git@[::1]:a/b", Some("[::1]/a/b"));
        check("ssh://[0:0::0001]/a", Some("[::1]/a"));
        check("https://[::ffff:1.2.3.4]/a", Some("[::ffff:102:304]/a"));
        check("http://0x7f.1/a", Some("127.0.0.1/a"));
        check("http://010.0.0.1./a", Some("8.0.0.1/a"));
        check("http://255.255.255.255/a", Some("255.255.255.255/a"));
        check("http://1.256.3.4/a", None);
        check("http://1.2.3.256/a", None);
        check("http://[::1/a", None);
    }

    proptest! {
        #[test]
        fn each_way_to_a_repository_has_one_name(
            host in "[a-z][a-z0-9-]{1,8}(\\.[a-z][a-z0-9]{0,5}){0,2}",
            path in "[A-Za-z0-9_][A-Za-z0-9._-]{0,6}(/[A-Za-z0-9_][A-Za-z0-9 _-]{0,6}){0,2}",
            user in "[a-z]{1,5}(:[a-z0-9@%]{0,6})?",
        ) {
            prop_assume!(!path.ends_with(".git") && !host.starts_with("xn--") && !path.ends_with(' '));
            let expected = format!("{host}/{path}");
            let shouted = host.to_uppercase();
            let coded = path.replace(' ', "%20");
            for address in [
                format!("{user}@{host}:{path}.git"),
                format!("{shouted}:/{path}/"),
                format!("ssh://{user}@{shouted}/{coded}"),
                format!("ssh://{host}:22/~/{path}.git/"),
                format!("https://{user}@{host}.//{coded}.git"),
                format!("https://{host}:443/{coded}/?token=1#a"),
                format!("git://{host}:9418/./x/../{path}"),
            ] {
                prop_assert_eq!(name(&address), Some(expected.clone()), "{}", address);
            }
        }

        #[test]
        fn no_credential_is_ever_in_a_name(secret in "[a-zA-Z0-9:@%!]{0,10}", host in "[a-z]{1,8}\\.org") {
            for address in [format!("https://u:Se{secret}cret@{host}/a"), format!("u:Se{secret}cret@{host}:a")] {
                prop_assert_eq!(name(&address), Some(format!("{host}/a")), "{}", address);
            }
        }

        #[test]
        fn any_text_is_answered(address: String, ascii in "[ -~]{0,30}") {
            for address in [address, format!("https://{ascii}"), format!("x://{ascii}"), ascii] {
                let name = name(&address);
                prop_assert!(name.is_none_or(|name| name.contains('/') && !name.contains(char::is_control)));
            }
        }
    }
}
