use super::super::pool::Pool;
use super::*;

fn never() -> bool {
    false
}

#[test]
fn rectangles_cover_a_matrix_once() {
    for threads in [1, 3] {
        let pool = Pool::new(threads).unwrap();
        let workers = Workers { pool: &pool, stop: &never };
        for (rows, columns, band, run) in
            [(1, 1, 1, 1), (5, 7, 2, 3), (16, 64, 16, 64), (3, 9, 4, 10)]
        {
            let mut data = vec![0_u32; rows * columns];
            let grid = Grid::new(&mut data, columns, Cuts::Every(band), run).unwrap();
            workers
                .each(grid, &|mut rectangle| {
                    for row in rectangle.rows.clone() {
                        rectangle.row(row).iter_mut().for_each(|x| *x += 1);
                    }
                })
                .unwrap();
            assert!(data.iter().all(|x| *x == 1), "{rows}x{columns}");
        }
    }
}

#[test]
fn listed_rows_alone_are_written_and_rooms_are_apart() {
    let pool = Pool::new(3).unwrap();
    let workers = Workers { pool: &pool, stop: &never };
    let mut data = vec![0_u32; 8 * 4];
    let mut room = vec![0.0; 3 * 5];
    let cuts = [1..3, 5..6];
    let grid = Grid::new(&mut data, 4, Cuts::Listed(&cuts), 2).unwrap();
    workers
        .fill(&[grid], &mut room, &|_, mut rectangle, room| {
            assert_eq!(room.len(), 5);
            for row in rectangle.rows.clone() {
                let cut = rectangle.cut as u32 + 1;
                rectangle.row(row).fill(cut);
            }
        })
        .unwrap();
    let firsts: Vec<u32> = data.iter().step_by(4).copied().collect();
    assert_eq!(firsts, [0, 1, 1, 0, 0, 2, 0, 0]);
}

#[test]
fn cuts_that_overlap_or_leave_the_matrix_are_refused() {
    let mut data = vec![0_u32; 8];
    assert!(Grid::new(&mut data, 2, Cuts::Listed(&[0..2, 1..3]), 2).is_err());
    assert!(Grid::new(&mut data, 2, Cuts::Listed(&[2..3, 0..1]), 2).is_err());
    assert!(Grid::new(&mut data, 2, Cuts::Listed(&[0..1, 3..5]), 2).is_err());
    assert!(Grid::new(&mut data, 2, Cuts::Every(0), 2).is_err());
    assert!(Grid::new(&mut data, 3, Cuts::Every(1), 2).is_err());
}
