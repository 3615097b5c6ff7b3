//! Stands in for `objects::unwind` until that is there: a stack is its first address.

use crate::objects::Library;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arch {
    X86_64,
    Aarch64,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserRegs {
    pub ip: u64,
    pub sp: u64,
    pub bp: u64,
    pub lr: Option<u64>,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnwindEnd {
    Root,
    CutAtDump,
    NoTable,
    Failed,
}
#[derive(Debug, Clone)]
pub struct ProcessUnwinder {}
impl ProcessUnwinder {
    pub fn new(_arch: Arch) -> Self {
        ProcessUnwinder {}
    }
    pub fn add_map(&mut self, _l: &Library, _s: u64, _e: u64, _o: u64, _b: Option<&str>, _p: &str) {}
    pub fn unwind(&mut self, regs: &UserRegs, _stack: &[u8], out: &mut Vec<u64>) -> UnwindEnd {
        out.push(regs.ip);
        UnwindEnd::NoTable
    }
}
