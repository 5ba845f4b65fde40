//! The executable definition of every op, and a device made of it.
