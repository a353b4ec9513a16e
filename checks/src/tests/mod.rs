//! The judge against histories made by hand and by a simulated cache.

mod by_hand;
mod hand;
mod simulated;
