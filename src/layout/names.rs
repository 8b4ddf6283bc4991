//! Makes the names of files and folders, and reads those that are found.

use alloc::format;
use alloc::string::String;

use super::{Placement, SESSION_PREFIX};
use crate::error::{Code, Error};
use crate::json::text::to_json;
use crate::time;

/// The most letters of a title in a name.
const MAX_NAME_CHARS: usize = 40;
/// The most digits of a conversation's number.
const MAX_NUMBER_DIGITS: usize = 6;

/// Makes the name of a new conversation: the day's next number, its type and the words of its title. `names`: those
/// that the day has. Type and title are given decomposed (Unicode's form KD) and without marks, so that `é` is `e`.
pub fn conversation_name<'a>(
    names: impl IntoIterator<Item = &'a str>,
    session_type: &str,
    title: &str,
) -> String {
    let last = names.into_iter().filter_map(parse_number).max().unwrap_or(0);
    let parts = [format!("{:03}", last + 1), to_slug(session_type), to_slug(title)];
    let some = parts.into_iter().filter(|part| !part.is_empty());
    some.collect::<alloc::vec::Vec<_>>().join("-")
}

fn parse_number(name: &str) -> Option<u32> {
    let digits = name.split('-').next().unwrap_or_default();
    let is_number =
        (1..=MAX_NUMBER_DIGITS).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}

// Every filesystem takes the result, and it is an id that a person may give.
fn to_slug(text: &str) -> String {
    let mut words = String::new();
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() {
            words.push(letter.to_ascii_lowercase());
        } else if let Some(spelled) = spell_in_ascii(letter) {
            words.push_str(spelled);
        } else if !words.is_empty() && !words.ends_with('-') {
            words.push('-');
        }
    }
    words.truncate(MAX_NAME_CHARS);
    words.truncate(words.trim_end_matches('-').len());
    words
}

// Letters that no decomposition makes plain, each followed by its spelling in plain ones.
const SPELLINGS: &str = "ßss ẞss æae Æae œoe Œoe øo Øo łl Łl đd Đd ðd Ðd þth Þth ıi";

fn spell_in_ascii(letter: char) -> Option<&'static str> {
    SPELLINGS.split(' ').find_map(|one| one.strip_prefix(letter))
}

/// Returns the type of conversations that a slash command begins, `/workspace.<type>`; `None` if it begins none: the
/// commands that resume and stop are about conversations.
pub fn command_type(command: &str) -> Option<&str> {
    let rest = command.strip_prefix(['/', '$'])?.strip_prefix("workspace")?.strip_prefix(['.', ':', '-'])?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let is_type = !rest.is_empty() && rest.bytes().all(is_name);
    (is_type && !matches!(rest, "resume" | "stop-conversation")).then_some(rest)
}

/// Rejects a conversation type that is no plain word: it stands in names.
///
/// # Errors
/// `invalid_request`.
pub fn check_type(name: &str) -> Result<(), Error> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if (1..=MAX_NAME_CHARS).contains(&name.len()) && name.bytes().all(is_plain) {
        return Ok(());
    }
    let message = format!(
        "expected a type of up to {MAX_NAME_CHARS} letters, digits, '_' and '-', but found {} instead",
        to_json(name)
    );
    Err(Error::new(Code::InvalidRequest, message))
}

/// True if a folder's name looks like a day: `2026-11-22`. Somebody may have made one that the calendar does not have.
pub fn is_day(name: &str) -> bool {
    let digits = |byte: u8| if byte.is_ascii_digit() { b'0' } else { byte };
    name.bytes().map(digits).eq(*b"0000-00-00")
}

/// Makes the name in the trash of a session deleted at this moment. No two deletions may have the same moment: the
/// sessions may have the same name.
pub fn trash_name(name: &str, now_ms: i64) -> String {
    format!("{}-{name}", time::format(now_ms).replace(':', "-"))
}

/// A name in the trash, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrashName<'a> {
    /// When the session was deleted, RFC 3339.
    pub deleted_at: String,
    /// The placement it had.
    pub placement: Placement,
    /// Its name before: its folder's, or its conversation's with `.session` behind.
    pub name: &'a str,
}

/// Reads a name in the trash; `None` if it is none.
pub fn parse_trash_name(name: &str) -> Option<TrashName<'_>> {
    const TIME_PATTERN: &str = "0000-00-00T00-00-00.000Z";
    let (moment, name) = name.split_at_checked(TIME_PATTERN.len())?;
    let name = one_line(name.strip_prefix('-')?)?;
    let same = |byte: u8| if byte.is_ascii_digit() { b'0' } else { byte };
    let is_home = name.starts_with(SESSION_PREFIX);
    moment.bytes().map(same).eq(TIME_PATTERN.bytes()).then(|| TrashName {
        deleted_at: format!("{}:{}:{}", &moment[..13], &moment[14..16], &moment[17..]),
        placement: if is_home { Placement::Home } else { Placement::Workspace },
        name,
    })
}

/// Why a folder was renamed in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetireReason {
    /// The session was moved away: no append to the folder is acknowledged any more, and it has all that were.
    Left,
    /// The folder is to be deleted.
    Gone,
}

impl RetireReason {
    /// Returns the reason as names have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            RetireReason::Left => "left",
            RetireReason::Gone => "gone",
        }
    }
}

/// Makes the name of a folder that a process left or gave up: `id` is a new one.
pub fn retired_name(why: RetireReason, id: &str, pid: u32, name: &str) -> String {
    format!(".{}-{id}-{pid}-{name}", why.as_str())
}

/// The name of a folder that was left or given up, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetiredName<'a> {
    /// Why the folder was renamed.
    pub reason: RetireReason,
    /// The number of the process, as it is written.
    pub pid: &'a str,
    /// The folder's name before.
    pub old_name: &'a str,
}

/// Reads the name of a folder that was left or given up; `None` if it is another name.
pub fn parse_retired_name(name: &str) -> Option<RetiredName<'_>> {
    const ID: &str = "00000000-0000-0000-0000-000000000000";
    let rest = name.strip_prefix('.')?;
    let (why, rest) = [RetireReason::Left, RetireReason::Gone]
        .into_iter()
        .find_map(|why| Some((why, rest.strip_prefix(why.as_str())?.strip_prefix('-')?)))?;
    let (id, rest) = rest.split_at_checked(ID.len())?;
    let same = |byte: u8| if is_hex(byte) { b'0' } else { byte };
    let (pid, was) = rest.strip_prefix('-')?.split_once('-')?;
    let is_renamed = id.bytes().map(same).eq(ID.bytes()) && is_number(pid);
    is_renamed.then_some(RetiredName { reason: why, pid, old_name: one_line(was)? })
}

/// The suffix of a folder that is being copied into the trash; the rest is its retired name.
pub const COMING_SUFFIX: &str = ".coming";

/// Makes the name of a folder that somebody is reserving in the home.
pub fn reserved_name(id: &str) -> String {
    format!("{NEW_FOLDER_PREFIX}{id}")
}

const NEW_FOLDER_PREFIX: &str = ".new-";

/// True if a folder of this name may be a reservation, finished or not.
pub fn is_reserved_name(name: &str) -> bool {
    let is_beside =
        name.strip_prefix(super::SESSION_FOLDER).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    is_beside || name.starts_with(NEW_FOLDER_PREFIX) || name.starts_with(SESSION_PREFIX)
}

/// Reads the process number from the name of a temporary file, `.<name>.<number>.<16 hex digits>.tmp`.
pub fn parse_temporary_name(name: &str) -> Option<&str> {
    let (rest, chance) = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('.')?;
    let (name, pid) = rest.rsplit_once('.')?;
    let is_temporary = chance.len() == 16 && chance.bytes().all(is_hex) && is_number(pid);
    (is_temporary && one_line(name).is_some()).then_some(pid)
}

/// The kinds of files that the cache keeps for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachedKind {
    /// The checkpoint of its messages.
    Checkpoint,
    /// The bytes that the checkpoint was made from.
    Covers,
    /// A folder: its leases, one for each process that has it open.
    Leases,
    /// The report of its last context.
    Report,
    /// The frames of its contexts.
    Frames,
    /// The number of turns that a client's hook has seen.
    Turns,
    /// The number of its tool outputs that were deleted.
    Outputs,
}

impl CachedKind {
    /// All kinds.
    pub const ALL: [CachedKind; 7] = [
        CachedKind::Checkpoint,
        CachedKind::Covers,
        CachedKind::Leases,
        CachedKind::Report,
        CachedKind::Frames,
        CachedKind::Turns,
        CachedKind::Outputs,
    ];

    const fn ending(self) -> &'static str {
        match self {
            CachedKind::Checkpoint => ".json",
            CachedKind::Covers => ".covers",
            CachedKind::Leases => ".open",
            CachedKind::Report => ".report",
            CachedKind::Frames => ".frames",
            CachedKind::Turns => ".turns",
            CachedKind::Outputs => ".outputs",
        }
    }
}

/// Makes the name of a session's file in the cache.
pub fn cached_name(id: &str, what: CachedKind) -> String {
    format!("{id}{}", what.ending())
}

/// Reads the session's id and the kind from a name in the cache.
pub fn parse_cached_name(name: &str) -> Option<(&str, CachedKind)> {
    let id = |what: CachedKind| Some((one_line(name.strip_suffix(what.ending())?)?, what));
    if name == super::IMPORTED_FILES {
        return None;
    }
    CachedKind::ALL.into_iter().find_map(id)
}

fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

// No name that leftoff gives has line breaks.
fn one_line(name: &str) -> Option<&str> {
    (!name.is_empty() && !name.contains(['\n', '\r', '\u{2028}', '\u{2029}'])).then_some(name)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_conversation_has_the_days_next_number() {
        let day = ["001-chat", "012", "x", "13x", "1234567-chat", "7-brainstorm"];
        assert_eq!(
            conversation_name(day, "brainstorm", "  API: the Design! "),
            "013-brainstorm-api-the-design"
        );
        assert_eq!(conversation_name([], "", "\u{4e2d}"), "001");
        assert_eq!(conversation_name(["999999"], "chat", ""), "1000000-chat");
    }

    #[test]
    fn letters_that_have_a_usual_spelling_are_written_so() {
        for (title, expected) in [
            ("Gro\u{308}\u{df}e", "001-grosse"),
            ("STRA\u{1e9e}E", "001-strasse"),
            ("\u{c6}r\u{f8} \u{152}uvre", "001-aero-oeuvre"),
            ("\u{141}o\u{301}dz\u{301}", "001-lodz"),
            ("\u{110}a\u{300} N\u{103}\u{303}ng", "001-da-nang"),
            ("\u{de}o\u{301}r\u{f0}ur", "001-thordur"),
        ] {
            // As a host gives it: decomposed, without marks.
            let given: String = title.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).collect();
            let given = given.replace('\u{103}', "a");
            assert_eq!(conversation_name([], "", &given), expected);
        }
    }

    #[test]
    fn only_commands_of_the_workspace_begin_conversations() {
        for (command, expected) in [
            ("/workspace.brainstorm", Some("brainstorm")),
            ("$workspace-create-plan", Some("create-plan")),
            ("/workspace:resume", None),
            ("/workspace.stop-conversation", None),
            ("/workspace.", None),
            ("/workspace.a b", None),
            ("workspace.a", None),
            ("", None),
        ] {
            assert_eq!(command_type(command), expected, "{command}");
        }
    }

    #[test]
    fn a_type_is_a_plain_word() {
        for name in ["chat", "create-plan", "sub_agent", "V2"] {
            assert_eq!(check_type(name), Ok(()), "{name}");
        }
        for name in ["", "Bad Type", "a/b", "..", "\u{e9}", &"a".repeat(MAX_NAME_CHARS + 1)] {
            assert_eq!(check_type(name).map_err(|error| error.code), Err(Code::InvalidRequest), "{name}");
        }
    }

    #[test]
    fn of_what_is_in_the_trash_the_oldest_name_sorts_first() {
        let names: Vec<_> =
            [5, 1_763_812_800_123, 1_763_812_800_124].map(|ms| trash_name("session-a", ms)).into();
        assert!(names.is_sorted());
        assert_eq!(
            parse_trash_name(&names[0]).map(|one| one.deleted_at),
            Some("1970-01-01T00:00:00.005Z".into())
        );
    }

    #[test]
    fn other_names_are_not_taken_for_ours() {
        for name in [
            "",
            ".",
            "\u{e9}",
            "2026-11-22",
            "2026-11-22T18-20-30.785Z-",
            "2026-11-22T18-20-30.785Z-\n",
            ".left-x-1-a",
        ] {
            assert_eq!(
                (parse_trash_name(name), parse_retired_name(name), parse_temporary_name(name)),
                (None, None, None),
                "{name}"
            );
        }
        assert_eq!(
            (parse_cached_name(".json"), parse_cached_name("a.other"), parse_cached_name("imported.json")),
            (None, None, None)
        );
        assert!(
            !is_reserved_name(".sessions") && is_reserved_name(".session") && is_reserved_name(".session-x")
        );
    }

    #[test]
    fn what_only_looks_like_a_temporary_file_is_none() {
        assert_eq!(parse_temporary_name(".a.json.7.0123456789abcdef.tmp"), Some("7"));
        for name in [
            ".a.json.7.0123456789abcde.tmp",
            ".a.json.7.0123456789abcdef0.tmp",
            ".a.json.7.0123456789abcdeg.tmp",
            ".a.json.7.0123456789ABCDEF.tmp",
            ".a.json.x.0123456789abcdef.tmp",
            ".a.json..0123456789abcdef.tmp",
            ".7.0123456789abcdef.tmp",
            "a.json.7.0123456789abcdef.tmp",
            ".a.json.7.0123456789abcdef",
            ".a\nb.7.0123456789abcdef.tmp",
        ] {
            assert_eq!(parse_temporary_name(name), None, "{name}");
        }
    }

    proptest! {
        #[test]
        fn what_is_made_is_read_again(name in "[^\n\r\u{2028}\u{2029}/]{1,20}", ms in 0_i64..4_000_000_000_000, pid: u32) {
            let made = trash_name(&name, ms);
            let read = parse_trash_name(&made).expect("it is one");
            prop_assert_eq!((read.name, time::parse(&read.deleted_at)), (&*name, Some(ms)));
            for why in [RetireReason::Left, RetireReason::Gone] {
                let made = retired_name(why, "01234567-89ab-cdef-0123-456789abcdef", pid, &name);
                prop_assert_eq!(parse_retired_name(&made), Some(RetiredName { reason: why, pid: &format!("{pid}"), old_name: &name }));
            }
            for what in CachedKind::ALL {
                let made = cached_name(&name, what);
                prop_assert_eq!(parse_cached_name(&made), Some((&*name, what)));
            }
            let made = format!(".{name}.{pid}.0123456789abcdef.tmp");
            prop_assert_eq!(parse_temporary_name(&made), Some(&*format!("{pid}")));
        }

        #[test]
        fn a_name_has_nothing_but_small_letters_digits_and_dashes(names: Vec<String>, kind: String, title: String) {
            let name = conversation_name(names.iter().map(String::as_str), &kind, &title);
            prop_assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
            prop_assert!(!name.ends_with('-') && !name.contains("--") && name.len() <= 90);
            prop_assert!(!names.contains(&name));
        }
    }
}
