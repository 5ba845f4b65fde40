//! Flags of the compiler, by what a source is compiled for.
//!
//! Measured with clang 19; each group says what it is there for.

use crate::Mode;

/// What the preprocessor knows of the language's version.
const LANGUAGE: [&str; 6] = [
    "-x",
    "c++",
    "-D__METAL__=1",
    "-D__METAL_VERSION__=310",
    "-D__METAL_MACOS__=1",
    "-D__HAVE_BFLOAT__=1",
];

/// Common to all: the headers are C++23, kernels may not be.
const STANDARD: [&str; 4] = ["-std=c++2b", "-nostdinc", "-nostdinc++", "-fsigned-char"];

/// Common to all but the preprocessor; literals are floats.
const COMMON: [&str; 4] =
    ["-fno-exceptions", "-fno-rtti", "-Xclang", "-cl-single-precision-constant"];

/// Messages: one line each; warnings about the author's code, not about ours.
const MESSAGES: [&str; 14] = [
    "-fno-color-diagnostics",
    "-fno-caret-diagnostics",
    "-fno-diagnostics-fixit-info",
    "-ferror-limit=0",
    "-Wall",
    "-Wno-duplicate-decl-specifier",
    "-Wno-ignored-attributes",
    "-Wno-missing-braces",
    "-Wno-unknown-attributes",
    "-Wno-unknown-pragmas",
    "-Wno-unused-const-variable",
    "-Wno-unused-function",
    "-Wno-unused-value",
    "-Wno-unused-variable",
];

/// A library that needs nothing of the process, with half precision rounded at every operation and
/// nothing contracted, so that results are the same everywhere. Convergent functions keep the
/// compiler from moving collectives.
const LIBRARY: [&str; 13] = [
    "-fPIC",
    // A frame larger than the guard page below a stack does not reach over it.
    "-fstack-clash-protection",
    // A loop without an end has none here either.
    "-fno-finite-loops",
    // Names of sources stay as they are, wherever they were compiled.
    "-fdebug-compilation-dir=",
    "-shared",
    "-fvisibility=hidden",
    "-Xclang",
    "-ffloat16-excess-precision=none",
    "-ffp-contract=off",
    "-fconvergent-functions",
    "-fno-math-errno",
    "-rtlib=compiler-rt",
    "-Wl,-z,defs",
];

/// A call before every access: the sanitizer of the kernel, which brings no runtime of its own,
/// with everything off that would add to or save a call.
const CHECKED: [&str; 18] = [
    "-DMSIM_CHECKED",
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
    // A hook's caller is the kernel, also at the kernel's end.
    "-fno-optimize-sibling-calls",
    "-fsanitize=kernel-address",
    "-mllvm",
    "-asan-instrumentation-with-call-threshold=0",
    "-mllvm",
    "-asan-stack=0",
    "-mllvm",
    "-asan-globals=0",
    "-mllvm",
    "-asan-opt=0",
    "-mllvm",
    "-asan-kernel-mem-intrinsic-prefix",
    "-fsanitize=bounds,alignment,shift,integer-divide-by-zero",
    "-fno-sanitize-link-runtime",
];

/// For the preprocessor.
pub(crate) fn preprocess() -> Vec<&'static str> {
    let mut flags = LANGUAGE.to_vec();
    flags.extend(["-E"].iter().chain(&STANDARD).chain(&MESSAGES[..4]));
    flags
}

/// For a check of types and address spaces.
pub(crate) fn strict() -> Vec<&'static str> {
    let mut flags = LANGUAGE.to_vec();
    flags.extend(STANDARD.iter().chain(&COMMON).chain(&MESSAGES));
    flags.extend(["-Wpre-c++20-compat", "-Werror=pre-c++20-compat"]);
    flags.extend(["-DMSIM_STRICT", "-fsyntax-only", "-Xclang", "-ast-dump"]);
    flags
}

/// For a check of types alone, as a library has them: where spaces are no types.
pub(crate) fn plain() -> Vec<&'static str> {
    let mut flags = LANGUAGE.to_vec();
    flags.extend(STANDARD.iter().chain(&COMMON).chain(&MESSAGES));
    flags.extend(["-DMSIM_FAST", "-fsyntax-only"]);
    flags
}

/// For a library.
pub(crate) fn library(mode: Mode) -> Vec<&'static str> {
    let mut flags = LANGUAGE.to_vec();
    flags.extend(STANDARD.iter().chain(&COMMON).chain(&MESSAGES).chain(&LIBRARY));
    match mode {
        // Line tables, so that a fault can be placed.
        Mode::Fast => flags.extend(["-DMSIM_FAST", "-O2", "-gline-tables-only"]),
        Mode::Checked => flags.extend(CHECKED),
    }
    if cfg!(target_arch = "x86_64") {
        // Vectors of 32 bytes and conversions of halves in one instruction.
        flags.push("-march=x86-64-v3");
    }
    flags
}
