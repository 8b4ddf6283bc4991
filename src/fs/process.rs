//! Identifies this process, and tells whether another one still lives.

use alloc::string::{String, ToString};
use std::fs::read_to_string;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::session::lease::Lease;

/// This process, described so that another on the same machine can tell whether it still lives.
pub(super) fn this_process() -> Lease {
    let pid = std::process::id().into();
    let program = std::env::args_os().next().unwrap_or_default();
    let name = std::path::Path::new(&program).file_name().unwrap_or_default();
    Lease {
        pid,
        host: host_name(),
        boot: Some(boot_id()),
        start: Some(start_of(pid)),
        program: Some(name.to_string_lossy().into()),
        since: None,
    }
}

/// Whether a process is certainly gone. One on another host cannot be checked from here; without a host only its number
/// is known.
pub(super) fn is_gone(other: &Lease) -> bool {
    if other.host.is_empty() {
        return !is_alive(other.pid);
    }
    if other.host != host_name() {
        return false;
    }
    // The system reuses numbers: then it is another process.
    other.boot != Some(boot_id()) || !is_alive(other.pid) || other.start != Some(start_of(other.pid))
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into()
}

// Whether a process lives; not being allowed to signal it means that it does.
fn is_alive(pid: u64) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| matches!(test_kill_process(pid), Ok(()) | Err(Errno::PERM)))
}

// The id of this boot, which only Linux tells.
fn boot_id() -> String {
    read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_string()
}

fn start_of(pid: u64) -> String {
    let stat = read_to_string(alloc::format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name, the second field, may hold blanks and brackets; the start time is the twentieth word after it.
    let words = stat.rsplit_once(") ").map_or("", |(_, words)| words);
    words.split(' ').nth(19).unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_lives_as_long_as_all_that_names_it_is_its_own() {
        let me = this_process();
        assert!(!is_gone(&me));
        for other in [
            Lease { start: Some("1".into()), ..me.clone() },
            Lease { boot: Some("other".into()), ..me.clone() },
            Lease { pid: 1 << 40, ..me.clone() },
            Lease { pid: 1 << 40, host: String::new(), ..me.clone() },
        ] {
            assert!(is_gone(&other), "{other:?}");
        }
        assert!(!is_gone(&Lease { host: "elsewhere".into(), pid: 1 << 40, ..me.clone() }));
        assert!(!is_gone(&Lease { host: String::new(), start: None, ..me }));
    }
}
