//! What devices keep of their steps.

use minfer_graph::Counts;
use minfer_plan::{Done, IN_FLIGHT, Inputs, LaunchTime, Owed, StepRun, Steps, Ticket, TokenInput};

/// The next step, submitted.
fn submit(steps: &mut Steps<&'static str>, work: &'static str) -> (StepRun, Ticket) {
    let run = steps.next(3, Counts { tokens: 2, outputs: 2 }).unwrap();
    (run, steps.submitted(run, work))
}

#[test]
fn two_steps_fly_and_results_stay_until_the_next_but_one() {
    let mut steps = Steps::default();
    let (one, first) = submit(&mut steps, "one");
    let (two, second) = submit(&mut steps, "two");
    assert_eq!((one.ticket, two.ticket, one.split), (1, 2, 3));
    assert!(one.slot != two.slot && one.slot.max(two.slot) < IN_FLIGHT);
    assert!(steps.next(3, one.counts).is_none());
    assert_eq!(steps.pending(2), Some(two));
    // Waiting for the second ends the first before it.
    assert_eq!(steps.pop_until(&second), Some((one, "one")));
    let launches = vec![LaunchTime { step: 4, ..LaunchTime::default() }];
    steps.finish(one, None, Done { launches, ..Done::default() });
    assert_eq!(steps.pop_until(&first), None);
    assert_eq!(steps.pop_until(&second), Some((two, "two")));
    steps.finish(two, None, Done::default());
    let done = steps.done(&first).unwrap();
    assert_eq!((done.ticket, done.launches.len()), (1, 1));
    let (three, _) = submit(&mut steps, "three");
    assert_eq!((three.slot, steps.finished(1), steps.finished(2)), (one.slot, None, Some(two)));
    steps.clear();
    assert_eq!((steps.finished(2), steps.pending(3)), (None, None));
    assert_eq!(submit(&mut steps, "four").0.ticket, 4, "tickets go on counting");
}

#[test]
fn ids_are_left_to_the_next_steps() {
    let mut steps = Steps::default();
    for id in 1..=5 {
        let (run, ticket) = submit(&mut steps, "");
        assert!(steps.pop_until(&ticket).is_some());
        steps.finish(run, Some(&[10 * id, 10 * id + 1]), Done::default());
    }
    let from = |ticket, row| TokenInput::From { ticket, row };
    let tokens = vec![TokenInput::Known(7), from(5, 1), from(2, 0), from(1, 0), from(5, 2)];
    let mut resolved = vec![99; 8];
    let owed = steps.resolve(&Inputs { tokens, ..Inputs::default() }, &mut resolved);
    assert_eq!(resolved, [7, 51, 20, -1, -1]);
    let unknown = |token, ticket, row| Owed { token, ticket, row };
    assert_eq!(owed, [unknown(3, 1, 0), unknown(4, 5, 2)], "one is forgotten, one was never there");
}
