//! Handing a session to the next run.

pub mod block;
