//! The compiler driver: places, includes, macros, the cache, function constants, the command.

use std::fs;
use std::process::Command;

use metal_sim::{
    Binding, CompileError, Compiler, ConstantError, Grid, Kernel, Launch, Library, Memory, Mode,
    ParameterKind, Profile, Severity, Simulator, Slot, Source,
};

use crate::require;

fn source(text: &str) -> Source {
    Source { name: "k.metal".to_owned(), text: text.to_owned() }
}

/// A compiler with a cache of its own, and the folder.
fn fresh() -> Option<(Compiler, tempfile::TempDir)> {
    let folder = tempfile::tempdir().expect("a folder");
    require().map(|compiler| (compiler.with_cache(folder.path()), folder))
}

fn refused(compiler: &Compiler, text: &str) -> Vec<String> {
    match compiler.check(&source(text)) {
        Err(CompileError::Source { diagnostics }) => {
            diagnostics.iter().map(ToString::to_string).collect()
        }
        other => panic!("expected messages, found {other:?}"),
    }
}

/// What a kernel of one thread writes into its only buffer.
fn result(kernel: Kernel, words: usize) -> Vec<u32> {
    let memory = Memory::of(&vec![0; 4 * words]).expect("memory");
    let launch = Launch {
        kernel,
        bindings: vec![Binding::whole(0, &memory)],
        threadgroup_memory: Vec::new(),
        grid: Grid::Threads([1; 3]),
        threads_per_threadgroup: [1; 3],
    };
    let outcome = Simulator::new(Profile::M1).run(&launch);
    assert!(outcome.reports.is_empty(), "{:?}", outcome.reports);
    let words = memory.read();
    words.chunks_exact(4).map(|four| u32::from_ne_bytes(four.try_into().expect("four"))).collect()
}

#[test]
fn messages_name_line_and_column_of_the_source() {
    let Some(compiler) = require() else { return };
    let text = "#include <metal_stdlib>\n#define N 12345\n\
                kernel void k(device   float* x [[buffer(0)]]) { x[N - N]  = y; }\n\
                #line 70 \"part.metal\"\nstatic int f() { return   z; }\n";
    let found = refused(&compiler, text);
    assert!(found[0].starts_with("k.metal:3:62: error:") && found[0].contains("'y'"), "{found:?}");
    assert!(found[1].starts_with("part.metal:70:27: error:"), "{found:?}");
}

#[test]
fn columns_hold_behind_what_was_rewritten() {
    let Some(compiler) = require() else { return };
    let text = "#include <metal_stdlib>\n\
                kernel void k(device float* x [[buffer(0)]]) { threadgroup float s[4]; s[0] = a; }";
    let found = refused(&compiler, text);
    assert!(found[0].starts_with("k.metal:2:79: error:"), "{found:?}");
}

#[test]
fn casts_between_address_spaces_are_refused() {
    let Some(compiler) = require() else { return };
    let text = "#include <metal_stdlib>\n\
                kernel void k(device float* x, threadgroup float* s) {\n\
                \x20   device float* p = (device float*)s;\n    *p = *x;\n}\n";
    let found = refused(&compiler, text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("k.metal:3:23: error: cast to another address space"),
        "{found:?}"
    );
    assert!(
        compiler.compile(&source(text), Mode::Fast).is_ok(),
        "spaces are types in checks alone"
    );
}

#[test]
fn warnings_are_told_and_do_not_fail() {
    let Some(compiler) = require() else { return };
    let text = "#include <metal_stdlib>\n\
                kernel void k(device int* x [[buffer(0)]]) { if (x[0] = 1) x[1] = 2; }";
    let checked = compiler.inspect(&source(text)).expect("a source that compiles");
    assert_eq!(checked.signatures.len(), 1);
    assert_eq!(checked.warnings.len(), 1, "{:?}", checked.warnings);
    assert_eq!(checked.warnings[0].severity, Severity::Warning);
}

#[test]
fn includes_and_macros_reach_the_source() {
    let Some((compiler, folder)) = fresh() else { return };
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).expect("a folder");
    fs::write(inner.join("shared.h"), "#pragma once\nstatic uint  twice(uint x) { return x+y; }\n")
        .expect("a file");
    let compiler = compiler.include(&inner).define("WIDTH", "7");
    let text = "#include <metal_stdlib>\nusing namespace metal;\n#include \"shared.h\"\n\
                kernel void k(device uint* x [[buffer(0)]]) { x[0] = twice(WIDTH); }";
    let found = refused(&compiler, text);
    let file = inner.join("shared.h").display().to_string();
    assert!(found[0].starts_with(&format!("{file}:2:39: error:")), "{found:?}");
    fs::write(inner.join("shared.h"), "static uint twice(uint x) { return x + x; }\n")
        .expect("a file");
    let library = compiler.compile(&source(text), Mode::Fast).expect("a library");
    assert_eq!(result(library.kernel("k").expect("k"), 1), [14]);
}

fn libraries(folder: &tempfile::TempDir) -> usize {
    let entries = fs::read_dir(folder.path()).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    names.filter(|name| name.to_string_lossy().ends_with(".so")).count()
}

#[test]
fn a_library_is_compiled_once_and_again_when_anything_changes() {
    let Some((compiler, folder)) = fresh() else { return };
    let text = "kernel void k(device uint* x [[buffer(0)]]) { *x = V; }";
    let one = compiler.clone().define("V", "1");
    let first = one.compile(&source(text), Mode::Fast).expect("a library");
    let second = one.compile(&source(text), Mode::Fast).expect("a library");
    assert_eq!(first.path(), second.path());
    assert_eq!(libraries(&folder), 1);
    let other = compiler.clone().define("V", "2").compile(&source(text), Mode::Fast);
    assert_eq!(result(other.expect("a library").kernel("k").expect("k"), 1), [2]);
    let checked = one.compile(&source(text), Mode::Checked).expect("a library");
    assert_eq!((checked.mode(), first.mode()), (Mode::Checked, Mode::Fast));
    assert_eq!(libraries(&folder), 3);
}

#[test]
fn many_may_compile_one_source_at_once() {
    let Some((compiler, folder)) = fresh() else { return };
    let text = "kernel void k(device uint* x [[buffer(0)]]) { *x = 5; }";
    let compile = || {
        let library = compiler.compile(&source(text), Mode::Fast).expect("a library");
        result(library.kernel("k").expect("k"), 1)
    };
    let answers: Vec<Vec<u32>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(compile)).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker")).collect()
    });
    assert_eq!(answers, vec![vec![5]; 4]);
    assert_eq!(libraries(&folder), 1);
}

#[test]
fn a_failed_compilation_leaves_no_library() {
    let Some((compiler, folder)) = fresh() else { return };
    let broken = compiler.compile(&source("kernel void k(device uint* x) { *x = y; }"), Mode::Fast);
    assert!(matches!(broken, Err(CompileError::Source { .. })), "{broken:?}");
    assert_eq!(libraries(&folder), 0);
}

#[test]
fn a_broken_library_in_the_cache_is_an_error_with_its_path() {
    let Some((compiler, _folder)) = fresh() else { return };
    let text = source("kernel void k(device uint* x) { *x = 5; }");
    let path = compiler.compile(&text, Mode::Fast).expect("a library").path().to_owned();
    fs::write(&path, "no library").expect("a file");
    let error = Library::open(&path).expect_err("not a library").to_string();
    assert!(error.contains(&path.display().to_string()), "{error}");
}

const CONSTANTS: &str = "#include <metal_stdlib>\nusing namespace metal;\n\
    namespace outer { constant uint width [[function_constant(3)]]; }\n\
    constant bool wide [[function_constant(4)]];\n\
    constant uint twice = outer::width * 2;\n\
    constant bool known = is_function_constant_defined(wide);\n\
    kernel void k(device uint* x [[buffer(0)]]) {\n\
    x[0] = outer::width; x[1] = twice + 1; x[2] = known ? 1 : 2; x[3] = wide ? 1 : 2; }\n";

#[test]
fn function_constants_are_values_of_a_kernel() {
    let Some(compiler) = require() else { return };
    let library = compiler.compile(&source(CONSTANTS), Mode::Fast).expect("a library");
    let constants: Vec<_> =
        library.constants().iter().map(|c| (c.index, c.name.as_str(), c.size)).collect();
    assert_eq!(constants, [(3, "width", 4), (4, "wide", 1)]);
    let kernel = library.kernel("k").expect("k");
    let five = kernel.clone().with_constants(&[(3, 5u32.to_ne_bytes().to_vec())]).expect("five");
    let both = [(3, 9u32.to_ne_bytes().to_vec()), (4, vec![1])];
    let nine = kernel.clone().with_constants(&both).expect("nine");
    // In turn, and one after the other again: values belong to kernels, not to the library.
    for _ in 0..2 {
        assert_eq!(result(five.clone(), 4), [5, 11, 2, 2]);
        assert_eq!(result(nine.clone(), 4), [9, 19, 1, 1]);
        assert_eq!(result(kernel.clone(), 4), [0, 1, 2, 2]);
    }
}

#[test]
fn wrong_function_constants_are_refused() {
    let Some(compiler) = require() else { return };
    let library = compiler.compile(&source(CONSTANTS), Mode::Fast).expect("a library");
    let kernel = library.kernel("k").expect("k");
    let unknown = kernel.clone().with_constants(&[(7, vec![0])]).expect_err("no constant 7");
    assert!(unknown.to_string().contains("it has 3 (width), 4 (wide)"), "{unknown}");
    let size = kernel.with_constants(&[(3, vec![0])]).expect_err("too short");
    assert!(matches!(size, ConstantError::Size { expected: 4, found: 1, .. }), "{size}");
}

#[test]
fn a_library_tells_what_its_kernels_take() {
    let Some(compiler) = require() else { return };
    let text = "#include <metal_stdlib>\nusing namespace metal;\nstruct S { float4 a; uint n; };\n\
                template <typename T>\n[[max_total_threads_per_threadgroup(256)]] kernel void k(\n\
                device const T* x [[buffer(2)]], constant S& s, threadgroup half* h,\n\
                ushort2 at [[threadgroup_position_in_grid]]) {}\n\
                template [[host_name(\"k_\" \"half\")]] kernel void k<half>(\n\
                device const half*, constant S&, threadgroup half*, ushort2);\n";
    let library = compiler.compile(&source(text), Mode::Fast).expect("a library");
    assert_eq!(library.kernels().collect::<Vec<_>>(), ["k_half"]);
    let kernel = library.kernel("k_half").expect("k_half");
    assert_eq!(kernel.max_threads(), Some(256));
    assert_eq!(kernel.place().to_string(), "k.metal:8:0");
    let found: Vec<_> = kernel
        .parameters()
        .iter()
        .map(|p| (p.kind, p.index, p.name.as_str(), p.reference, p.constant, p.size, p.align))
        .collect();
    assert_eq!(found[0], (ParameterKind::Buffer, 2, "x", false, true, 2, 2));
    assert_eq!(found[1], (ParameterKind::Buffer, 0, "s", true, true, 32, 16));
    assert_eq!(found[2], (ParameterKind::Threadgroup, 0, "h", false, false, 2, 2));
    assert_eq!(found[3].0, ParameterKind::Builtin);
    let none = library.kernel("k").expect_err("k is a template").to_string();
    assert!(none.contains("no kernel `k`") && none.contains("k_half"), "{none}");
    let signatures = compiler.check(&source(text)).expect("a source that compiles");
    assert_eq!(signatures[0].parameters[0].binding, Slot::Buffer(Some("2".to_owned())));
}

#[test]
fn a_missing_compiler_is_named() {
    // In a process of its own: the environment is everybody's.
    let output = Command::new(env!("CARGO_BIN_EXE_metal-sim"))
        .args(["check", "x.metal"])
        .env("METAL_SIM_CLANG", "no-such-compiler")
        .output()
        .expect("the command");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("no-such-compiler does not run"), "{text}");
    assert!(text.contains("clang-19") && text.contains("METAL_SIM_CLANG"), "{text}");
}

/// Status and output of the command in a folder with one source.
fn command(text: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("k.metal"), text).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_metal-sim"))
        .args(arguments)
        .current_dir(&folder)
        .output()
        .expect("the command");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

const ADD: &str = "kernel void add(device float* x, constant float& y [[buffer(1)]],\n\
                   uint t [[thread_position_in_grid]]) { x[t] += y; }\n";

#[test]
fn the_command_checks_and_lists() {
    if require().is_none() {
        return;
    }
    let (status, text) = command(ADD, &["check", "k.metal"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.starts_with("k.metal:1: kernel add\n    device float* x: buffer 0\n"), "{text}");
    let (status, text) =
        command("kernel void k(device float* x [[bufer(0)]]) {}", &["check", "k.metal"]);
    assert_eq!(status, Some(1), "{text}");
    assert!(
        text.contains("k.metal:1:33: error: unknown attribute [[bufer]]; did you mean [[buffer]]?"),
        "{text}"
    );
    let (status, text) = command(ADD, &["check", "other.metal"]);
    assert_eq!(status, Some(2), "{text}");
}

#[test]
fn the_command_runs_and_reports() {
    if require().is_none() {
        return;
    }
    let arguments =
        ["run", "k.metal", "add", "--grid", "3", "--threads", "2", "--buffer", "1=f32:0.5"];
    let with = |buffer| [&arguments[..], &["--buffer", buffer, "--print", "0=f32"]].concat();
    let (status, text) = command(ADD, &with("0=f32:0..3"));
    assert_eq!((status, text.as_str()), (Some(0), "buffer 0: 0.5 1.5 2.5\n"));
    let (status, text) = command(ADD, &with("0=f32:0..2"));
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("k.metal:2:") && text.contains("kernel add"), "{text}");
    let (status, text) = command(ADD, &["run", "k.metal", "sub"]);
    assert_eq!(status, Some(2), "{text}");
    assert!(text.contains("no kernel `sub`") && text.contains("it has add"), "{text}");
}
