//! What is said, as it is written into a transcript while it is still being said.

use alloc::vec::Vec;

use super::mark::BEGINNINGS;

/// Words on their way into a transcript, in pieces of any size.
///
/// ```
/// use leftoff::ask::Recorder;
///
/// let mut recorder = Recorder::default();
/// let mut written = recorder.feed(b"Sure.\n## Ques");
/// assert_eq!(written, b"Sure.\n");
/// written.extend(recorder.feed(b"tion 1\n"));
/// written.extend(recorder.end());
/// assert_eq!(written, b"Sure.\n\\## Question 1\n");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    // The beginning of a line, as long as it can become a mark.
    held_back: Vec<u8>,
    is_inside: bool,
}

impl Recorder {
    /// Takes the next bytes; gives those to append. The beginning of a line is kept back until it is certain that it is no mark.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut written = Vec::with_capacity(bytes.len());
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.is_inside {
                written.extend_from_slice(line);
            } else {
                self.held_back.extend_from_slice(line);
                match classify_line(&self.held_back) {
                    LineKind::Open => continue,
                    LineKind::Mark => written.push(b'\\'),
                    LineKind::Plain => {}
                }
                written.append(&mut self.held_back);
            }
            self.is_inside = line.last() != Some(&b'\n');
        }
        written
    }

    /// How many of the last bytes are kept back.
    pub fn held_byte_count(&self) -> usize {
        self.held_back.len()
    }

    /// There are no more; gives what was kept back.
    pub fn end(&mut self) -> Vec<u8> {
        self.is_inside = false;
        core::mem::take(&mut self.held_back)
    }
}

enum LineKind {
    /// Nobody knows yet.
    Open,
    Mark,
    Plain,
}

// A mark, or one with backslashes before it: each of these gets one more.
fn classify_line(line: &[u8]) -> LineKind {
    let bare = &line[line.iter().take_while(|byte| **byte == b'\\').count()..];
    if BEGINNINGS.iter().any(|beginning| bare.starts_with(beginning.as_bytes())) {
        LineKind::Mark
    } else if BEGINNINGS.iter().any(|beginning| beginning.as_bytes().starts_with(bare)) {
        LineKind::Open
    } else {
        LineKind::Plain
    }
}
