#![expect(unsafe_code, reason = "hands disjoint rectangles of one matrix to different threads")]
//! A matrix that the tasks of a launch write, each its own rectangle.

use std::marker::PhantomData;
use std::ops::Range;

use super::pool::{Fault, Workers};

/// How the rows of a matrix are cut.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cuts<'a> {
    /// Runs of so many rows.
    Every(usize),
    /// These ranges, in rising order, without overlap; rows in none of them are not written.
    Listed(&'a [Range<usize>]),
}

/// A row-major matrix to be written by tasks.
pub(crate) struct Grid<'a, T> {
    data: *mut T,
    rows: usize,
    stride: usize,
    cuts: Cuts<'a>,
    columns: usize,
    borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: threads reach the elements only through rectangles, of which no two overlap.
unsafe impl<T: Send> Sync for Grid<'_, T> {}

/// The part of a matrix that one task writes.
pub(crate) struct Rectangle<'a, T> {
    data: *mut T,
    stride: usize,
    /// Index of the range of rows.
    pub(crate) cut: usize,
    /// Its rows.
    pub(crate) rows: Range<usize>,
    /// Its columns.
    pub(crate) columns: Range<usize>,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T: Send> Grid<'a, T> {
    /// A matrix of rows of `stride` elements, cut into `cuts` of rows and runs of `columns`
    /// columns.
    pub(crate) fn new(
        data: &'a mut [T],
        stride: usize,
        cuts: Cuts<'a>,
        columns: usize,
    ) -> Result<Grid<'a, T>, Fault> {
        let rows = data.len().checked_div(stride).unwrap_or(0);
        let rising = match cuts {
            Cuts::Every(rows) => rows > 0,
            Cuts::Listed(ranges) => {
                let ordered = ranges.windows(2).all(|pair| pair[0].end <= pair[1].start);
                ordered && ranges.iter().all(|range| range.start <= range.end && range.end <= rows)
            }
        };
        if !rising || columns == 0 || rows * stride != data.len() {
            return Err(Fault::Failed(format!("a matrix of {rows} rows cut as {cuts:?}")));
        }
        let data = data.as_mut_ptr();
        Ok(Grid { data, rows, stride, cuts, columns, borrow: PhantomData })
    }

    /// A matrix of no rows: a place to be filled.
    pub(crate) const fn empty() -> Grid<'a, T> {
        Grid {
            data: std::ptr::dangling_mut(),
            rows: 0,
            stride: 1,
            cuts: Cuts::Every(1),
            columns: 1,
            borrow: PhantomData,
        }
    }

    fn bands(&self) -> usize {
        match self.cuts {
            Cuts::Every(rows) => self.rows.div_ceil(rows),
            Cuts::Listed(ranges) => ranges.len(),
        }
    }

    /// Rectangles.
    pub(crate) fn tasks(&self) -> usize {
        self.bands() * self.stride.div_ceil(self.columns)
    }

    /// Rectangle `index`, bands of rows changing fastest.
    ///
    /// # Safety
    /// Each index below `tasks()` is taken once at most while the grid is borrowed.
    unsafe fn rectangle(&self, index: usize) -> Rectangle<'a, T> {
        let (cut, run) = (index % self.bands(), index / self.bands());
        let rows = match self.cuts {
            Cuts::Every(rows) => cut * rows..self.rows.min((cut + 1) * rows),
            Cuts::Listed(ranges) => ranges[cut].clone(),
        };
        let first = run * self.columns;
        let columns = first..self.stride.min(first + self.columns);
        Rectangle { data: self.data, stride: self.stride, cut, rows, columns, borrow: PhantomData }
    }
}

impl<T> Rectangle<'_, T> {
    /// The rectangle's part of `row`, counted from the matrix's first.
    pub(crate) fn row(&mut self, row: usize) -> &mut [T] {
        assert!(self.rows.contains(&row), "row {row} of a rectangle of rows {:?}", self.rows);
        // SAFETY: the constructor has checked that rows and columns lie in the matrix.
        let first = unsafe { self.data.add(row * self.stride + self.columns.start) };
        // SAFETY: inside the rectangle, which is this task's alone, and `self` is borrowed
        // exclusively.
        unsafe { std::slice::from_raw_parts_mut(first, self.columns.len()) }
    }
}

/// Work on one rectangle of a numbered grid, with the worker's room.
type Fill<'a, T> = dyn Fn(usize, Rectangle<'_, T>, &mut [f32]) + Sync + 'a;

impl Workers<'_> {
    /// Runs `task(grid, rectangle, room)` for every rectangle of every grid. `room` is divided
    /// among the workers: a task gets its worker's part, with whatever was left in it.
    pub(crate) fn fill<T: Send>(
        &self,
        grids: &[Grid<'_, T>],
        room: &mut [f32],
        task: &Fill<'_, T>,
    ) -> Result<(), Fault> {
        let share = room.len() / self.pool.workers();
        let rooms = Grid::new(
            &mut room[..share * self.pool.workers()],
            share.max(1),
            Cuts::Every(1),
            share.max(1),
        )?;
        let tasks = grids.iter().map(Grid::tasks).sum();
        self.run(tasks, &|worker, index| {
            let mut index = index;
            for (number, grid) in grids.iter().enumerate() {
                if index >= grid.tasks() {
                    index -= grid.tasks();
                    continue;
                }
                // SAFETY: the pool gives each index to one task.
                let rectangle = unsafe { grid.rectangle(index) };
                if share == 0 {
                    return task(number, rectangle, &mut []);
                }
                // SAFETY: one worker runs one task at a time, and no other worker has its number.
                let mut room = unsafe { rooms.rectangle(worker) };
                return task(number, rectangle, room.row(worker));
            }
        })
    }

    /// Runs `task` for every rectangle of one grid.
    pub(crate) fn each<T: Send>(
        &self,
        grid: Grid<'_, T>,
        task: &(dyn Fn(Rectangle<'_, T>) + Sync),
    ) -> Result<(), Fault> {
        self.fill(&[grid], &mut [], &|_, rectangle, _| task(rectangle))
    }

    /// Runs `task` for corresponding rectangles of two grids cut alike.
    pub(crate) fn pairs<T: Send, U: Send>(
        &self,
        first: &Grid<'_, T>,
        second: &Grid<'_, U>,
        task: &(dyn Fn(Rectangle<'_, T>, Rectangle<'_, U>) + Sync),
    ) -> Result<(), Fault> {
        if first.tasks() != second.tasks() {
            return Err(Fault::Failed("two matrices that are not cut alike".into()));
        }
        self.run(first.tasks(), &|_, index| {
            // SAFETY: the pool gives each index to one task.
            let one = unsafe { first.rectangle(index) };
            // SAFETY: as above; the two grids borrow different memory.
            let other = unsafe { second.rectangle(index) };
            task(one, other);
        })
    }
}

#[cfg(test)]
mod tests;
