use super::size;

#[test]
fn sizes_are_those_of_the_types() {
    // float, half3, bool, ulong2, bfloat4, and a texture.
    let found = [3, 18, 53, 86, 124, 58].map(size);
    assert_eq!(found, [Some(4), Some(8), Some(1), Some(16), Some(8), None]);
}
