#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    minfer_fuzz_targets::gguf(data);
});
