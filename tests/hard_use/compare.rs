//! Comparing systems: what does not belong together is refused, and rounding is no win.
