//! Architectures as their users see them: files to models to graphs.

mod config;
mod graphs;
mod hostile;
mod make;
mod rotation;
mod round_trip;
mod tensors;
