//! A log that knows what was written into it.

/// A log, and each record in it.
#[derive(Default)]
pub struct Written {
    pub name: String,
    pub log: Vec<u8>,
    records: Vec<Known>,
}

struct Known {
    start: usize,
    end: usize,
    // Up to where a cut may lie so that the record still stands by itself.
    until: usize,
}

impl Written {
    pub fn new(name: &str) -> Written {
        Written { name: name.into(), ..Written::default() }
    }

    /// A record, without what is around it.
    pub fn record(&mut self, json: &str) -> &mut Written {
        let start = self.log.len();
        self.log.extend(json.as_bytes());
        self.records.push(Known { start, end: self.log.len(), until: usize::MAX });
        self
    }

    /// Bytes that are no record.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Written {
        self.log.extend(bytes);
        self
    }

    /// A record and its line feed.
    pub fn line(&mut self, json: &str) -> &mut Written {
        self.record(json).bytes(b"\n")
    }

    /// The last record has no checksum, and something follows on its line: from there on nobody can believe it.
    pub fn lost(&mut self) -> &mut Written {
        let last = self.records.last_mut().expect("a record before it");
        last.until = last.end;
        self
    }

    /// What a reader finds if the log ends at `cut`.
    pub fn complete_at(&self, cut: usize) -> Vec<String> {
        let is_complete = |known: &&Known| known.end <= cut && cut <= known.until;
        let json = |known: &Known| String::from_utf8_lossy(&self.log[known.start..known.end]).into_owned();
        self.records.iter().filter(is_complete).map(json).collect()
    }
}
