//! A project's identity: the hash of its folder, and what git says of its repository.
//!
//! They are hints: whoever makes a repository chooses them.

mod address;
mod hash;
mod remote;

use alloc::string::String;

pub use hash::hash;
pub use remote::name as remote_name;

/// A project's marks beside its path. Worktrees and clones of one repository have the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Aliases {
    /// Host and path of its remote; see [`remote_name`].
    pub remote: Option<String>,
    /// The first commit of HEAD's first parents; unknown in a shallow clone.
    pub first_commit: Option<String>,
    /// The project's path in the repository, unless it is the top.
    pub folder: Option<String>,
}

impl Aliases {
    /// Makes them from the address of the remote that counts and the first commit, each empty if git has none; `None`
    /// if both are missing.
    pub fn new(address: &str, first_commit: &str, folder: &str) -> Option<Aliases> {
        let some = |text: &str| (!text.is_empty()).then(|| String::from(text));
        let remote = remote_name(address.strip_suffix('\n').unwrap_or(address));
        let first_commit = some(first_commit.trim());
        let is_known = remote.is_some() || first_commit.is_some();
        is_known.then(|| Aliases { remote, first_commit, folder: some(folder) })
    }

    /// True if two projects are one. A fork has the same first commit and another remote, so remotes decide where both
    /// have one.
    pub fn is_same(&self, other: &Aliases) -> bool {
        if self.folder != other.folder {
            return false;
        }
        match (&self.remote, &other.remote) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => self.first_commit.is_some() && self.first_commit == other.first_commit,
        }
    }
}

/// A folder's place in its repository, by git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepositoryPlace<'a> {
    /// True if the repository's first commit is known there.
    pub has_first_commit: bool,
    /// The path from the repository's top, without a slash at its end; empty at the top.
    pub folder: &'a str,
}

impl RepositoryPlace<'_> {
    /// Reads git's answer to `rev-parse --is-inside-work-tree --is-shallow-repository --show-prefix`; `None` if the
    /// folder is in no work tree.
    pub fn read(answer: &str) -> Option<RepositoryPlace<'_>> {
        let (is_inside, rest) = answer.split_once('\n').unwrap_or((answer, ""));
        let (is_shallow, prefix) = rest.split_once('\n').unwrap_or((rest, ""));
        // The folder's own name may have line breaks.
        let folder =
            prefix.strip_suffix('\n').map_or(prefix, |prefix| prefix.strip_suffix('/').unwrap_or(prefix));
        (is_inside == "true").then_some(RepositoryPlace { has_first_commit: is_shallow == "false", folder })
    }
}

/// Picks an address from git's answer to `remote -v`: that of `origin`, else of the only remote; empty if there is
/// neither.
pub fn address_that_counts(listed: &str) -> &str {
    let mut first: Option<(&str, &str)> = None;
    let mut is_only = true;
    for line in listed.split('\n') {
        let Some((name, rest)) = line.split_once('\t') else { continue };
        let address = rest.rsplit_once(" (fetch)").map_or("", |(address, _)| address);
        if name == "origin" {
            return address;
        }
        is_only &= first.is_none_or(|(known, _)| known == name);
        first = first.or(Some((name, address)));
    }
    first.filter(|_| is_only).map_or("", |(_, address)| address)
}

/// Turns a title into the first line of a commit message.
pub fn commit_title(title: &str) -> String {
    const MAX_LINE_CHARS: usize = 200;
    let mut line = String::new();
    for letter in title.chars() {
        if !is_blank(letter) {
            line.push(letter);
        } else if !line.is_empty() && !line.ends_with(' ') {
            line.push(' ');
        }
    }
    line.truncate(line.trim_end_matches(' ').len());
    if let Some((end, _)) = line.char_indices().nth(MAX_LINE_CHARS) {
        line.truncate(end);
        line.truncate(line.trim_end_matches(' ').len());
        line.push('…');
    }
    if line.is_empty() { "Conversation".into() } else { line }
}

// True for characters that end a line, steer a terminal, or turn the direction of a text.
fn is_blank(letter: char) -> bool {
    let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || letter.is_control() || letter.is_whitespace() || letter == '\u{feff}'
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use proptest::prelude::*;

    use super::*;

    fn aliases(remote: &str, first_commit: &str, folder: &str) -> Aliases {
        let some = |text: &str| (!text.is_empty()).then(|| String::from(text));
        Aliases { remote: some(remote), first_commit: some(first_commit), folder: some(folder) }
    }

    #[test]
    fn remotes_decide_where_both_have_one_else_the_first_commit() {
        for (mine, theirs, expected) in [
            (("r", "1", ""), ("r", "2", ""), true),
            (("r", "1", ""), ("s", "1", ""), false),
            (("r", "1", ""), ("", "1", ""), true),
            (("", "1", ""), ("", "2", ""), false),
            (("", "", ""), ("", "", ""), false),
            (("r", "", ""), ("", "1", ""), false),
            (("r", "1", "a"), ("r", "1", "a"), true),
            (("r", "1", "a"), ("r", "1", ""), false),
        ] {
            let [mine, theirs] = [mine, theirs].map(|(remote, first, folder)| aliases(remote, first, folder));
            assert_eq!(
                (mine.is_same(&theirs), theirs.is_same(&mine)),
                (expected, expected),
                "{mine:?} {theirs:?}"
            );
        }
    }

    #[test]
    fn what_git_says_of_a_folder_is_read() {
        let read = |has_first_commit, folder| Some(RepositoryPlace { has_first_commit, folder });
        assert_eq!(RepositoryPlace::read("true\nfalse\n\n"), read(true, ""));
        assert_eq!(RepositoryPlace::read("true\ntrue\nsub/a folder\nü/\n"), read(false, "sub/a folder\nü"));
        assert_eq!(RepositoryPlace::read("true\n--is-shallow-repository\n\n"), read(false, ""));
        assert_eq!((RepositoryPlace::read(""), RepositoryPlace::read("false\nfalse\n\n")), (None, None));
        assert_eq!(
            Aliases::new("git@example.org:a/b\n", "\n", "sub"),
            Some(aliases("example.org/a/b", "", "sub"))
        );
        assert_eq!(Aliases::new("/srv/git", "abc\n", ""), Some(aliases("", "abc", "")));
        assert_eq!(Aliases::new("/srv/git", "", "sub"), None);
    }

    #[test]
    fn the_remote_is_origin_else_the_only_one() {
        let listed = |names: &[&str]| -> String {
            names
                .iter()
                .map(|name| format!("{name}\tat {name} (fetch)\n{name}\tto {name} (push)\n"))
                .collect()
        };
        for (names, expected) in [
            (&[][..], ""),
            (&["fork"], "at fork"),
            (&["fork", "origin", "z"], "at origin"),
            (&["origin", "fork"], "at origin"),
            (&["fork", "upstream"], ""),
        ] {
            assert_eq!(address_that_counts(&listed(names)), expected, "{names:?}");
        }
    }

    #[test]
    fn an_address_is_whole_whatever_git_writes_behind_it() {
        for (listed, expected) in [
            ("fork\ta b (fetch) [blob:none]\nfork\ta b (push)\n", "a b"),
            ("fork\ta (fetch) (fetch)\nfork\ta (fetch) (push)\n", "a (fetch)"),
            ("fork\t\nfork\tto (push)\n", ""),
            ("fork\t\nupstream\tat (fetch)\n", ""),
        ] {
            assert_eq!(address_that_counts(listed), expected, "{listed}");
        }
    }

    #[test]
    fn a_title_without_a_letter_is_that_of_a_conversation() {
        for title in ["", " \n", "\u{202e}\u{feff}\u{85}"] {
            assert_eq!(commit_title(title), "Conversation");
        }
        assert_eq!(commit_title(&"ü".repeat(201)).chars().count(), 201);
        assert_eq!(commit_title(&"ü".repeat(200)), "ü".repeat(200));
        assert_eq!(
            commit_title(&["a".repeat(199), "b".into()].join(" ")),
            ["a".repeat(199), "…".into()].concat()
        );
    }

    proptest! {
        #[test]
        fn a_title_is_one_line_that_steers_nothing(title: String) {
            let line = commit_title(&title);
            prop_assert!(!line.is_empty() && line.chars().count() <= 201);
            prop_assert!(line.chars().all(|letter| letter == ' ' || !is_blank(letter)));
            prop_assert!(line.trim() == line && !line.contains("  "));
            prop_assert_eq!(commit_title(&title), line);
        }
    }
}
