//! The device contract, and the planner from Graph to Program.
