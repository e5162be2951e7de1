//! A typed plan and a graph of events → the solutions, or whether the graph is consistent.
//!
//! - [`input`]: the graph and the solutions, as callers see them.
//! - [`plan_cache`]: plans, typed plans and schedules, stored per model.
//! - [`rows`]: sets and relations as rows of bits, and the instructions on them; [`graph_values`]
//!   adds the values that are neither.
//! - [`prepare`] computes what the graph alone determines and gives a [`prepared`] model;
//!   [`schedule`] orders the remaining work.
//! - [`search`] enumerates the choices; [`counting`] counts those of a coherence order where
//!   [`coherence_orders`] shows that no search is needed; [`partial`] rejects partial candidates;
//!   [`order_classes`] says what an order consists of.
//! - [`consistency`] checks complete graphs, without a search.
pub mod coherence_orders;
pub mod consistency;
pub mod counting;
pub mod graph_values;
pub mod input;
pub mod order_classes;
pub mod partial;
pub mod plan_cache;
pub mod prepare;
pub mod prepared;
pub mod rows;
pub mod schedule;
pub mod search;
