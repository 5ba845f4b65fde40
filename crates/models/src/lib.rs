//! Architectures: typed configurations, weight lists, graph builders.
