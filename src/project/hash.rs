//! The hash of a project's folder.

use alloc::string::String;

use sha2::{Digest, Sha256};

/// Returns the first 16 hex digits of SHA-256 of a folder's real path, fixed for ever. The host gives the path resolved
/// and in Unicode normalization form C; separators, the drive letter and a trailing slash are made alike here.
pub fn hash(real_path: &str) -> String {
    let digest = Sha256::digest(normalize_path(real_path).as_bytes());
    digest.iter().take(8).map(|byte| alloc::format!("{byte:02x}")).collect()
}

fn normalize_path(path: &str) -> String {
    let slashed = path.replace('\\', "/");
    let mut letters = slashed.chars();
    let drive = letters.next().filter(|letter| letter.is_ascii_alphabetic() && slashed[1..].starts_with(':'));
    let whole = match drive {
        Some(letter) => alloc::format!("{}{}", letter.to_ascii_lowercase(), &slashed[1..]),
        None => slashed,
    };
    match whole.trim_end_matches('/') {
        "" => "/".into(),
        path => path.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_spellings_of_one_windows_folder_are_one_project() {
        let one = hash("C:\\Users\\ann\\code");
        assert_eq!(one, hash("c:/Users/ann/code"));
        assert_eq!(one, hash("c:\\Users\\ann\\code\\"));
        assert_ne!(one, hash("c:/users/ann/code"));
    }

    #[test]
    fn the_hash_is_fixed_for_ever() {
        // printf %s /home/ann/code | sha256sum
        assert_eq!(hash("/home/ann/code"), "5dcf1f63d1e20d7e");
        assert_ne!(hash("/"), hash("//x"));
    }
}
