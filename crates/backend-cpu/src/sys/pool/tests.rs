use super::*;

fn never() -> bool {
    false
}

fn workers(pool: &Pool) -> Workers<'_> {
    Workers { pool, stop: &never }
}

#[test]
fn each_task_runs_once_whatever_the_threads() {
    for threads in [1, 2, 3, 8] {
        let pool = Pool::new(threads).unwrap();
        assert_eq!(pool.workers(), threads);
        for tasks in [0, 1, 2, 7, 100] {
            let counts: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
            let task = |worker: usize, index: usize| {
                assert!(worker < threads);
                counts[index].fetch_add(1, Ordering::Relaxed);
            };
            workers(&pool).run(tasks, &task).unwrap();
            assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1));
        }
    }
}

#[test]
fn launches_follow_each_other_quickly_and_after_a_sleep() {
    let pool = Pool::new(3).unwrap();
    let total = AtomicUsize::new(0);
    for round in 0..2000 {
        let task = |_: usize, _: usize| {
            total.fetch_add(1, Ordering::Relaxed);
        };
        workers(&pool).run(5, &task).unwrap();
        if round % 500 == 0 {
            thread::sleep(Duration::from_millis(2));
        }
    }
    assert_eq!(total.load(Ordering::Relaxed), 10_000);
}

#[test]
fn a_panic_ends_the_launch_and_not_the_pool() {
    for threads in [1, 3] {
        let pool = Pool::new(threads).unwrap();
        let task = |_: usize, index: usize| assert!(index != 3, "task {index} is broken");
        let fault = workers(&pool).run(50, &task).unwrap_err();
        let Fault::Failed(text) = fault else { panic!("{fault:?}") };
        assert!(text.contains("task 3 is broken"), "{text}");
        workers(&pool).run(50, &|_, _| ()).unwrap();
    }
}

#[test]
fn a_limit_stops_between_tasks() {
    let pool = Pool::new(1).unwrap();
    let ran = AtomicUsize::new(0);
    let stop = || ran.load(Ordering::Relaxed) >= 4;
    let task = |_: usize, _: usize| {
        ran.fetch_add(1, Ordering::Relaxed);
    };
    let workers = Workers { pool: &pool, stop: &stop };
    assert_eq!(workers.run(1000, &task), Err(Fault::Stopped));
    assert_eq!(ran.load(Ordering::Relaxed), 4);
}

#[test]
fn workers_write_to_what_the_caller_borrows() {
    let pool = Pool::new(4).unwrap();
    for _ in 0..200 {
        let cells: Vec<AtomicU64> = (0..64).map(|_| AtomicU64::new(0)).collect();
        let task = |_: usize, index: usize| cells[index].store(index as u64 + 1, Ordering::Relaxed);
        workers(&pool).run(64, &task).unwrap();
        assert_eq!(cells.iter().map(|c| c.load(Ordering::Relaxed)).sum::<u64>(), 64 * 65 / 2);
    }
}
