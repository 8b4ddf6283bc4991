//! Who this process is, and which others are gone, by Linux's `/proc`.

use std::fs::read_to_string;
use std::io;

use crate::host::protocol::Lease;

/// By these words a process is told from a later one of the same number; of one that is gone there are none.
pub fn lease_of(pid: u64) -> io::Result<Lease> {
    let words = read_to_string(format!("/proc/{pid}/stat"))?;
    // Behind the program's name, which may have spaces and brackets.
    let start =
        words.rsplit(')').next().and_then(|words| words.split_whitespace().nth(19)).map(str::to_owned);
    let boot = Some(read_kernel_value("random/boot_id")?);
    Ok(Lease {
        pid,
        host: read_kernel_value("hostname")?,
        boot,
        start,
        program: Some("host.rs".into()),
        since: None,
    })
}

pub fn is_gone(lease: &Lease) -> bool {
    let is_here = read_kernel_value("hostname").is_ok_and(|host| host == lease.host);
    is_here
        && match lease_of(lease.pid) {
            Ok(there) => (there.boot, there.start) != (lease.boot.clone(), lease.start.clone()),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
}

fn read_kernel_value(name: &str) -> io::Result<String> {
    Ok(read_to_string(format!("/proc/sys/kernel/{name}"))?.trim().to_owned())
}
