//! Joins several futures of one operation, so that their requests go to the host in one step.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::future::Future;
use core::pin::{Pin, pin};
use core::task::Poll;

use super::Trouble;
use super::Work;
use super::io::PendingResponse;

/// Awaits responses that were requested in one step, and so arrive in one.
pub(crate) async fn collect_responses<T>(replies: Vec<PendingResponse<'_, T>>) -> Vec<Result<T, Trouble>> {
    let mut answers = Vec::new();
    for reply in replies {
        answers.push(reply.await);
    }
    answers
}

/// Runs all of these concurrently: their requests go out in one step.
pub(crate) async fn join_all<'a, T>(mut works: Vec<Pin<Box<dyn Future<Output = T> + 'a>>>) -> Vec<T> {
    let mut done: Vec<Option<T>> = works.iter().map(|_| None).collect();
    core::future::poll_fn(|context| {
        for (work, done) in works.iter_mut().zip(&mut done) {
            if done.is_none()
                && let Poll::Ready(value) = work.as_mut().poll(context)
            {
                *done = Some(value);
            }
        }
        if done.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}

/// Runs them in batches of at most `most`; the first failure ends the work.
pub(crate) async fn join_in_batches<'a, T>(
    mut works: impl Iterator<Item = Work<'a, T>>,
    most: usize,
) -> Result<Vec<T>, Trouble> {
    let mut done = Vec::new();
    loop {
        let next: Vec<_> = works.by_ref().take(most).collect();
        if next.is_empty() {
            return Ok(done);
        }
        for one in join_all(next).await {
            done.push(one?);
        }
    }
}

/// Runs both concurrently.
pub(crate) async fn join_both<A, B>(one: impl Future<Output = A>, other: impl Future<Output = B>) -> (A, B) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let (mut first, mut second) = (None, None);
    core::future::poll_fn(|context| {
        if first.is_none()
            && let Poll::Ready(value) = one.as_mut().poll(context)
        {
            first = Some(value);
        }
        if second.is_none()
            && let Poll::Ready(value) = other.as_mut().poll(context)
        {
            second = Some(value);
        }
        match (first.take(), second.take()) {
            (Some(a), Some(b)) => Poll::Ready((a, b)),
            (a, b) => {
                (first, second) = (a, b);
                Poll::Pending
            }
        }
    })
    .await
}
