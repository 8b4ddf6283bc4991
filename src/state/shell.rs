//! Which files a shell command changes, as far as its words say so for sure: `rm`, `mv`, `cp`, `git rm`, `git mv`,
//! `sed -i`, `tee`, `>` and `>>` with plain names. Of loops, substitutions, wildcards and variables nothing is said.
//!
//! Asked only about commands that ended well: then every command of the last `&&` chain did, and of an earlier chain at
//! least the first one ran.

use alloc::string::String;
use alloc::vec::Vec;

use crate::state::Kind;

/// What a command does to files.
#[derive(Default)]
pub(crate) struct Done {
    /// Each file with what becomes of it; relative to the folder in which the command runs, unless it begins with `/`.
    pub files: Vec<(Kind, String)>,
    /// The folder in which the next command runs, where this one went elsewhere; empty where nobody can say.
    pub moved: Option<String>,
}

// A command between two operators. What is no plain text of a word is a NUL.
#[derive(Default)]
struct Part {
    words: Vec<String>,
    writes: Vec<(Kind, String)>,
    // What stands behind it: `&`, `|` or `;`.
    ends: u8,
}

/// What a command does to files, of those that it is sure to change.
pub(crate) fn of(command: &str) -> Done {
    let mut done = Done::default();
    let Some(parts) = Reader::new(command).parts() else {
        // It may have gone anywhere.
        done.moved = command.contains("cd").then(String::new);
        return done;
    };
    let last_chain = parts.iter().rposition(|part| part.ends == b';').map_or(0, |at| at + 1);
    let mut folder = Some(String::new());
    let mut has_moved = false;
    let mut begins = true;
    for (place, part) in parts.iter().enumerate() {
        let is_sure = place >= last_chain;
        if begins || is_sure {
            let mut files: Vec<(Kind, &String)> =
                part.writes.iter().map(|(kind, word)| (*kind, word)).collect();
            changed(&part.words, is_sure && part.ends != b'|', &mut files);
            for (kind, word) in files {
                if let Some(path) = at(folder.as_deref(), word) {
                    done.files.push((kind, path));
                }
            }
        }
        if let [name, to @ ..] = &part.words[..]
            && name == "cd"
        {
            has_moved = true;
            let to = to.first().filter(|_| to.len() == 1 && (begins || is_sure));
            folder = to.and_then(|to| at(folder.as_deref(), to));
        }
        begins = part.ends == b';' || (begins && part.ends == b'|');
    }
    done.moved = has_moved.then(|| folder.unwrap_or_default());
    done
}

/// A path as seen from where the folder is seen from; nothing where nobody can say.
pub(crate) fn joined(folder: &str, path: &str) -> Option<String> {
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

// Where the folder is not known, only a whole path says something.
fn at(folder: Option<&str>, word: &str) -> Option<String> {
    let is_seen = folder.is_some() || word.starts_with('/');
    let is_path = is_seen && !word.contains('\0') && word != "-" && !word.starts_with("/dev/");
    is_path.then(|| joined(folder.unwrap_or_default(), word)).flatten()
}

// What one command changes by its arguments; one that may have failed only what it writes before it can.
fn changed<'a>(words: &'a [String], is_sure: bool, files: &mut Vec<(Kind, &'a String)>) {
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
    // Any other one may make it another command.
    let only = |known: &str| flags.bytes().all(|flag| known.as_bytes().contains(&flag));
    // A name with a dot is hardly a folder's.
    let is_file = |word: &&String| word.rfind('.') > word.rfind('/') && !word.ends_with('.');
    let (kind, first) = match name {
        "tee" if only("a") => (if flags.is_empty() { Kind::Writes } else { Kind::Modified }, 0),
        _ if !is_sure => return,
        "rm" if only("fqv") => (if flags.contains('f') { Kind::Removes } else { Kind::Deleted }, 0),
        // The script stands first; a second one would stand among the files.
        "sed" if flags.contains('i') && only("Eeinr") && flags.split('e').count() < 3 => (Kind::Modified, 1),
        "mv" | "cp" if only("fv") && names.len() == 2 && names.iter().all(is_file) => {
            if name == "mv" {
                files.push((Kind::Deleted, names[0]));
            }
            (Kind::Writes, 1)
        }
        _ => return,
    };
    for word in names.into_iter().skip(first) {
        files.push((kind, word));
    }
}

// Cuts a command into its parts.
struct Reader<'a> {
    rest: &'a str,
    parts: Vec<Part>,
    part: Part,
    word: Option<String>,
    // What the next word is of: a file that is written, or nothing that matters.
    wants: Option<Option<Kind>>,
    // The end of the text that begins with the next line.
    here: Option<String>,
}

const KEYWORDS: [&str; 14] =
    ["if", "then", "else", "fi", "for", "while", "until", "do", "done", "case", "function", "{", "[[", "!"];

impl<'a> Reader<'a> {
    fn new(rest: &'a str) -> Reader<'a> {
        Reader { rest, parts: Vec::new(), part: Part::default(), word: None, wants: None, here: None }
    }

    // Nothing where it does what is not followed here.
    fn parts(mut self) -> Option<Vec<Part>> {
        while let Some(c) = self.rest.chars().next() {
            let text = self.rest;
            let skip = match c {
                '\'' => self.quoted(text.get(1..)?.split_once('\'')?.0) + 2,
                '"' => self.double()?,
                '\\' => self.escaped()?,
                '\n' => self.line_ends()?,
                ' ' | '\t' | '\r' => self.word_ends(1),
                '#' if self.word.is_none() => text.find('\n').unwrap_or(text.len()),
                '`' | '(' | ')' => return None,
                ';' | '&' | '|' => match (c, text.as_bytes().get(1)) {
                    ('&', Some(b'>')) => self.redirected(1)?,
                    ('&', Some(b'&')) => self.part_ends(b'&', 2)?,
                    (';' | '|', next) if !matches!(next, Some(b';' | b'|' | b'&')) => {
                        self.part_ends(c as u8, 1)?
                    }
                    _ => return None,
                },
                '<' | '>' => self.redirected(0)?,
                c => self.letter(0, !"$*?[{~".contains(c))?,
            };
            self.rest = text.get(skip..)?;
        }
        self.part_ends(b';', 0)?;
        // What stands last ends nothing.
        if let Some(last) = self.parts.last_mut() {
            last.ends = 0;
        }
        self.here.is_none().then_some(self.parts)
    }

    fn word(&mut self) -> &mut String {
        self.word.get_or_insert_default()
    }

    // The letter that stands next behind so many bytes; how far it goes.
    fn letter(&mut self, place: usize, is_plain: bool) -> Option<usize> {
        let end = place + self.rest.get(place..)?.chars().next()?.len_utf8();
        let text = self.rest;
        self.word().push_str(if is_plain { &text[place..end] } else { "\0" });
        Some(end)
    }

    fn quoted(&mut self, text: &str) -> usize {
        self.word().push_str(text);
        text.len()
    }

    fn double(&mut self) -> Option<usize> {
        self.word();
        let mut place = 1;
        loop {
            match self.rest.as_bytes().get(place)? {
                b'"' => return Some(place + 1),
                b'`' => return None,
                b'$' if self.rest.as_bytes().get(place + 1) == Some(&b'(') => return None,
                b'\\' => place = self.letter(place + 1, true)?,
                byte => place = self.letter(place, *byte != b'$')?,
            }
        }
    }

    fn escaped(&mut self) -> Option<usize> {
        if self.rest.starts_with("\\\n") {
            return Some(2);
        }
        self.letter(1, true)
    }

    fn word_ends(&mut self, skip: usize) -> usize {
        if let Some(word) = self.word.take() {
            match self.wants.take() {
                Some(Some(kind)) => self.part.writes.push((kind, word)),
                Some(None) => {}
                None => self.part.words.push(word),
            }
        }
        skip
    }

    fn part_ends(&mut self, ends: u8, skip: usize) -> Option<usize> {
        self.word_ends(0);
        let mut part = core::mem::take(&mut self.part);
        if part.words.first().is_some_and(|word| KEYWORDS.contains(&word.as_str())) || self.wants.is_some() {
            return None;
        }
        part.ends = ends;
        if !part.words.is_empty() || !part.writes.is_empty() {
            self.parts.push(part);
        }
        Some(skip)
    }

    // `>`, `>>`, `2>`, `&>`, `2>&1`, `<`, `<<END`; behind so many letters.
    fn redirected(&mut self, before: usize) -> Option<usize> {
        // A number right before it says which stream.
        self.word = self.word.take().filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
        self.word_ends(0);
        let sign = &self.rest[before..];
        if sign.starts_with("<<<") {
            self.wants = Some(None);
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
            let is_second = self.here.replace(end).is_some();
            return (!is_second).then_some(before + 2 + length);
        }
        let (kind, skip) = match sign.get(..2) {
            Some(">>") => (Some(Kind::Modified), 2),
            Some(">&" | "<&") => (None, 2),
            _ => (sign.starts_with('>').then_some(Kind::Writes), 1),
        };
        self.wants = Some(kind);
        Some(before + skip)
    }

    // A line feed ends a command; the text that it was told to read comes next.
    fn line_ends(&mut self) -> Option<usize> {
        self.part_ends(b';', 0)?;
        let mut skip = 1;
        let Some(end) = self.here.take() else { return Some(skip) };
        loop {
            let line = self.rest.get(skip..).filter(|rest| !rest.is_empty())?.split('\n').next()?;
            skip = self.rest.len().min(skip + line.len() + 1);
            if line.trim_start_matches('\t') == end {
                return Some(skip);
            }
        }
    }
}
