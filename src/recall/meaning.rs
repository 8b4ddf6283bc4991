//! Orders texts by meaning: by the caller's vectors, fused with the order by words. Vectors find nothing that no word
//! finds.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The most texts that are ordered by meaning.
pub(crate) const MAX_TEXTS: usize = 64;
// The usual constant of reciprocal rank fusion: the first few places count little more than those behind them.
const RANK_FUSION_CONSTANT: f32 = 60.0;

/// Returns how near each text is to the first one, the question. `bytes` holds for each text the length of its
/// vector and the vector's numbers, all 32 bits, little-endian.
pub(crate) fn measure_nearness(bytes: &[u8], texts: usize) -> Result<Vec<f32>, String> {
    let wrong =
        |found: String| Err(format!("expected {texts} vectors of one length, but found {found} instead"));
    let mut vectors: Vec<Vec<f32>> = Vec::new();
    let mut rest = bytes;
    while let Some((length, behind)) = rest.split_first_chunk::<4>() {
        let length = (u32::from_le_bytes(*length) as usize).saturating_mul(4);
        let Some((vector, behind)) = behind.split_at_checked(length) else {
            return wrong("one that ends too early".into());
        };
        let numbers =
            vector.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        vectors.push(numbers.collect());
        rest = behind;
    }
    if vectors.len() != texts {
        return wrong(vectors.len().to_string());
    }
    let Some((question, others)) = vectors.split_first() else { return Ok(Vec::new()) };
    if let Some(other) = vectors.iter().find(|vector| vector.len() != question.len() || vector.is_empty()) {
        return wrong(format!("{} and {} numbers", question.len(), other.len()));
    }
    if vectors.iter().flatten().any(|number| !number.is_finite()) {
        return wrong("what is no number".into());
    }
    Ok(others.iter().map(|other| cosine(question, other)).collect())
}

// From -1 to 1; a vector of zeros has no direction.
fn cosine(one: &[f32], other: &[f32]) -> f32 {
    let dot = |one: &[f32], other: &[f32]| {
        one.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
    };
    let size = libm::sqrt(dot(one, one)) * libm::sqrt(dot(other, other));
    if size > 0.0 { (dot(one, other) / size) as f32 } else { 0.0 }
}

/// Fuses the order by words, in which the texts come, with the order by nearness: a text that is first in one and far
/// behind in the other ranks behind a text near the front of both.
pub(crate) fn fuse_orders(nearness: &[f32]) -> Vec<usize> {
    let mut near: Vec<usize> = (0..nearness.len()).collect();
    near.sort_by(|a, b| nearness[*b].total_cmp(&nearness[*a]));
    let mut ranks = Vec::from_iter(near.iter().map(|_| 0.0));
    for (rank, text) in near.iter().enumerate() {
        ranks[*text] =
            1.0 / (RANK_FUSION_CONSTANT + rank as f32) + 1.0 / (RANK_FUSION_CONSTANT + *text as f32);
    }
    let mut order: Vec<usize> = (0..nearness.len()).collect();
    order.sort_by(|a, b| ranks[*b].total_cmp(&ranks[*a]));
    order
}

/// Sorts the first things by the fused order; those without a nearness keep their places.
pub(crate) fn reorder_by_nearness<T>(things: &mut Vec<T>, nearness: &[f32]) {
    let behind = things.split_off(nearness.len().min(things.len()));
    let mut first: Vec<Option<T>> = core::mem::take(things).into_iter().map(Some).collect();
    let order = fuse_orders(&nearness[..first.len()]);
    things.extend(order.into_iter().filter_map(|place| first[place].take()));
    things.extend(behind);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pack_vectors(vectors: &[Vec<f32>]) -> Vec<u8> {
        let numbers =
            |vector: &Vec<f32>| vector.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
        vectors
            .iter()
            .flat_map(|vector| [(vector.len() as u32).to_le_bytes().to_vec(), numbers(vector)].concat())
            .collect()
    }

    #[test]
    fn what_points_the_same_way_is_near_however_long_it_is() {
        let vectors = [[1.0, 0.0], [9.0, 0.0], [0.0, 2.0], [-3.0, 0.0], [0.0, 0.0]].map(Vec::from);
        assert_eq!(measure_nearness(&pack_vectors(&vectors), 5), Ok(Vec::from([1.0, 0.0, -1.0, 0.0])));
    }

    #[test]
    fn what_are_no_vectors_of_the_texts_says_so() {
        let two = [Vec::from([1.0, 2.0]), Vec::from([1.0, 2.0])];
        let check = |bytes: &[u8], found: &str| {
            let message = format!("expected 2 vectors of one length, but found {found} instead");
            assert_eq!(measure_nearness(bytes, 2), Err(message));
        };
        check(&[], "0");
        check(&pack_vectors(&two[..1]), "1");
        check(&pack_vectors(&two)[..23], "one that ends too early");
        check(&pack_vectors(&[Vec::from([1.0]), Vec::from([1.0, 2.0])]), "1 and 2 numbers");
        check(&pack_vectors(&[Vec::new(), Vec::new()]), "0 and 0 numbers");
        check(&pack_vectors(&[Vec::from([1.0]), Vec::from([f32::NAN])]), "what is no number");
        check(&pack_vectors(&[Vec::from([f32::INFINITY]), Vec::from([1.0])]), "what is no number");
    }

    #[test]
    fn both_orders_count_as_much() {
        // The nearest text, which is last by its words, comes before those far behind in either order.
        assert_eq!(fuse_orders(&[0.8, 0.7, 0.1, 0.2, 0.9]), [0, 1, 4, 2, 3]);
        assert_eq!(fuse_orders(&[]), [0; 0]);
    }

    proptest! {
        #[test]
        fn each_stays_there_once_and_what_is_better_in_both_stays_before(nearness in prop::collection::vec(-1.0f32..1.0, 0..70), more in 0usize..9) {
            let all: Vec<usize> = (0..nearness.len() + more).collect();
            let mut things = all.clone();
            reorder_by_nearness(&mut things, &nearness);
            prop_assert_eq!(&things[nearness.len()..], &all[nearness.len()..]);
            let place = |number: usize| things.iter().position(|thing| *thing == number);
            for (thing, near) in nearness.iter().enumerate() {
                prop_assert!(place(thing).is_some());
                for (other, farther) in nearness.iter().enumerate().skip(thing + 1) {
                    prop_assert!(near < farther || place(thing) < place(other));
                }
            }
        }
    }
}
