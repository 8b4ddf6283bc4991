//! Counts the tokens of a piece that is not a token itself: pairs are merged, the lowest rank first, of equals the
//! leftmost.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::tokens::pairs::{NO_TOKEN, Pairs};

/// The most parts whose presence fits the bits of one word.
pub(crate) const MAX_MASKED_PARTS: usize = 63;

/// The bytes of a long piece merged at once, and the distance from their end at which they are cut: longer than the
/// longest tokens, so that what follows cannot change what is before.
const WINDOW_BYTES: usize = 16 * 1024;
const MARGIN_BYTES: usize = 1024;

/// Counts the tokens of a few parts.
pub(crate) fn merge_few(parts: &mut [u32], pairs: &Pairs) -> u32 {
    let count = parts.len();
    let mut left = (1u64 << count) - 1;
    let mut ranks = [NO_TOKEN; MAX_MASKED_PARTS];
    for at in 1..count {
        ranks[at - 1] = pairs.get(parts[at - 1], parts[at]);
    }
    loop {
        let (at, rank) = lowest(&ranks[..count]);
        if rank == NO_TOKEN {
            return left.count_ones();
        }
        parts[at] = rank;
        let next = next_left(left, at);
        left &= !(1 << next);
        ranks[next] = NO_TOKEN;
        let after = next_left(left, at);
        ranks[at] = if after < count { pairs.get(rank, parts[after]) } else { NO_TOKEN };
        let before = left & ((1 << at) - 1);
        if before != 0 {
            let before = before.ilog2() as usize;
            ranks[before] = pairs.get(parts[before], rank);
        }
    }
}

#[inline(always)]
fn lowest(ranks: &[u32]) -> (usize, u32) {
    ranks
        .iter()
        .enumerate()
        .fold((0, NO_TOKEN), |lowest, (at, rank)| if *rank < lowest.1 { (at, *rank) } else { lowest })
}

// Returns the next remaining part after this one, or a number beyond all of them.
#[inline(always)]
fn next_left(left: u64, at: usize) -> usize {
    (left >> (at + 1)).trailing_zeros() as usize + at + 1
}

/// Counts the tokens of a piece of any length; `bytes` has the ranks of single bytes. Counting stops beyond `limit`.
///
/// The piece is merged by windows of 16 KB, so that a megabyte without a blank takes as long per byte as a page of it.
/// Tokens are right if each two adjacent ones are what merging makes of both alone. Within a window they are; so the
/// next window begins at a token well before the end of the last one, and must begin with the same token. If it does
/// not, the windows are doubled. Tokens count against the limit once that is checked: those at the end of a window may
/// become fewer when its text continues.
pub(crate) fn merge_many(piece: &[u8], bytes: &[u32; 256], pairs: &Pairs, limit: u32) -> u32 {
    let mut size = WINDOW_BYTES;
    loop {
        if let Some(count) = merge_by_windows(piece, size, bytes, pairs, limit) {
            return count;
        }
        size *= 2;
    }
}

fn merge_by_windows(piece: &[u8], size: usize, bytes: &[u32; 256], pairs: &Pairs, limit: u32) -> Option<u32> {
    let (mut start, mut count, mut expected) = (0, 0u64, None);
    loop {
        let end = piece.len().min(start + size);
        let ranks = piece[start..end].iter().map(|byte| bytes[usize::from(*byte)]);
        let tokens = merge_window(ranks, pairs);
        if expected.is_some_and(|expected| expected != tokens[0].rank) {
            return None;
        }
        if end == piece.len() {
            count += tokens.len() as u64;
        }
        if end == piece.len() || count > u64::from(limit) {
            return Some(u32::try_from(count).unwrap_or(u32::MAX));
        }
        let kept = tokens.partition_point(|token| start + token.start + MARGIN_BYTES < end);
        expected = Some(tokens[kept].rank);
        count += kept as u64;
        start += tokens[kept].start;
    }
}

struct Token {
    rank: u32,
    start: usize,
}

// A remaining part: its rank, the rank of it merged with the next one, and its neighbors.
#[derive(Clone, Copy)]
struct MergePart {
    rank: u32,
    pair: u32,
    previous: u32,
    next: u32,
}

fn merge_window(ranks: impl Iterator<Item = u32>, pairs: &Pairs) -> Vec<Token> {
    let mut parts: Vec<MergePart> = (0u32..)
        .zip(ranks)
        .map(|(at, rank)| MergePart { rank, pair: NO_TOKEN, previous: at.wrapping_sub(1), next: at + 1 })
        .collect();
    let mut lowest = BinaryHeap::with_capacity(parts.len());
    for at in 0..parts.len() {
        update_pair(&mut parts, at, pairs, &mut lowest);
    }
    while let Some(Reverse(found)) = lowest.pop() {
        let (rank, at) = ((found >> 32) as u32, found as u32 as usize);
        // Either of them may have been merged meanwhile.
        if parts[at].pair != rank {
            continue;
        }
        let gone = parts[at].next as usize;
        let next = parts[gone].next;
        parts[gone].pair = NO_TOKEN;
        parts[at] = MergePart { rank, next, ..parts[at] };
        if let Some(after) = parts.get_mut(next as usize) {
            after.previous = at as u32;
        }
        update_pair(&mut parts, at, pairs, &mut lowest);
        let before = parts[at].previous as usize;
        if before < parts.len() {
            update_pair(&mut parts, before, pairs, &mut lowest);
        }
    }
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(part) = parts.get(start) {
        tokens.push(Token { rank: part.rank, start });
        start = part.next as usize;
    }
    tokens
}

// Updates the rank that a part and the next one would merge to.
#[inline(always)]
fn update_pair(parts: &mut [MergePart], at: usize, pairs: &Pairs, lowest: &mut BinaryHeap<Reverse<u64>>) {
    let part = parts[at];
    let rank = parts.get(part.next as usize).map_or(NO_TOKEN, |next| pairs.get(part.rank, next.rank));
    parts[at].pair = rank;
    if rank != NO_TOKEN {
        lowest.push(Reverse(u64::from(rank) << 32 | at as u64));
    }
}
