//! Exit codes, suggestions, and progress in logs.
