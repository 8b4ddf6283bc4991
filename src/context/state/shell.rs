//! Which files a shell command changes, as far as its words say so for sure: `rm`, `mv`, `cp`, `git rm`, `git mv`,
//! `sed -i`, `tee`, `>` and `>>` with plain names. Of loops, substitutions, wildcards and variables nothing is said.
//!
//! Asked only about commands that ended well: then every command of the last `&&` chain did, and of an earlier chain at
//! least the first one ran.

use alloc::string::String;
use alloc::vec::Vec;

use crate::context::state::Kind;

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
            done.files.extend(
                files.into_iter().filter_map(|(kind, word)| Some((kind, at(folder.as_deref(), word)?))),
            );
        }
        if let [name, to @ ..] = &part.words[..]
            && matches!(name.as_str(), "cd" | "pushd" | "popd")
        {
            has_moved = true;
            let to = to.first().filter(|_| name == "cd" && to.len() == 1 && (begins || is_sure));
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
    let is_flag = |word: &&String| word.starts_with('-') && word.len() > 1;
    let has = |flag| rest.iter().filter(is_flag).any(|word| word.contains(flag));
    // Any other one may make it another command.
    let only =
        |known: &str| rest.iter().filter(is_flag).all(|word| word[1..].chars().all(|c| known.contains(c)));
    let names = rest.iter().filter(|word| !is_flag(word));
    let kind = match name {
        "tee" if only("a") => {
            if has('a') {
                Kind::Modified
            } else {
                Kind::Writes
            }
        }
        _ if !is_sure => return,
        "rm" if only("fqv") => {
            if has('f') {
                Kind::Removes
            } else {
                Kind::Deleted
            }
        }
        "mv" | "cp" if only("fpv") => {
            let names: Vec<&String> = names.collect();
            // A name with a dot is hardly a folder's.
            let is_file = |word: &&String| {
                word.rsplit('/').next().is_some_and(|name| name.trim_matches('.').contains('.'))
            };
            if let [from, to] = names[..]
                && is_file(&from)
                && is_file(&to)
            {
                if name == "mv" {
                    files.push((Kind::Deleted, from));
                }
                files.push((Kind::Writes, to));
            }
            return;
        }
        "sed" if has('i') => return in_place(rest, files),
        _ => return,
    };
    files.extend(names.map(|word| (kind, word)));
}

// The files behind `sed -i` and its script.
fn in_place<'a>(rest: &'a [String], files: &mut Vec<(Kind, &'a String)>) {
    let mut has_script = false;
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-e" => has_script = words.next().is_some(),
            "-E" | "-r" | "-n" => {}
            flag if flag.starts_with("-i") => {}
            // What it means is not followed here.
            flag if flag.starts_with('-') => return,
            _ if !has_script => has_script = true,
            _ => files.push((Kind::Modified, word)),
        }
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
                '$' if text.starts_with("$(") => return None,
                ';' if !text.starts_with(";;") => self.part_ends(b';', 1)?,
                '&' if text.starts_with("&>") => self.redirected(1)?,
                '&' if text.starts_with("&&") => self.part_ends(b'&', 2)?,
                '|' if !text.starts_with("||") && !text.starts_with("|&") => self.part_ends(b'|', 1)?,
                ';' | '&' | '|' => return None,
                '<' | '>' => self.redirected(0)?,
                '$' | '*' | '?' | '[' | '{' | '~' => self.letter(c, false),
                c => self.letter(c, true),
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

    fn letter(&mut self, c: char, is_plain: bool) -> usize {
        self.word().push(if is_plain { c } else { '\0' });
        c.len_utf8()
    }

    fn quoted(&mut self, text: &str) -> usize {
        self.word().push_str(text);
        text.len()
    }

    fn double(&mut self) -> Option<usize> {
        self.word();
        let mut letters = self.rest.char_indices().skip(1);
        while let Some((place, c)) = letters.next() {
            match c {
                '"' => return Some(place + 1),
                '`' => return None,
                '$' if self.rest[place..].starts_with("$(") => return None,
                '$' => _ = self.letter(c, false),
                '\\' => _ = self.letter(letters.next()?.1, true),
                c => _ = self.letter(c, true),
            }
        }
        None
    }

    fn escaped(&mut self) -> Option<usize> {
        let c = self.rest.chars().nth(1)?;
        if c != '\n' {
            self.letter(c, true);
        }
        Some(1 + c.len_utf8())
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
            let named = behind.trim_start_matches(['-', ' ']);
            let end =
                named.find(|c: char| !c.is_alphanumeric() && !"'\"\\_".contains(c)).unwrap_or(named.len());
            let is_second = self.here.replace(named[..end].replace(['\'', '"', '\\'], "")).is_some();
            return (!is_second).then_some(self.rest.len() - named.len() + end);
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
