//! Files that change, lie or are not what they seem.
