#![no_main]

#[path = "../../tests/fuzz_checks/mod.rs"]
mod fuzz_checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    #[cfg(feature = "planted")]
    if let Some(word) = data.first_chunk::<4>() {
        assert_ne!(u32::from_le_bytes(*word), u32::from_le_bytes(*b"left"), "the planted panic");
    }
    fuzz_checks::scan::check(data);
});
