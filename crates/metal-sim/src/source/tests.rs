//! What the generator makes of sources, and what it refuses.

use super::*;

fn made(text: &str) -> Generated {
    let mut columns = Columns::default();
    columns.add(text, "k.metal");
    match generate(text, "k.metal", &columns) {
        Ok(generated) => generated,
        Err(faults) => panic!("{faults:?}"),
    }
}

/// The generated text between the library's header and the tables.
fn body(text: &str) -> String {
    let text = made(text).text;
    let (_, body) = text.split_once("# 1 \"k.metal\"\n").expect("a first marker");
    let (body, _) = body.split_once("# 1 \"<kernel tables>\"").expect("tables");
    body.trim_end().to_owned()
}

fn faults(text: &str) -> Vec<String> {
    match generate(text, "k.metal", &Columns::default()) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.iter().map(ToString::to_string).collect(),
    }
}

/// Checks that a text has one fault, which says this.
fn refuses(text: &str, expected: &str) {
    let found = faults(text);
    assert_eq!(found.len(), 1, "{text}: {found:?}");
    assert!(found[0].contains(expected), "{text}: {found:?}");
}

fn names(text: &str) -> Vec<String> {
    made(text).signatures.into_iter().map(|signature| signature.name).collect()
}

fn bindings(text: &str) -> Vec<Slot> {
    made(text).signatures.remove(0).parameters.into_iter().map(|p| p.binding).collect()
}

fn buffer(index: &str) -> Slot {
    Slot::Buffer(Some(index.to_owned()))
}

#[test]
fn attributes_go_and_columns_stay() {
    let text = "kernel void k(device float*  x [[buffer(3)]]) { x[0]  = 1; }";
    let made = body(text);
    assert_eq!(made, "kernel void k(device float*  x              ) { x[0]  = 1; }");
    assert_eq!(bindings(text), [buffer("3")]);
}

#[test]
fn lines_stay_where_text_grows() {
    let text =
        "kernel void k(device int* x) {\n    threadgroup int a[4], b;  a[0] = 1;\n    b = 2; }";
    let made = body(text);
    let lines: Vec<&str> = made.lines().collect();
    assert_eq!(
        lines[1].trim(),
        "typedef int msim_type_a[4]; MSIM_THREADGROUP(0, msim_type_a, a) typedef int msim_type_b; \
         MSIM_THREADGROUP(1, msim_type_b, b)"
    );
    assert_eq!(lines[2], "# 2 \"k.metal\"");
    assert_eq!(lines[3].find("a[0]"), Some(30));
    assert_eq!(lines[4], "    b = 2; }");
}

#[test]
fn pointers_into_threadgroup_memory_are_no_threadgroup_variables() {
    let text = "kernel void k(device int* x, threadgroup int* s) { threadgroup int* p = s; }";
    assert!(!body(text).contains("MSIM_THREADGROUP"), "{}", body(text));
}

#[test]
fn all_forms_of_kernels_are_found() {
    assert_eq!(names("kernel void a() {} [[kernel]] void b() {}"), ["a", "b"]);
    assert_eq!(names("[[host_name(\"x\")]] kernel void a() {}"), ["x"]);
    assert_eq!(names("namespace n { namespace m { kernel void a() {} } }"), ["a"]);
    assert_eq!(names("kernel void a(); kernel void a() {} void f() {}"), ["a"]);
    let template = "template <typename T, int N = (1 > 0)> kernel void a(device T* x) {}\n";
    assert!(names(template).is_empty());
    let one = "template [[host_name(\"h\" \"2\")]] kernel void a<half, 2>(device half*);";
    assert_eq!(names(&format!("{template}{one}")), ["h2"]);
    let two =
        "template [[host_name(\"d\")]] [[kernel]] decltype(a<vec<half, 4>, 2>) a<vec<half, 4>, 2>;";
    assert_eq!(names(&format!("{template}{two}")), ["d"]);
}

#[test]
fn wrappers_name_kernels_with_their_namespaces_and_arguments() {
    let text = "namespace n { template <typename T> kernel void a(device T* x) {}\n\
                template [[host_name(\"h\")]] kernel void a<half>(device half*); }";
    assert!(made(text).text.contains("decltype(&n::a<half>), &n::a<half>, msim_slots_0"));
}

#[test]
fn parameters_without_an_index_get_the_next_free_one() {
    let text = "kernel void k(device int* a, device int* b [[buffer(0)]], constant int& c, \
                threadgroup int* d, threadgroup int* e [[threadgroup(1)]], threadgroup int* f) {}";
    let memory = |index: &str| Slot::Threadgroup(Some(index.to_owned()));
    let expected = [buffer("1"), buffer("0"), buffer("2"), memory("0"), memory("1"), memory("2")];
    assert_eq!(bindings(text), expected);
}

#[test]
fn parameters_have_names_types_and_conditions() {
    let text = "constant bool has [[function_constant(0)]];\n\
                kernel void k(device const metal::vec<half, 4>* x \
                [[buffer(0), function_constant(has)]], \
                uint3 [[thread_position_in_grid]]) {}";
    let parameters = made(text).signatures.remove(0).parameters;
    assert_eq!((parameters[0].name.as_str(), parameters[1].name.as_str()), ("x", ""));
    assert_eq!(parameters[0].kind, "device const metal::vec<half, 4>*");
    assert_eq!(parameters[0].optional.as_deref(), Some("has"));
    assert_eq!(parameters[1].kind, "uint3");
}

#[test]
fn wrong_attributes_are_refused() {
    refuses(
        "kernel void k(uint t [[thread_position_in_gird]]) {}",
        "k.metal:1:24: error: unknown attribute [[thread_position_in_gird]]; did you mean \
         [[thread_position_in_grid]]?",
    );
    refuses("kernel void k(uint t [[colour(0)]]) {}", "unknown attribute [[colour]]");
    refuses("kernel void k(uint t) {}", "parameter `t` of kernel `k` has no attribute");
    refuses("kernel void k(int t [[thread_position_in_grid]]) {}", "expected ushort, uint, or");
    refuses("kernel void k(uint2 t [[thread_index_in_simdgroup]]) {}", "expected ushort or uint");
    refuses("kernel void k(device int* x [[buffer(31)]]) {}", "the highest index is 30");
    refuses("fragment void f() {}", "only compute kernels over buffers are simulated");
}

#[test]
fn what_is_named_twice_is_refused() {
    let twice = "kernel void k(device int* x [[buffer(1)]], device int* y [[buffer(1)]]) {}";
    refuses(twice, "[[buffer(1)]] is used twice, by `x` and `y`");
    refuses("kernel void k() {} namespace n { kernel void k() {} }", "kernel `k` is defined twice");
    let constants =
        "constant int a [[function_constant(2)]]; constant int b [[function_constant(2)]];";
    refuses(constants, "[[function_constant(2)]] is used twice, by `a` and `b`");
}

#[test]
fn positions_of_one_kernel_have_one_width() {
    let text = "kernel void k(uint2 a [[thread_position_in_grid]], \
                uint b [[threads_per_threadgroup]]) {}";
    refuses(text, "`uint b` and `uint2 a` have different numbers of dimensions");
    let text = "kernel void k(uint2 a [[thread_position_in_grid]], \
                ushort b [[thread_index_in_threadgroup]]) {}";
    assert!(faults(text).is_empty());
}

#[test]
fn wrong_instances_and_threadgroup_variables_are_refused() {
    refuses(
        "template [[host_name(\"h\")]] kernel void a<half>(device half*);",
        "no kernel template `a`",
    );
    let loose =
        "template <typename T> kernel void a(device T* x) {} template kernel void a(device int*);";
    refuses(loose, "expected `template [[host_name");
    refuses("void f() { threadgroup int x; }", "a threadgroup variable stands in a kernel");
    refuses("kernel void k() { threadgroup int x = 1; }", "cannot have a value");
}

#[test]
fn every_pointer_and_reference_has_an_address_space() {
    refuses(
        "int f(int* p) { return *p; }",
        "k.metal:1:10: error: pointer `p` has no address space",
    );
    refuses("int f(const int& p) { return p; }", "reference `p`");
    refuses("void f() { float* p = 0; }", "pointer `p`");
    refuses("struct S { metal::vec<int, 2>* p; };", "pointer `p`");
    refuses("float* f() { return 0; }", "pointer `f`");
    let right = "int f(device int* p, thread int& q, thread auto& r) {\n\
                 int a = b * c; f(a & b); return x; }\n\
                 template <typename T> T g(T x, metal::vec<T, 4> y = a & b) { return x * y; }\n\
                 struct S { device int* p; int f() { return p[1] * 2; } };";
    assert!(faults(right).is_empty(), "{:?}", faults(right));
}

#[test]
fn constants_become_macros() {
    let text = "namespace n { constant metal::vec<int, 2> a [[function_constant(3)]]; }\n\
                constant int b = n::a.x + 1;\nconstant int c = b;\nconstant int d = 4;";
    let made = made(text).text;
    assert!(made.contains("MSIM_CONSTANT(a, 3, metal::vec<int, 2>)"), "{made}");
    assert!(made.contains("MSIM_DERIVED(b, (int), n::a.x + 1);"), "{made}");
    assert!(made.contains("MSIM_DERIVED(c, (int), b);"), "{made}");
    assert!(made.contains("constant int d = 4;"), "{made}");
    assert!(made.contains("sizeof(n::msim_value_a), \"a\", \"metal::vec<int, 2>\""), "{made}");
}

#[test]
fn vectors_are_made_as_metal_makes_them() {
    let line = |text: &str| body(&format!("int f = {text};")).replace("\n# 1 \"k.metal\"\n", "");
    let has = |text: &str, expected: &str| {
        let squeezed: String = line(text).split_whitespace().collect();
        assert!(squeezed.contains(expected), "{text}: {squeezed}");
    };
    has("vec<T, 4>(x)", "msim_make<vec<T,4>>(x)");
    has("metal::vec<vec<T, 2>, 4>(x)", "msim_make<metal::vec<vec<T,2>,4>>(x)");
    has("(float4)x + 1", "+(msim_cast<float4>)x+1");
    has("f((half4)(float4)x)", "f(+(msim_cast<half4>)+(msim_cast<float4>)x)");
    has("1.5bf + 2.0H", "msim_make<bfloat>(1.5f)+2.0h");
    has("0xBFu", "0xBFu");
    has("g(float4)", "g(float4)");
    let declared =
        body("void f(thread float4 (&x)[8]) {} struct S { operator half2() { return h; } };");
    assert!(declared.contains("float4 MSIM_DECLARATOR"), "{declared}");
    assert!(declared.contains("half2 MSIM_DECLARATOR"), "{declared}");
}

#[test]
fn functions_of_metal_become_functions_of_cpp() {
    let squeezed = |text: &str| body(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let array = squeezed("void f(threadgroup int x[4], thread int (&y)[2]) {}");
    assert!(array.contains("threadgroup int * # 1 \"k.metal\" x , thread"), "{array}");
    assert!(array.contains("(&y)[2]"), "{array}");
    let members =
        "struct S { int v; int g() const device { return v; } int g() const { return v; } };";
    assert_eq!(squeezed(members), "struct S { int v; int g() const { return v; } };");
    assert!(made(members).in_spaces.contains("S"));
    let constructors =
        "template <class T> struct S { T v; constexpr S<T>() threadgroup = default; };";
    assert_eq!(squeezed(constructors), "template <class T> struct S { T v; };");
    let again = "int f(device int* p) { return *p; } int f(constant int* p) { return *p; }";
    let again = squeezed(again);
    assert!(again.contains("MSIM_OF_ANOTHER_SPACE( # 1 \"k.metal\""), "{again}");
    let classes = "template <class T> struct P {};\n\
                   template <class T> struct P<device T*> { int a; };\n\
                   template <class T> struct P<thread T*> { int a; };";
    let classes = body(classes);
    let wrapped = classes.lines().last().unwrap_or_default();
    assert!(wrapped.trim_end().ends_with(')'), "{classes}");
    assert_eq!(classes.matches("MSIM_OF_ANOTHER_SPACE").count(), 1, "{classes}");
}

#[test]
fn any_text_is_read_without_harm() {
    let broken = [
        "",
        "kernel",
        "kernel void",
        "kernel void k(",
        "kernel void k() {",
        "template",
        "template <",
        "template kernel void k<",
        "[[",
        "[[buffer(",
        "kernel void k(device float* x [[buffer(0)]",
        "struct",
        "struct S {",
        "namespace",
        "namespace {",
        "operator",
        "x operator",
        "(float4)",
        "vec<",
        "vec<int",
        "vec<int>(",
        ")",
        "}",
        ">",
        ">>",
        "] ]",
        "constant",
        "constant x",
        "constant int x [[function_constant]];",
        "kernel void k() { threadgroup ; }",
        "kernel void k() { threadgroup int a, ; }",
        "kernel void k(,) {}",
        "template <> kernel",
        "template void f<>;",
        "template ;",
        "decltype(",
        "int f(decltype) {}",
        "alignas",
        "kernel void k() { alignas }",
        "kernel void k() { const",
        "void f(int a[) {}",
        "for (",
    ];
    for text in broken {
        let _ = generate(text, "k.metal", &Columns::default());
    }
}
