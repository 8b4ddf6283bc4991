//! A log that knows what was written into it.

/// A log, and each record in it.
#[derive(Default)]
pub struct KnownLog {
    pub name: String,
    pub log: Vec<u8>,
    records: Vec<KnownRecord>,
}

struct KnownRecord {
    start: usize,
    end: usize,
    // Up to where a cut may lie so that the record still stands by itself.
    intact_until: usize,
}

impl KnownLog {
    pub fn new(name: &str) -> KnownLog {
        KnownLog { name: name.into(), ..KnownLog::default() }
    }

    /// A record, without what is around it.
    pub fn record(&mut self, json: &str) -> &mut KnownLog {
        let start = self.log.len();
        self.log.extend(json.as_bytes());
        self.records.push(KnownRecord { start, end: self.log.len(), intact_until: usize::MAX });
        self
    }

    /// Bytes that are no record.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut KnownLog {
        self.log.extend(bytes);
        self
    }

    /// A record and its line feed.
    pub fn line(&mut self, json: &str) -> &mut KnownLog {
        self.record(json).bytes(b"\n")
    }

    /// The last record has no checksum, and something follows on its line: from there on nobody can believe it.
    pub fn lose_last(&mut self) -> &mut KnownLog {
        let last = self.records.last_mut().expect("a record before it");
        last.intact_until = last.end;
        self
    }

    /// What a reader finds if the log ends at `cut`.
    pub fn complete_at(&self, cut: usize) -> Vec<String> {
        let is_complete = |known: &&KnownRecord| known.end <= cut && cut <= known.intact_until;
        let json =
            |known: &KnownRecord| String::from_utf8_lossy(&self.log[known.start..known.end]).into_owned();
        self.records.iter().filter(is_complete).map(json).collect()
    }
}
