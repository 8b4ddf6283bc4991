//! Reads from a shell command's words which files it surely changes: `rm`, `mv`, `cp`, `git rm`, `git mv`, `sed -i`,
//! `tee`, `>` and `>>` with plain names. Loops, substitutions, wildcards and variables yield nothing: a file that is
//! missing here can be found, while one that never changed misleads.
//!
//! Used only for commands that succeeded: then every command of the last `&&` chain did, and of an earlier chain at
//! least the first one ran.

use alloc::string::String;
use alloc::vec::Vec;

use crate::state::FactKind;

/// The effects of a command on files.
#[derive(Default)]
pub(crate) struct FileEffects {
    /// Each file with its change; relative to the folder in which the command runs, unless it begins with `/`.
    pub files: Vec<(FactKind, String)>,
    /// The folder of the next command, if this one changed it; empty if unknown.
    pub next_folder: Option<String>,
}

// A command between two operators. A part of a word that is not plain text is a NUL.
#[derive(Default)]
struct ShellCommand {
    words: Vec<String>,
    written_files: Vec<(FactKind, String)>,
    // The operator after it: `&`, `|` or `;`.
    separator: u8,
}

/// Returns the changes that a command surely makes to files.
pub(crate) fn effects_of(command: &str) -> FileEffects {
    let mut done = FileEffects::default();
    let Some(parts) = ShellParser::new(command).parse_commands() else {
        // It may have changed to any folder.
        done.next_folder = command.contains("cd").then(String::new);
        return done;
    };
    let last_chain = parts.iter().rposition(|part| part.separator == b';').map_or(0, |at| at + 1);
    let mut folder = Some(String::new());
    let mut has_moved = false;
    let mut begins = true;
    for (place, part) in parts.iter().enumerate() {
        let is_sure = place >= last_chain;
        if begins || is_sure {
            let mut files: Vec<(FactKind, &String)> =
                part.written_files.iter().map(|(kind, word)| (*kind, word)).collect();
            collect_changes(&part.words, is_sure && part.separator != b'|', &mut files);
            for (kind, word) in files {
                if let Some(path) = resolve_path(folder.as_deref(), word) {
                    done.files.push((kind, path));
                }
            }
        }
        if let [name, to @ ..] = &part.words[..]
            && name == "cd"
        {
            has_moved = true;
            let to = to.first().filter(|_| to.len() == 1 && (begins || is_sure));
            folder = to.and_then(|to| resolve_path(folder.as_deref(), to));
        }
        begins = part.separator == b';' || (begins && part.separator == b'|');
    }
    done.next_folder = has_moved.then(|| folder.unwrap_or_default());
    done
}

/// Joins a path to a folder; `None` if the result is unknown.
pub(crate) fn join_path(folder: &str, path: &str) -> Option<String> {
    let path = path.strip_prefix("./").unwrap_or(path);
    if path.is_empty() || path.split('/').any(|part| part == "..") {
        return None;
    }
    let mut whole = String::new();
    if !path.starts_with('/') && !folder.is_empty() {
        whole.push_str(folder.trim_end_matches('/'));
        whole.push('/');
    }
    whole.push_str(path);
    Some(whole)
}

// In an unknown folder only an absolute path means something.
fn resolve_path(folder: Option<&str>, word: &str) -> Option<String> {
    let is_seen = folder.is_some() || word.starts_with('/');
    let is_path = is_seen && !word.contains('\0') && word != "-" && !word.starts_with("/dev/");
    is_path.then(|| join_path(folder.unwrap_or_default(), word)).flatten()
}

// Collects the changes of one command; if it may have failed, only those that it makes before it can.
fn collect_changes<'a>(words: &'a [String], is_sure: bool, files: &mut Vec<(FactKind, &'a String)>) {
    let (name, rest) = match words {
        [git, name, rest @ ..] if git == "git" && (name == "rm" || name == "mv") => (name.as_str(), rest),
        [name, rest @ ..] if name != "git" => (name.as_str(), rest),
        _ => return,
    };
    let (mut flags, mut names) = (String::new(), Vec::new());
    for word in rest {
        match word.strip_prefix('-') {
            Some(flag) => flags.push_str(flag),
            None => names.push(word),
        }
    }
    // Any other flag may change its meaning.
    let only = |known: &str| flags.bytes().all(|flag| known.as_bytes().contains(&flag));
    // A name with a dot is hardly a folder's.
    let is_file = |word: &&String| word.rfind('.') > word.rfind('/') && !word.ends_with('.');
    let (kind, first) = match name {
        "tee" if only("a") => (if flags.is_empty() { FactKind::Writes } else { FactKind::Modified }, 0),
        _ if !is_sure => return,
        "rm" if only("fqv") => (if flags.contains('f') { FactKind::Removes } else { FactKind::Deleted }, 0),
        // The script is the first argument; a second script would be taken for a file.
        "sed" if flags.contains('i') && only("Eeinr") && flags.split('e').count() < 3 => {
            (FactKind::Modified, 1)
        }
        "mv" | "cp" if only("fv") && names.len() == 2 && names.iter().all(is_file) => {
            if name == "mv" {
                files.push((FactKind::Deleted, names[0]));
            }
            (FactKind::Writes, 1)
        }
        _ => return,
    };
    for word in names.into_iter().skip(first) {
        files.push((kind, word));
    }
}

// Splits a command line into commands.
struct ShellParser<'a> {
    rest: &'a str,
    parts: Vec<ShellCommand>,
    part: ShellCommand,
    word: Option<String>,
    // The target of the next word: a written file, or nothing that matters.
    redirect_target: Option<Option<FactKind>>,
    // The end mark of the here-document that begins on the next line.
    heredoc_end: Option<String>,
}

const KEYWORDS: [&str; 14] =
    ["if", "then", "else", "fi", "for", "while", "until", "do", "done", "case", "function", "{", "[[", "!"];

impl<'a> ShellParser<'a> {
    fn new(rest: &'a str) -> ShellParser<'a> {
        ShellParser {
            rest,
            parts: Vec::new(),
            part: ShellCommand::default(),
            word: None,
            redirect_target: None,
            heredoc_end: None,
        }
    }

    // Returns `None` if it uses syntax that is not followed here.
    fn parse_commands(mut self) -> Option<Vec<ShellCommand>> {
        while let Some(c) = self.rest.chars().next() {
            let text = self.rest;
            let skip = match c {
                '\'' => self.add_quoted(text.get(1..)?.split_once('\'')?.0) + 2,
                '"' => self.read_double_quoted()?,
                '\\' => self.read_escape()?,
                '\n' => self.end_line()?,
                ' ' | '\t' | '\r' => self.end_word(1),
                '#' if self.word.is_none() => text.find('\n').unwrap_or(text.len()),
                '`' | '(' | ')' => return None,
                ';' | '&' | '|' => match (c, text.as_bytes().get(1)) {
                    ('&', Some(b'>')) => self.read_redirect(1)?,
                    ('&', Some(b'&')) => self.end_command(b'&', 2)?,
                    (';' | '|', next) if !matches!(next, Some(b';' | b'|' | b'&')) => {
                        self.end_command(c as u8, 1)?
                    }
                    _ => return None,
                },
                '<' | '>' => self.read_redirect(0)?,
                c => self.read_letter(0, !"$*?[{~".contains(c))?,
            };
            self.rest = text.get(skip..)?;
        }
        self.end_command(b';', 0)?;
        // No operator follows the last command.
        if let Some(last) = self.parts.last_mut() {
            last.separator = 0;
        }
        self.heredoc_end.is_none().then_some(self.parts)
    }

    fn word(&mut self) -> &mut String {
        self.word.get_or_insert_default()
    }

    // Reads the character at `place` and returns the place after it.
    fn read_letter(&mut self, place: usize, is_plain: bool) -> Option<usize> {
        let end = place + self.rest.get(place..)?.chars().next()?.len_utf8();
        let text = self.rest;
        self.word().push_str(if is_plain { &text[place..end] } else { "\0" });
        Some(end)
    }

    fn add_quoted(&mut self, text: &str) -> usize {
        self.word().push_str(text);
        text.len()
    }

    fn read_double_quoted(&mut self) -> Option<usize> {
        self.word();
        let mut place = 1;
        loop {
            match self.rest.as_bytes().get(place)? {
                b'"' => return Some(place + 1),
                b'`' => return None,
                b'$' if self.rest.as_bytes().get(place + 1) == Some(&b'(') => return None,
                b'\\' => place = self.read_letter(place + 1, true)?,
                byte => place = self.read_letter(place, *byte != b'$')?,
            }
        }
    }

    fn read_escape(&mut self) -> Option<usize> {
        if self.rest.starts_with("\\\n") {
            return Some(2);
        }
        self.read_letter(1, true)
    }

    fn end_word(&mut self, skip: usize) -> usize {
        if let Some(word) = self.word.take() {
            match self.redirect_target.take() {
                Some(Some(kind)) => self.part.written_files.push((kind, word)),
                Some(None) => {}
                None => self.part.words.push(word),
            }
        }
        skip
    }

    fn end_command(&mut self, ends: u8, skip: usize) -> Option<usize> {
        self.end_word(0);
        let mut part = core::mem::take(&mut self.part);
        if part.words.first().is_some_and(|word| KEYWORDS.contains(&word.as_str()))
            || self.redirect_target.is_some()
        {
            return None;
        }
        part.separator = ends;
        if !part.words.is_empty() || !part.written_files.is_empty() {
            self.parts.push(part);
        }
        Some(skip)
    }

    // Reads `>`, `>>`, `2>`, `&>`, `2>&1`, `<`, `<<END`, which follows `before` bytes.
    fn read_redirect(&mut self, before: usize) -> Option<usize> {
        // A number directly before it names a stream.
        self.word = self.word.take().filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
        self.end_word(0);
        let sign = &self.rest[before..];
        if sign.starts_with("<<<") {
            self.redirect_target = Some(None);
            return Some(before + 3);
        }
        if let Some(behind) = sign.strip_prefix("<<") {
            let (mut end, mut length) = (String::new(), 0);
            for byte in
                behind.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"-_ '\"\\".contains(byte))
            {
                if byte.is_ascii_alphanumeric() || byte == b'_' {
                    end.push(char::from(byte));
                } else if !end.is_empty() && byte == b' ' {
                    break;
                }
                length += 1;
            }
            let is_second = self.heredoc_end.replace(end).is_some();
            return (!is_second).then_some(before + 2 + length);
        }
        let (kind, skip) = match sign.get(..2) {
            Some(">>") => (Some(FactKind::Modified), 2),
            Some(">&" | "<&") => (None, 2),
            _ => (sign.starts_with('>').then_some(FactKind::Writes), 1),
        };
        self.redirect_target = Some(kind);
        Some(before + skip)
    }

    // A line feed ends a command; here-documents that it announced come next.
    fn end_line(&mut self) -> Option<usize> {
        self.end_command(b';', 0)?;
        let mut skip = 1;
        let Some(end) = self.heredoc_end.take() else { return Some(skip) };
        loop {
            let line = self.rest.get(skip..).filter(|rest| !rest.is_empty())?.split('\n').next()?;
            skip = self.rest.len().min(skip + line.len() + 1);
            if line.trim_start_matches('\t') == end {
                return Some(skip);
            }
        }
    }
}
