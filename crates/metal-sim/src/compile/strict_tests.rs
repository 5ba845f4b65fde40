//! Clang's messages and trees about address spaces.

use super::super::diagnostics::Reader;
use super::*;

fn judged(messages: &str, classes: &[&str]) -> Vec<String> {
    let classes = classes.iter().map(|class| (*class).to_owned()).collect();
    let reader = Reader { headers: "/shim", kernels: &[] };
    judge(reader.read(messages), &classes).errors.iter().map(|one| one.text.clone()).collect()
}

#[test]
fn copies_of_whole_structs_are_allowed() {
    let copy = "k:1:1: error: no matching constructor for initialization of 'S'\n\
                k:2:1: note: candidate constructor (the implicit copy constructor) not viable: 1st \
                argument ('device S') is in address space 'device', but parameter must be in \
                default address space\n";
    assert!(judged(copy, &[]).is_empty());
    let other = "k:1:1: error: no matching constructor for initialization of 'S'\n\
                 k:2:1: note: candidate constructor not viable: requires 2 arguments\n";
    assert_eq!(judged(other, &[]).len(), 1);
}

#[test]
fn copies_of_aggregates_are_allowed() {
    let copy = "k:1:1: error: no viable conversion from 'const device S' to 'uint'\n";
    assert!(judged(copy, &[]).is_empty());
    let other = "k:1:1: error: no viable conversion from 'S' to 'uint'\n";
    assert_eq!(judged(other, &[]).len(), 1);
}

#[test]
fn members_in_spaces_are_allowed_for_their_classes_alone() {
    let call = "k:1:1: error: cannot initialize object parameter of type 'Pair' with an expression \
                of type 'device Pair'\n";
    assert!(judged(call, &["Pair"]).is_empty());
    assert_eq!(judged(call, &["Other"]).len(), 1);
}

#[test]
fn casts_are_placed_by_what_stood_before() {
    let tree = "\
|-UsingDirectiveDecl 0x1 <e.cpp:2:1, col:17> col:17 Namespace 0x2 'metal'
`-FunctionDecl 0x3 <k.metal:3:8, line:6:43> line:3:13 k 'void ()'
  |-ParmVarDecl 0x4 </shim/msl/config.h:13:16, k.metal:3:29> col:29 used x 'device float *'
  | `-CStyleCastExpr 0x5 <line:5:21, col:36> 'device float *' <AddressSpaceConversion>
  |   `-ImplicitCastExpr 0x6 <col:36> 'threadgroup float *' <LValueToRValue> part_of_explicit_cast
  | `-CStyleCastExpr 0x7 <col:40> 'uint4':'uint __attribute__((ext_vector_type(4)))' <BitCast>
  | `-CStyleCastExpr 0x7 <col:45, col:46> 'device uint4 *' <BitCast>
  | `-CStyleCastExpr 0x8 </shim/msl/a.h:1:1, col:2> 'device float *' <AddressSpaceConversion>
  | `-CStyleCastExpr 0x9 <<invalid sloc>> 'int' <IntegralCast>
";
    let found = casts(tree, "/shim");
    let places: Vec<_> =
        found.iter().map(|one| one.place.as_ref().map(ToString::to_string)).collect();
    assert_eq!(places, [Some("k.metal:5:21".to_owned()), Some("k.metal:5:40".to_owned())]);
    assert!(found[0].text.contains("device float *"), "{}", found[0].text);
}

#[test]
fn each_cast_of_a_template_is_told_once() {
    let line =
        "|-CStyleCastExpr 0x5 <k.metal:5:21, col:36> 'device T *' <AddressSpaceConversion>\n";
    assert_eq!(casts(&line.repeat(3), "/shim").len(), 1);
}
