//! Lambda fields.
