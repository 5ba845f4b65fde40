//! The built command as its users meet it: help, messages, JSON, files, pipes, fetching.

mod answer;
mod chat;
mod command_line;
mod elsewhere;
mod fetch;
mod files;
mod measure;
mod mistakes;
mod self_test;
mod server;
mod shell;
#[cfg(unix)]
mod terminal;
mod warnings;
