//! Arithmetic that gives the same bits on every host.

/// The natural logarithm of a positive number, to about its seventh digit. Hosts differ in the last bit of theirs, so
/// ties would break differently.
pub(crate) fn ln(number: f32) -> f32 {
    const LN_2: f64 = core::f64::consts::LN_2;
    let bits = f64::from(number).to_bits();
    let exponent = (bits >> 52) as i64 - 1023;
    let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    // atanh's series: at most a third of the way, its eighth term is below a millionth.
    let part = (mantissa - 1.0) / (mantissa + 1.0);
    let square = part * part;
    let mut sum = 0.0;
    for odd in (0..8).rev() {
        sum = sum * square + 1.0 / f64::from(2 * odd + 1);
    }
    (2.0 * part * sum + exponent as f64 * LN_2) as f32
}

/// The length that each byte stands for, in steps of an eighth of a power of two. It is a table because powers
/// are not the same bits everywhere.
const LENGTHS: [f32; 256] = {
    const POWERS_OF_EIGHTHS: [f32; 8] = [
        1.0,
        1.090_507_7,
        1.189_207_1,
        1.296_839_6,
        core::f32::consts::SQRT_2,
        1.542_210_8,
        1.681_792_9,
        1.834_008_1,
    ];
    let mut table = [0.0; 256];
    let mut at = 0;
    while at < 256 {
        table[at] = POWERS_OF_EIGHTHS[at % 8] * (1_u64 << (at / 8)) as f32 - 1.0;
        at += 1;
    }
    table
};

/// Encodes a length as a byte, rounded down by at most a twelfth.
pub(crate) fn length_byte(length: u64) -> u8 {
    LENGTHS.partition_point(|one| *one <= length as f32).saturating_sub(1) as u8
}

/// Decodes [`length_byte`]: about the original length.
pub(crate) fn length_of(byte: u8) -> f32 {
    LENGTHS[usize::from(byte)]
}

/// Encodes a size in bytes as one byte, rounded up by at most an eighth.
pub(crate) fn size_byte(size: u64) -> u8 {
    // A little more, for the digits that a float loses.
    let size = (size + size / 1024) as f32;
    LENGTHS.partition_point(|one| *one < size).min(255) as u8
}

/// Decodes [`size_byte`]: at least the original size.
pub(crate) fn size_of(byte: u8) -> u64 {
    libm::ceilf(LENGTHS[usize::from(byte)]) as u64
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_logarithm_is_right_to_its_seventh_digit(number in 1e-30_f32..1e30) {
            let right = f64::from(number).ln();
            prop_assert!((f64::from(ln(number)) - right).abs() <= 1e-7 * right.abs().max(1.0));
        }

        #[test]
        fn a_length_is_kept_to_a_twelfth(length in 0_u64..u64::from(u32::MAX)) {
            let kept = length_of(length_byte(length));
            prop_assert!(kept <= length as f32 && length as f32 + 1.0 <= (kept + 1.0) * 1.0906);
        }

        #[test]
        fn a_size_is_never_too_small(size in 0_u64..1 << 31) {
            let kept = size_of(size_byte(size));
            prop_assert!(kept >= size && kept <= size + size / 8 + 1);
        }
    }

    #[test]
    fn small_lengths_keep_their_order() {
        let bytes: Vec<u8> = (0..12).map(length_byte).collect();
        assert!(bytes.windows(2).all(|two| two[0] < two[1]));
        assert_eq!(length_of(length_byte(1)), 1.0);
    }
}
