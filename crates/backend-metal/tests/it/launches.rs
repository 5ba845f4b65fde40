//! What is launched: that the kernels exist, which is taken, what limits refuse.

use std::collections::BTreeSet;

use minfer_backend_metal::{Dispatch, Limits, MetalTarget, Staging, dispatches, modules};
use minfer_conformance::{Case, in_bucket, ops, tight};
use minfer_graph::{Graph, Op};
use minfer_plan::{Io, Target, Unsupported};

use crate::variants::caches;

fn target() -> MetalTarget {
    MetalTarget::new(Limits::apple7("test"), Staging::Full)
}

/// The launches of every node of a graph.
fn lowered(graph: &Graph, target: &MetalTarget) -> Vec<(Op, Result<Vec<Dispatch>, Unsupported>)> {
    let lower = |node: &minfer_graph::Node| {
        let io = Io {
            inputs: &graph.types(&node.inputs),
            outputs: &graph.types(&node.outputs),
            tables: &graph.tables,
            layouts: &[],
        };
        (node.op.clone(), dispatches(&node.op, &io, target))
    };
    graph.nodes.iter().map(lower).collect()
}

fn graphs(cases: &[Case]) -> impl Iterator<Item = &Graph> {
    cases.iter().flat_map(|case| case.steps.iter().map(|step| &step.graph))
}

#[test]
fn every_launched_kernel_is_in_one_module_and_every_kernel_is_launched() {
    let modules = modules();
    let there: Vec<&str> =
        modules.iter().flat_map(|module| module.kernels.iter().map(String::as_str)).collect();
    let once: BTreeSet<&str> = there.iter().copied().collect();
    assert_eq!(there.len(), once.len(), "a kernel stands in two modules");
    let suite = ops::all().into_iter().flat_map(|case| {
        [tight(case.clone()), in_bucket(case.clone(), 4), in_bucket(case.clone(), 8), case]
    });
    let cases: Vec<Case> = suite.chain(caches()).collect();
    let mut launched = BTreeSet::new();
    for staging in [Staging::Half, Staging::Full] {
        let target = MetalTarget::new(Limits::apple7("test"), staging);
        for graph in graphs(&cases) {
            for (_, dispatches) in lowered(graph, &target) {
                launched.extend(dispatches.unwrap_or_default().into_iter().map(|d| d.kernel));
            }
        }
    }
    let launched: BTreeSet<&str> = launched.iter().map(String::as_str).collect();
    let missing: Vec<_> = launched.difference(&once).collect();
    assert!(missing.is_empty(), "launched, but in no module: {missing:?}");
    let idle: Vec<_> = once.difference(&launched).collect();
    assert!(idle.is_empty(), "in a module, but launched by no case: {idle:?}");
}

#[test]
fn sources_keep_the_places_of_their_files() {
    for module in modules() {
        let first = module.text.lines().position(|line| line.starts_with("#line 1 "));
        assert!(first.is_some(), "{} has no #line directive", module.name);
        for kernel in &module.kernels {
            let named = module.text.contains(&format!("[[host_name(\"{kernel}\")]]"))
                || module.text.contains(&format!("kernel void {kernel}("));
            assert!(named, "{} lists {kernel} and does not have it", module.name);
        }
    }
}

#[test]
fn the_number_of_rows_decides_the_matmul() {
    let cases = ops::all();
    let mut seen = BTreeSet::new();
    for graph in graphs(&cases) {
        for (op, dispatches) in lowered(graph, &target()) {
            let (Op::Matmul(_), Ok(dispatches)) = (op, dispatches) else { continue };
            let rows = dispatches[0].grid.rows.capacity(&graph.tables.shape);
            let few = dispatches[0].kernel.starts_with("matmul_few_");
            assert_eq!(few, rows <= 8, "{rows} rows: {}", dispatches[0].kernel);
            let per_group = dispatches[0].grid.per_group as usize;
            assert!(!few || rows <= per_group, "{rows} rows by {per_group}");
            seen.insert(few);
        }
    }
    assert_eq!(seen.len(), 2, "cases have few rows and many");
}

#[test]
fn limits_refuse_with_both_numbers() {
    let cases = ops::all();
    let small =
        Limits { threadgroup_memory: 4096, threads_per_threadgroup: 64, ..Limits::apple7("small") };
    let small = MetalTarget::new(small, Staging::Full);
    let mut reasons = BTreeSet::new();
    for graph in graphs(&cases) {
        for (_, dispatches) in lowered(graph, &small) {
            reasons.extend(dispatches.err().map(|refused| refused.reason));
        }
    }
    let expected = "kv_store needs 256 threads in a threadgroup, small has at most 64";
    assert!(reasons.contains(expected), "{reasons:?}");
    let small = Limits { threadgroup_memory: 4096, ..Limits::apple7("small") };
    let small = MetalTarget::new(small, Staging::Full);
    for graph in graphs(&cases) {
        for (_, dispatches) in lowered(graph, &small) {
            reasons.extend(dispatches.err().map(|refused| refused.reason));
        }
    }
    let expected = "matmul_many_f32_float needs 12288 bytes of threadgroup memory, small has at \
                    most 4096";
    assert!(reasons.contains(expected), "{reasons:?}");
}

#[test]
fn a_format_without_a_decoder_is_refused_by_its_name() {
    let cases = ops::all();
    let target = target();
    let mut reasons = BTreeSet::new();
    for graph in graphs(&cases) {
        for (_, dispatches) in lowered(graph, &target) {
            reasons.extend(dispatches.err().map(|refused| refused.reason));
        }
    }
    let expected = "no kernel reads iq2_xxs: run it on the CPU, or take a file of another format";
    assert!(reasons.contains(expected), "{reasons:?}");
}

#[test]
fn a_small_gpu_runs_what_a_large_one_does_with_other_kernels() {
    let cases = ops::all();
    let limits = Limits {
        threadgroup_memory: 16 << 10,
        threads_per_threadgroup: 512,
        ..Limits::apple7("small")
    };
    for staging in [Staging::Half, Staging::Full] {
        let large = MetalTarget::new(Limits::apple7("large"), staging);
        let small = MetalTarget::new(limits.clone(), staging);
        let mut others = 0;
        for graph in graphs(&cases) {
            for ((_, large), (_, small)) in
                lowered(graph, &large).into_iter().zip(lowered(graph, &small))
            {
                assert_eq!(large.is_ok(), small.is_ok(), "{small:?}");
                others += usize::from(large != small);
            }
        }
        assert!(others > 0, "attention over many rows of f32 needs more than 16 KiB");
    }
}

#[test]
fn activations_are_never_quantized() {
    let cases = ops::all();
    let target = target();
    for case in &cases {
        for step in &case.steps {
            for node in &step.graph.nodes {
                for (weight, _) in &case.weights {
                    let operand = target.operand(&node.op, weight);
                    assert_eq!(operand.name(), "f32", "{} wants {}", case.name, operand.name());
                }
            }
        }
    }
}
