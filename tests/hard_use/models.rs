//! Model folders: nothing foreign is deleted, nothing is half written, damage does not load.
