//! The built command as its users meet it: help, messages, JSON, files, pipes, fetching.

mod answer;
mod chat;
mod command_line;
mod fetch;
mod files;
mod measure;
mod server;
mod shell;
mod warnings;
