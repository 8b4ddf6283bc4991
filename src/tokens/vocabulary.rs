//! A vocabulary as it is shipped: merge pairs in byte planes.
//!
//! The first 256 tokens are the single bytes. Every later one is two earlier ones joined, stored by their ranks, three
//! bytes each, as six planes: all low bytes of the left ranks, then the middle and the high ones, then the same of the
//! right ranks. So a compressor sees like beside like, and every token's bytes follow from the pairs.

#[cfg(feature = "tokens")]
pub use with_engine::Vocabulary;

/// A vocabulary; without the feature `tokens` there can be none.
#[cfg(not(feature = "tokens"))]
#[derive(Debug)]
pub enum Vocabulary {}

#[cfg(not(feature = "tokens"))]
impl Vocabulary {
    pub(crate) fn count(&self, _text: &str) -> u32 {
        match *self {}
    }
}

#[cfg(feature = "tokens")]
mod with_engine {
    use alloc::format;
    use alloc::vec::Vec;
    use core::fmt;

    use rustc_hash::FxHashMap;
    use tiktoken_rs::{CoreBPE, O200K_BASE_PAT_STR};

    use crate::error::{Code, Error};

    const SINGLE_BYTES: usize = 256;
    const PLANES: usize = 6;

    /// A loaded vocabulary: o200k_base.
    pub struct Vocabulary {
        engine: CoreBPE,
    }

    impl Vocabulary {
        /// The vocabulary inside the library.
        #[cfg(feature = "o200k")]
        pub fn o200k_base() -> Vocabulary {
            Vocabulary::from_bytes(include_bytes!("o200k_base.planes"))
                .expect("the planes are checked by a test")
        }

        /// Reads the planes of o200k_base.
        ///
        /// # Errors
        /// `invalid_vocabulary` where the bytes are no planes.
        pub fn from_bytes(planes: &[u8]) -> Result<Vocabulary, Error> {
            let invalid = |message| Error::new(Code::InvalidVocabulary, message);
            let tokens = token_bytes(planes)?;
            let mut ranks = FxHashMap::default();
            for (rank, bytes) in tokens.into_iter().enumerate() {
                ranks.insert(bytes, rank as u32);
            }
            let engine = CoreBPE::new(ranks, FxHashMap::default(), O200K_BASE_PAT_STR).map_err(|error| {
                invalid(format!("expected a vocabulary, but found one that is refused: {error}"))
            })?;
            Ok(Vocabulary { engine })
        }

        pub(crate) fn count(&self, text: &str) -> u32 {
            u32::try_from(self.engine.encode_ordinary(text).len()).unwrap_or(u32::MAX)
        }
    }

    impl fmt::Debug for Vocabulary {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Vocabulary(o200k_base)")
        }
    }

    fn token_bytes(planes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let invalid = |message| Error::new(Code::InvalidVocabulary, message);
        let count = planes.len() / PLANES;
        if !planes.len().is_multiple_of(PLANES) || count == 0 || count > 1 << 24 {
            return Err(invalid(format!(
                "expected six planes of merge pairs, but found {} bytes instead",
                planes.len()
            )));
        }
        let mut tokens: Vec<Vec<u8>> = byte_order().map(|byte| [byte].to_vec()).collect();
        let rank = |token: usize, plane: usize| {
            let part = |plane: usize| planes[plane * count + token] as usize;
            part(plane) | part(plane + 1) << 8 | part(plane + 2) << 16
        };
        for token in 0..count {
            let (left, right) = (rank(token, 0), rank(token, 3));
            let (Some(left), Some(right)) = (tokens.get(left), tokens.get(right)) else {
                let message = format!(
                    "expected ranks below {}, but found {left} and {right} instead",
                    token + SINGLE_BYTES
                );
                return Err(invalid(message));
            };
            // The longest real token has 128 bytes; bytes that are no vocabulary must not grow without bound.
            if left.len() + right.len() > 1024 {
                return Err(invalid(format!(
                    "expected tokens of at most 1024 bytes, but found a longer one at {token}"
                )));
            }
            let joined = [left.as_slice(), right.as_slice()].concat();
            tokens.push(joined);
        }
        Ok(tokens)
    }

    // The order of the single bytes since GPT-2: those that print, then the others.
    fn byte_order() -> impl Iterator<Item = u8> {
        let prints = |byte: &u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
        (0..=255).filter(prints).chain((0..=255).filter(move |byte| !prints(byte)))
    }
}
