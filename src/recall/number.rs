//! Numbers that are the same bits on every host.

/// The natural logarithm of a positive number, to about its seventh digit: hosts differ in the last bit of theirs, and ties
/// would break differently.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_logarithm_is_right_to_its_seventh_digit(number in 1e-30_f32..1e30) {
            let right = f64::from(number).ln();
            prop_assert!((f64::from(ln(number)) - right).abs() <= 1e-7 * right.abs().max(1.0));
        }
    }
}
