//! todo
#[test] fn x(){}
