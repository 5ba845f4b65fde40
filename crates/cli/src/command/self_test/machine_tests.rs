use super::{pretty_name, product_version, system};

#[test]
fn the_system_names_itself() {
    let list = "<dict>\n<key>ProductName</key>\n<string>macOS</string>\n\
                <key>ProductVersion</key>\n\t<string>15.3.1</string>\n</dict>";
    assert_eq!(product_version(list), Some("15.3.1"));
    assert_eq!(product_version("<dict/>"), None);
    let release = "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
    assert_eq!(pretty_name(release), Some("Debian GNU/Linux 12 (bookworm)"));
    assert!(!system().is_empty());
}
