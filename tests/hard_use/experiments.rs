//! Stored runs of experiments are never discarded in silence.
