//! Time and chance, as each step brings them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leftoff::fs::Clock;
use leftoff::operation::Trouble;
use leftoff::time::Stamp;

/// A step's moment, and what its chance is made of.
#[derive(Debug, Default)]
pub struct ScriptedMoment {
    pub now_ms: Cell<i64>,
    pub offset_minutes: Cell<i32>,
    seed: RefCell<String>,
    draws: Cell<u32>,
}

impl ScriptedMoment {
    /// It is the chance of another step.
    pub fn set_seed(&self, seed: String) {
        if *self.seed.borrow() != seed {
            self.draws.set(0);
            self.seed.replace(seed);
        }
    }
}

/// One for all stores.
#[derive(Clone, Debug, Default)]
pub struct SharedClock(pub Rc<ScriptedMoment>);

impl Clock for SharedClock {
    fn now_ms(&self) -> i64 {
        self.0.now_ms.get()
    }

    fn stamp(&self) -> Result<Stamp, Trouble> {
        self.0.draws.set(self.0.draws.get() + 1);
        let seed = format!("{}/{}", self.0.seed.borrow(), self.0.draws.get());
        let hex = leftoff::json::hash::sha256(seed.as_bytes());
        let mut entropy = [0; 32];
        for (byte, at) in entropy.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(&hex[at..at + 2], 16).unwrap_or_default();
        }
        Ok(Stamp { now_ms: self.0.now_ms.get(), offset_minutes: self.0.offset_minutes.get(), entropy })
    }
}
