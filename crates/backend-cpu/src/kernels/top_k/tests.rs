use super::*;

fn selected(x: &[f32], k: usize) -> (Vec<i32>, Vec<f32>) {
    let (mut ids, mut elements) = (vec![-7; k], vec![-7.0; k]);
    select(x, &mut ids, &mut elements);
    (ids, elements)
}

#[test]
fn the_largest_come_in_falling_order_and_the_lower_column_first() {
    assert_eq!(selected(&[1.0, 3.0, 2.0, 3.0], 3), (vec![1, 3, 2], vec![3.0, 3.0, 2.0]));
    assert_eq!(selected(&[0.0, -0.0, 0.0], 2).0, [0, 1]);
    assert_eq!(selected(&[-1.0], 1), (vec![0], vec![-1.0]));
    assert_eq!(selected(&[f32::NEG_INFINITY, 5.0], 2).0, [1, 0]);
}

#[test]
fn all_of_a_long_row_equals_a_stable_sort() {
    let x: Vec<f32> = (0..97).map(|i| ((i * 37) % 19) as f32).collect();
    let mut expected: Vec<i32> = (0..97).collect();
    expected.sort_by(|a, b| x[*b as usize].total_cmp(&x[*a as usize]));
    for k in [1, 2, 19, 96, 97] {
        assert_eq!(selected(&x, k).0, expected[..k]);
    }
}
