//! What the benches share.

pub mod contenders;
pub mod shapes;
pub mod work;
