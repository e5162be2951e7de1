//! evaluation
pub mod coherence_orders;
pub mod consistency;
pub mod graph_values;
pub mod input;
pub mod order_classes;
pub mod plan_cache;
pub mod prepare;
pub mod prepared;
pub mod rows;
pub mod schedule;
pub mod search;
