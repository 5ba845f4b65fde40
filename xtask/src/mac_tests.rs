use super::symbols::{Difference, Library, SYSTEM, differences, parse, used};
use super::{LIST, compare, write_stubs};

const TEXT: &str = "\
# Written with rustc 1.0.0
/usr/lib/libSystem.B.dylib
    _free _malloc    # memory
/System/Library/Frameworks/Metal.framework/Versions/A/Metal
    _MTLCreateSystemDefaultDevice
/System/Library/Frameworks/Foundation.framework/Versions/C/Foundation
";

const NAMES: &str = "
target/minfer:
                 (undefined) external _free (from libSystem)
                 (undefined) weak external _new (dynamically looked up)
                 (undefined) external _MTLCreateSystemDefaultDevice (from Metal)
";

#[test]
fn the_list_that_is_kept_can_be_read() {
    let text = std::fs::read_to_string(crate::process::root().join(LIST)).unwrap();
    let listed = parse(&text).unwrap();
    assert!(listed.iter().any(|library| library.path == SYSTEM && library.symbols.len() > 20));
    assert!(text.contains(super::WRITTEN_WITH), "which compiler it was written with");
}

#[test]
fn a_list_with_a_mistake_is_refused_with_its_line() {
    let refused = |text: &str| parse(text).unwrap_err().to_string();
    assert_eq!(refused("  _free\n"), "line 1: of no library");
    assert_eq!(refused("/a.dylib\n  _b\n  _b\n"), "line 3: _b a second time");
    assert_eq!(refused("/a.dylib\n/a.dylib\n"), "line 2: /a.dylib a second time");
    let library = |path: &str| Library { path: path.to_owned(), symbols: Default::default() };
    assert!(library("/usr/lib/thing").stub_path().unwrap_err().to_string().contains("neither"));
}

#[test]
fn stubs_lie_where_linkers_look() {
    let folder = std::env::temp_dir().join(format!("xtask-mac-{}", std::process::id()));
    write_stubs(&parse(TEXT).unwrap(), &folder).unwrap();
    let read = |path: &str| std::fs::read_to_string(folder.join(path)).unwrap();
    let system = read("usr/lib/libSystem.tbd");
    assert!(system.contains("install-name: '/usr/lib/libSystem.B.dylib'"), "{system}");
    assert!(system.contains("symbols: [ '_free', '_malloc' ]"), "{system}");
    assert_eq!(read("usr/lib/libm.tbd"), system);
    let frameworks = "System/Library/Frameworks";
    assert!(read(&format!("{frameworks}/Metal.framework/Metal.tbd")).contains("_MTLCreate"));
    let empty = read(&format!("{frameworks}/Foundation.framework/Foundation.tbd"));
    assert!(!empty.contains("exports"), "{empty}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_only_one_side_has_is_found() {
    let found = differences(&parse(TEXT).unwrap(), &used(NAMES).unwrap());
    let [Difference::Unlisted { symbol, .. }, Difference::Unused { symbol: old, .. }] = &found[..]
    else {
        panic!("{found:?}");
    };
    assert_eq!((symbol.as_str(), old.as_str()), ("_new", "_malloc"));
    assert!(found.iter().all(Difference::may_be_of_std));
}

#[test]
fn another_compiler_may_use_other_symbols_of_the_system_library_alone() {
    let (listed, found) = (parse(TEXT).unwrap(), used(NAMES).unwrap());
    let error = compare(&listed, &found, true).unwrap_err().to_string();
    assert!(error.contains("_new is used and not listed"), "{error}");
    compare(&listed, &found, false).unwrap();
    let without_metal = used(NAMES.lines().take(4).collect::<Vec<_>>().join("\n").as_str());
    let error = compare(&listed, &without_metal.unwrap(), false).unwrap_err().to_string();
    assert!(error.contains("_MTLCreateSystemDefaultDevice of /System"), "{error}");
    compare(&listed[..0], &[], true).unwrap();
}
