//! LLVM IR text → Program, its interpreter, its traces.
