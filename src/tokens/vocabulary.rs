//! A vocabulary as it is shipped: merge pairs in byte planes.
//!
//! The first 256 tokens are the single bytes. Every later one is two earlier ones joined, stored by their ranks, three
//! bytes each, as six planes: all low bytes of the left ranks, then the middle and the high ones, then the same of the
//! right ranks. So a compressor sees like beside like, and every token's bytes follow from the pairs.

#[cfg(not(feature = "tokens"))]
use crate::tokens::Encoding;

#[cfg(feature = "tokens")]
pub use with_engine::Vocabulary;

/// A vocabulary; without the feature `tokens` there can be none.
#[cfg(not(feature = "tokens"))]
#[derive(Debug)]
pub enum Vocabulary {}

#[cfg(not(feature = "tokens"))]
impl Vocabulary {
    /// The encoding whose tokens these are.
    pub fn encoding(&self) -> Encoding {
        match *self {}
    }

    pub(crate) fn count(&self, _text: &str) -> u32 {
        match *self {}
    }
}

#[cfg(feature = "tokens")]
mod with_engine {
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;
    use core::fmt;

    use rustc_hash::FxHashMap;
    use tiktoken_rs::{CoreBPE, O200K_BASE_PAT_STR};

    use crate::error::{Code, Error};
    use crate::tokens::Encoding;

    const SINGLE_BYTES: usize = 256;
    const PLANES: usize = 6;
    const O200K_BASE_TOKENS: usize = 199_998;

    // The longest real token has 128 bytes; bytes that are no vocabulary must not grow without bound.
    const LONGEST_TOKEN: usize = 256;

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
        /// `invalid_vocabulary` where the bytes are of another length, where a pair names a token that is not before
        /// it, where a token is too long, or where two are the same.
        pub fn from_bytes(planes: &[u8]) -> Result<Vocabulary, Error> {
            let mut ranks = FxHashMap::default();
            for (rank, bytes) in (0u32..).zip(token_bytes(planes)?) {
                if let Some(first) = ranks.insert(bytes, rank) {
                    return Err(invalid(format!(
                        "expected each token once, but found {rank} equal to {first} instead"
                    )));
                }
            }
            let engine = CoreBPE::new(ranks, FxHashMap::default(), O200K_BASE_PAT_STR).map_err(|error| {
                invalid(format!("expected a vocabulary, but found one that is refused: {error}"))
            })?;
            Ok(Vocabulary { engine })
        }

        /// The encoding whose tokens these are.
        pub fn encoding(&self) -> Encoding {
            Encoding::O200kBase
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

    fn invalid(message: String) -> Error {
        Error::new(Code::InvalidVocabulary, message)
    }

    fn token_bytes(planes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        // Only the length says which vocabulary this is: with another one, counts would bear the wrong name.
        let count = O200K_BASE_TOKENS - SINGLE_BYTES;
        if planes.len() != count * PLANES {
            let (expected, found) = (count * PLANES, planes.len());
            return Err(invalid(format!(
                "expected the {expected} bytes of o200k_base, but found {found} instead"
            )));
        }
        let mut tokens: Vec<Vec<u8>> = byte_order().map(|byte| [byte].to_vec()).collect();
        let rank = |token: usize, plane: usize| {
            let part = |plane: usize| planes[plane * count + token] as usize;
            part(plane) | part(plane + 1) << 8 | part(plane + 2) << 16
        };
        for token in 0..count {
            let (left, right) = (rank(token, 0), rank(token, 3));
            let (Some(head), Some(tail)) = (tokens.get(left), tokens.get(right)) else {
                let below = token + SINGLE_BYTES;
                return Err(invalid(format!(
                    "expected ranks below {below}, but found {left} and {right} instead"
                )));
            };
            let length = head.len() + tail.len();
            if length > LONGEST_TOKEN {
                return Err(invalid(format!(
                    "expected tokens of at most {LONGEST_TOKEN} bytes, but found one of {length} instead"
                )));
            }
            tokens.push([head.as_slice(), tail.as_slice()].concat());
        }
        Ok(tokens)
    }

    // The order of the single bytes since GPT-2: those that print, then the others.
    fn byte_order() -> impl Iterator<Item = u8> {
        let prints = |byte: &u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
        (0..=255).filter(prints).chain((0..=255).filter(move |byte| !prints(byte)))
    }
}
