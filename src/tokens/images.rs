//! The cost of an image for a model: by the provider's published rule, from the size in pixels stated in the image.
//! The rules are those of November 2026.

/// A provider's rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Images {
    /// OpenAI: scaled to fit 2048 pixels, the shorter side to 768, then a base cost and a cost for each square of 512.
    Tiles(u64, u64),
    /// OpenAI's newer models: a cost in hundredths for each square of 32, of which at most a given number count.
    Patches(u64, u64),
    /// Anthropic: one token for 750 pixels, scaled to fit a given side and a given number of tokens.
    Area(u64, u64),
    /// Gemini 2: 258 for a small image, and for each square that a larger one is cut into.
    Crops,
    /// Gemini 3: a fixed cost for each image.
    Flat(u64),
}

// For an unknown provider the most expensive rule counts: what fits then, fits everywhere.
const EXPENSIVE_RULES: [Images; 3] = [Images::Tiles(85, 170), Images::Area(1568, 1600), Images::Crops];

impl Images {
    /// Parses a rule in the table of models: a letter and its numbers, as in `T85:170`.
    pub(super) fn parse(word: &str) -> Option<Images> {
        let (kind, numbers) = word.split_at_checked(1)?;
        let (first, second) = numbers.split_once(':').unwrap_or((numbers, ""));
        let (first, second) = (first.parse().unwrap_or_default(), second.parse().unwrap_or_default());
        match kind {
            "T" => Some(Images::Tiles(first, second)),
            "P" => Some(Images::Patches(first, second)),
            "A" => Some(Images::Area(first, second)),
            "C" => Some(Images::Crops),
            "F" => Some(Images::Flat(first)),
            _ => None,
        }
    }

    /// Returns the cost of an image of this size.
    pub fn cost(self, (wide, high): (u32, u32)) -> u32 {
        let (wide, high) = (u64::from(wide.max(1)), u64::from(high.max(1)));
        let tokens = match self {
            Images::Tiles(base, tile) => {
                let (wide, high) = fit_into(wide, high, 2048, wide.max(high));
                let (wide, high) = fit_into(wide, high, 768, wide.min(high));
                base + tile * squares(wide, high, 512)
            }
            Images::Patches(hundredths, most) => {
                let all = squares(wide, high, 32);
                let patches = if all > most { shrink_to_patches(wide, high, most) } else { all };
                (patches * hundredths).div_ceil(100)
            }
            Images::Area(edge, most) => {
                let (wide, high) = fit_into(wide, high, edge, wide.max(high));
                (wide * high).div_ceil(750).min(most)
            }
            Images::Crops if wide.max(high) <= 384 => 258,
            Images::Crops => 258 * squares(wide, high, (wide.min(high) * 2 / 3).clamp(256, 768)),
            Images::Flat(tokens) => tokens,
        };
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }
}

/// Returns the cost of an image in base64 by this rule, or by the most expensive; `None` if it states no size.
pub(super) fn cost(base64: &str, rule: Option<Images>) -> Option<u32> {
    let size = measure_size(base64.as_bytes())?;
    let all = rule.as_ref().map_or(&EXPENSIVE_RULES[..], core::slice::from_ref);
    all.iter().map(|rule| rule.cost(size)).max()
}

// Scales down if `side` exceeds the limit.
fn fit_into(wide: u64, high: u64, most: u64, side: u64) -> (u64, u64) {
    let to = |length: u64| (length * most + side / 2) / side;
    if side > most { (to(wide).max(1), to(high).max(1)) } else { (wide, high) }
}

fn squares(wide: u64, high: u64, side: u64) -> u64 {
    wide.div_ceil(side) * high.div_ceil(side)
}

// Scales down to at most this many patches, with a whole number of them along one side.
fn shrink_to_patches(wide: u64, high: u64, most: u64) -> u64 {
    let along = |one: u64, other: u64| {
        let whole = root(most * one / other).max(1);
        whole * (whole * other).div_ceil(one)
    };
    along(wide, high).min(along(high, wide)).min(most)
}

// Returns the integer square root. The standard library's code is as large as all of this file.
fn root(square: u64) -> u64 {
    (0..32).rev().map(|bit| 1 << bit).fold(0, |root, bit| {
        let more = root | bit;
        if more * more <= square { more } else { root }
    })
}

/// Detects the type of an image or a document by its first bytes.
pub(crate) fn detect_type(base64: &[u8]) -> Option<&'static str> {
    let four = |at: usize| number(base64, at, 4).unwrap_or_default();
    match (four(0), four(8)) {
        (0x8950_4e47, _) => Some("image/png"),
        (0x4749_4638, _) => Some("image/gif"),
        (0x5249_4646, 0x5745_4250) => Some("image/webp"),
        (0x2550_4446, _) => Some("application/pdf"),
        (0x4949_2a00 | 0x4d4d_002a, _) => Some("image/tiff"),
        (0x3c73_7667, _) => Some("image/svg+xml"),
        (_, 0x6865_6963 | 0x6865_6978 | 0x6d69_6631) if four(4) == 0x6674_7970 => Some("image/heic"),
        (_, 0x6176_6966) if four(4) == 0x6674_7970 => Some("image/avif"),
        (start, _) if start >> 8 == 0x00ff_d8ff => Some("image/jpeg"),
        (start, _) if start >> 16 == 0x424d => Some("image/bmp"),
        _ => None,
    }
}

/// Returns width and height, as stated in PNG, GIF, WebP and JPEG.
pub(crate) fn measure_size(base64: &[u8]) -> Option<(u32, u32)> {
    let big = |at: usize, bytes: usize| number(base64, at, bytes);
    let little = |at: usize, bytes: usize| Some(number(base64, at, bytes)?.swap_bytes() >> (32 - 8 * bytes));
    let size = match (big(0, 4)?, big(8, 4).unwrap_or_default()) {
        (0x8950_4e47, _) => (big(16, 4)?, big(20, 4)?),
        (0x4749_4638, _) => (little(6, 2)?, little(8, 2)?),
        (0x5249_4646, 0x5745_4250) => match big(12, 4)? {
            0x5650_3858 => (little(24, 3)? + 1, little(27, 3)? + 1),
            0x5650_384c => (little(21, 4)? % 0x4000 + 1, little(21, 4)? / 0x4000 % 0x4000 + 1),
            0x5650_3820 => (little(26, 2)? % 0x4000, little(28, 2)? % 0x4000),
            _ => return None,
        },
        (start, _) if start >> 16 == 0xffd8 => {
            let mut at = 2;
            loop {
                match big(at, 2)? {
                    // A segment in this range begins a frame and has a size, except for these three tables.
                    0xffff => at += 1,
                    0xffc4 | 0xffc8 | 0xffcc => at += 2 + big(at + 2, 2)?.max(2) as usize,
                    0xffc0..=0xffcf => break (big(at + 7, 2)?, big(at + 5, 2)?),
                    0xff01 | 0xffd0..=0xffd7 => at += 2,
                    0xff02..=0xffff => at += 2 + big(at + 2, 2)?.max(2) as usize,
                    _ => return None,
                }
            }
        }
        _ => return None,
    };
    (size.0 > 0 && size.1 > 0).then_some(size)
}

// Reads a big-endian number from the decoded bytes.
#[inline(never)]
fn number(base64: &[u8], start: usize, bytes: usize) -> Option<u32> {
    let mut sum = 0;
    for at in start..start + bytes {
        let (digit, rest) = (at / 3 * 4 + at % 3, at % 3);
        let pair = value(*base64.get(digit)?)? << 6 | value(*base64.get(digit + 1)?)?;
        sum = sum << 8 | (pair >> (4 - 2 * rest) & 0xff);
    }
    Some(sum)
}

fn value(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    const GPT_4_RULE: Images = Images::Tiles(85, 170);
    const MINI_RULE: Images = Images::Patches(162, 1536);
    const CLAUDE_RULE: Images = Images::Area(1568, 1600);

    // The providers' own examples, and some computed by hand from their rules.
    #[test]
    fn an_image_costs_what_its_provider_says() {
        let check = |rule: Images, size, tokens| assert_eq!(rule.cost(size), tokens, "{rule:?} {size:?}");
        check(GPT_4_RULE, (1024, 1024), 765);
        check(GPT_4_RULE, (2048, 4096), 1105);
        check(GPT_4_RULE, (512, 512), 255);
        // 1365 by 768: three tiles by two.
        check(GPT_4_RULE, (1920, 1080), 85 + 6 * 170);
        check(Images::Tiles(70, 140), (1024, 1024), 70 + 4 * 140);
        // 33 by 44 patches are what 1,536 leave of 57 by 75.
        check(Images::Patches(100, 1536), (1800, 2400), 1452);
        check(Images::Patches(100, 1536), (1024, 1024), 1024);
        check(MINI_RULE, (1024, 1024), 1659);
        check(CLAUDE_RULE, (200, 200), 54);
        check(CLAUDE_RULE, (1000, 1000), 1334);
        check(CLAUDE_RULE, (1092, 1092), 1590);
        check(CLAUDE_RULE, (3000, 3000), 1600);
        // 1568 by 157.
        check(CLAUDE_RULE, (10_000, 1000), 329);
        check(Images::Crops, (384, 384), 258);
        // Squares of 360: three by two.
        check(Images::Crops, (960, 540), 1548);
        // Squares of 768, the largest: four by three.
        check(Images::Crops, (3000, 2000), 12 * 258);
        check(Images::Flat(1120), (3000, 2000), 1120);
    }

    #[test]
    fn no_size_is_too_large_for_a_rule() {
        for rule in [GPT_4_RULE, MINI_RULE, CLAUDE_RULE, Images::Crops, Images::Flat(1)] {
            for size in [(u32::MAX, u32::MAX), (u32::MAX, 1), (1, u32::MAX), (1, 1), (0, 0)] {
                assert!(rule.cost(size) > 0, "{rule:?} {size:?}");
            }
        }
    }

    fn check_size(file: &[&[u8]], expected: Option<(u32, u32)>) {
        assert_eq!(measure_size(STANDARD.encode(file.concat()).as_bytes()), expected, "{file:x?}");
    }

    #[test]
    fn the_size_is_read_from_the_head_of_each_kind() {
        check_size(&[b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x07\x80\0\0\x04\x38\x08\x06"], Some((1920, 1080)));
        check_size(&[b"GIF89a\x80\x07\x38\x04\xf7"], Some((1920, 1080)));
        check_size(&[b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x7f\x07\0\x37\x04\0"], Some((1920, 1080)));
        // 1,919 and 1,079 in 14 bits each.
        let lossless = (1919_u32 | 1079 << 14).to_le_bytes();
        check_size(&[b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f", &lossless], Some((1920, 1080)));
        check_size(&[b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x80\x07\x38\x04"], Some((1920, 1080)));
        let frame = b"\xff\xc2\0\x11\x08\x04\x38\x07\x80\x03";
        check_size(&[b"\xff\xd8\xff\xe0\0\x04JF", frame, b"\0\0\0"], Some((1920, 1080)));
        // After an embedded picture, tables and padding.
        let within = [&b"\xff\xe1\xff\xfe"[..], &Vec::from([0xff; 0xfffc])].concat();
        check_size(&[b"\xff\xd8", &within, b"\xff\xc4\0\x03\0\xff\xff", frame], Some((1920, 1080)));
    }

    #[test]
    fn what_says_no_size_has_none() {
        for file in [
            &b""[..],
            b"\x89PNG",
            b"GIF89a\0\0\0\0\0\0",
            b"RIFF\0\0\0\0WAVEfmt ",
            b"\xff\xd8\xff\xd9",
            b"\xff\xd8\xff\xe0\0\0",
            b"%PDF-1.7 and so on",
        ] {
            check_size(&[file], None);
        }
        assert_eq!(measure_size("no base64, and no image at all".as_bytes()), None);
    }
}
