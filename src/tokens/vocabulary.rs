//! A vocabulary in its shipped form: merge pairs in byte planes, 1.2 MB for o200k_base and 0.6 MB for cl100k_base,
//! made from tiktoken-rs by `tests/programs/planes.rs` and checked against it by a test.
//!
//! The first 256 tokens are the single bytes. Every later one joins two earlier ones, stored by their ranks, three
//! bytes each, in six planes: all low bytes of the left ranks, then the middle and the high ones, then the same for
//! the right ranks. So a compressor sees similar bytes together, and every token's bytes follow from the pairs.

#[cfg(not(feature = "tokens"))]
use crate::tokens::Encoding;

#[cfg(feature = "tokens")]
pub use with_engine::Vocabulary;

/// A vocabulary; without the feature `tokens` there is none.
#[cfg(not(feature = "tokens"))]
#[derive(Debug)]
pub enum Vocabulary {}

#[cfg(not(feature = "tokens"))]
impl Vocabulary {
    /// Returns the encoding of these tokens.
    pub fn encoding(&self) -> Encoding {
        match *self {}
    }

    /// Counts the tokens of a text.
    pub fn count(&self, _text: &str) -> u32 {
        match *self {}
    }

    /// Counts the tokens of a text; beyond `limit`, returns some number above it.
    pub fn count_up_to(&self, _text: &str, _limit: u32) -> u32 {
        match *self {}
    }

    /// Like `count_up_to`, for the bytes of a text.
    pub fn count_bytes(&self, _text: &[u8], _limit: u32) -> u32 {
        match *self {}
    }
}

#[cfg(feature = "tokens")]
mod with_engine {
    use alloc::format;
    use alloc::vec::Vec;
    use core::fmt;

    use xxhash_rust::xxh64::xxh64;

    use crate::error::{Code, Error};
    use crate::tokens::Encoding;
    use crate::tokens::classes::Classes;
    use crate::tokens::merge;
    use crate::tokens::pairs::Pairs;
    use crate::tokens::pieces::{Pattern, PieceCutter};
    use crate::tokens::words::TokenTable;

    const SINGLE_BYTES: usize = 256;
    const PLANE_COUNT: usize = 6;

    // The known vocabularies: with another one's bytes, counts would have the wrong name.
    const KNOWN_VOCABULARIES: [KnownVocabulary; 2] = [
        KnownVocabulary {
            encoding: Encoding::O200kBase,
            pattern: Pattern::O200k,
            hash: 0xb6f6_0282_0311_bfc4,
        },
        KnownVocabulary {
            encoding: Encoding::Cl100kBase,
            pattern: Pattern::Cl100k,
            hash: 0x9cc5_efd7_814f_2a21,
        },
    ];

    struct KnownVocabulary {
        encoding: Encoding,
        pattern: Pattern,
        // XXH64 of the planes, which identifies the vocabulary and shows that no bit differs.
        hash: u64,
    }

    fn identify(planes: &[u8]) -> Result<KnownVocabulary, Error> {
        let hash = xxh64(planes, 0);
        KNOWN_VOCABULARIES.into_iter().find(|known| known.hash == hash).ok_or_else(|| {
            let found = planes.len();
            let message =
                format!("expected the bytes of a known vocabulary, but found {found} others ({hash:016x})");
            Error::new(Code::InvalidVocabulary, message)
        })
    }

    /// A loaded vocabulary.
    pub struct Vocabulary {
        encoding: Encoding,
        pattern: Pattern,
        classes: Classes,
        words: TokenTable,
        pairs: Pairs,
        bytes: [u32; SINGLE_BYTES],
    }

    impl Vocabulary {
        /// Returns the vocabulary of o200k_base compiled into the library.
        #[cfg(feature = "o200k")]
        pub fn o200k_base() -> Vocabulary {
            Vocabulary::from_bytes(include_bytes!("o200k_base.planes"))
                .expect("the planes are checked by a test")
        }

        /// Returns the vocabulary of cl100k_base compiled into the library.
        #[cfg(feature = "cl100k")]
        pub fn cl100k_base() -> Vocabulary {
            Vocabulary::from_bytes(include_bytes!("cl100k_base.planes"))
                .expect("the planes are checked by a test")
        }

        /// Loads the planes of o200k_base or cl100k_base, recognized by their bytes.
        ///
        /// # Errors
        /// `invalid_vocabulary` if the bytes are those of neither.
        pub fn from_bytes(planes: &[u8]) -> Result<Vocabulary, Error> {
            let KnownVocabulary { encoding, pattern, .. } = identify(planes)?;
            let mut bytes = [0; SINGLE_BYTES];
            (0..).zip(byte_order()).for_each(|(rank, byte)| bytes[usize::from(byte)] = rank);
            let (words, pairs) = read_planes(planes);
            Ok(Vocabulary { encoding, pattern, classes: Classes::new(), words, pairs, bytes })
        }

        /// Returns the encoding of these planes.
        ///
        /// # Errors
        /// `invalid_vocabulary` if the bytes are those of neither.
        pub fn encoding_of(planes: &[u8]) -> Result<Encoding, Error> {
            identify(planes).map(|known| known.encoding)
        }

        /// Returns the encoding of these tokens.
        pub fn encoding(&self) -> Encoding {
            self.encoding
        }

        /// Counts the tokens of a text. Special tokens in it count as text.
        pub fn count(&self, text: &str) -> u32 {
            self.count_up_to(text, u32::MAX)
        }

        /// Counts the tokens of a text; beyond `limit`, returns some number above it.
        pub fn count_up_to(&self, text: &str, limit: u32) -> u32 {
            self.count_bytes(text.as_bytes(), limit)
        }

        /// Like [`Vocabulary::count_up_to`], for the bytes of a text. Bytes that are no text give some number.
        pub fn count_bytes(&self, text: &[u8], limit: u32) -> u32 {
            let pieces = PieceCutter { text, classes: &self.classes, pattern: self.pattern };
            let (mut start, mut count) = (0, 0u32);
            while start < text.len() && count <= limit {
                let end = pieces.piece_end(start);
                count = count.saturating_add(if self.words.has(text, start, end) {
                    1
                } else {
                    self.count_merged(&text[start..end], limit - count)
                });
                start = end;
            }
            count
        }

        fn count_merged(&self, piece: &[u8], limit: u32) -> u32 {
            if piece.len() > merge::MAX_MASKED_PARTS {
                return merge::merge_many(piece, &self.bytes, &self.pairs, limit);
            }
            let mut ranks = [0; merge::MAX_MASKED_PARTS];
            ranks.iter_mut().zip(piece).for_each(|(rank, byte)| *rank = self.bytes[usize::from(*byte)]);
            merge::merge_few(&mut ranks[..piece.len()], &self.pairs)
        }
    }

    impl fmt::Debug for Vocabulary {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "Vocabulary({})", self.encoding.as_str())
        }
    }

    fn read_planes(planes: &[u8]) -> (TokenTable, Pairs) {
        let joined = read_pairs(planes);
        let mut pairs = Pairs::new(joined.len());
        for (both, (left, right)) in (SINGLE_BYTES as u32..).zip(&joined) {
            pairs.insert(*left, *right, both);
        }
        (TokenTable::new(byte_order(), joined.into_iter()), pairs)
    }

    fn read_pairs(planes: &[u8]) -> Vec<(u32, u32)> {
        let count = planes.len() / PLANE_COUNT;
        let rank = |token: usize, side: usize| {
            let byte = |plane: usize| planes[(side + plane) * count + token];
            u32::from_le_bytes([byte(0), byte(1), byte(2), 0])
        };
        (0..count).map(|token| (rank(token, 0), rank(token, 3))).collect()
    }

    // The order of single bytes since GPT-2: printable ones first, then the others.
    fn byte_order() -> impl Iterator<Item = u8> {
        let prints = |byte: &u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
        (0..=255).filter(prints).chain((0..=255).filter(move |byte| !prints(byte)))
    }
}
