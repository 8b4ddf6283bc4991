//! Lines as docs/FORMAT.md has them, made without the code that is tested.

/// An object of these fields with version and checksum.
pub fn seal_line(fields: &str) -> String {
    let open = format!("{{\"v\":1,{fields}");
    format!("{open},\"crc\":\"{:08x}\"}}", crc32c(open.as_bytes()))
}

/// CRC-32C bit by bit: the reflected polynomial of RFC 3720.
pub fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 };
        }
    }
    !crc
}
