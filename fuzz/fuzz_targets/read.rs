#![no_main]

#[path = "../../tests/fuzz_checks/mod.rs"]
mod fuzz_checks;

use std::env;
use std::sync::LazyLock;

use leftoff::interop::AgentName;

// One program for all readers: the agent whose files these bytes are taken for.
static AGENT: LazyLock<AgentName> = LazyLock::new(|| {
    let name = env::var("LEFTOFF_AGENT").expect("expected an agent's name in LEFTOFF_AGENT");
    AgentName::parse(&name).expect("an agent that is known")
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_checks::agents::check(*AGENT, data));
