//! Writes spoken text into a transcript while it is still arriving.

use alloc::vec::Vec;

use super::mark::MARK_BEGINNINGS;

/// Takes text in pieces of any size and returns what to append to the transcript.
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
    // The beginning of a line, as long as it may become a mark.
    held_back: Vec<u8>,
    is_inside: bool,
}

impl Recorder {
    /// Takes the next bytes and returns those to append. The beginning of a line is held back until it cannot be a
    /// mark.
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

    /// Returns how many of the last bytes are held back.
    pub fn held_byte_count(&self) -> usize {
        self.held_back.len()
    }

    /// Ends the text and returns what was held back.
    pub fn end(&mut self) -> Vec<u8> {
        self.is_inside = false;
        core::mem::take(&mut self.held_back)
    }
}

enum LineKind {
    /// Undecided so far.
    Open,
    Mark,
    Plain,
}

// Recognizes a mark, or one after backslashes: such a line gets one backslash more.
fn classify_line(line: &[u8]) -> LineKind {
    let bare = &line[line.iter().take_while(|byte| **byte == b'\\').count()..];
    if MARK_BEGINNINGS.iter().any(|beginning| bare.starts_with(beginning.as_bytes())) {
        LineKind::Mark
    } else if MARK_BEGINNINGS.iter().any(|beginning| beginning.as_bytes().starts_with(bare)) {
        LineKind::Open
    } else {
        LineKind::Plain
    }
}
