"""Inline assembly as C: what each statement does, by its text and its constraints.

In: LLVM IR with calls of inline assembly. Out: the same IR with calls of C functions, and the text
of these functions. Assembly whose meaning is not known stays, and the engine refuses it where it is
reachable.

The instructions have the meaning of their instruction set, stated in terms of the language:

- a `lock`ed instruction and `xchg` with memory are seq_cst read-modify-writes;
- `mfence`, `lock; addl $0,(%rsp)`, `dmb ish`, `sync` and `fence rw,rw` are seq_cst fences; `lwsync`
  and `fence.tso` are acq_rel, `dmb ishld` and `fence r,rw` acquire, `fence rw,w` release fences;
- a `mov` from or to memory is a relaxed load or store; an instruction without `lock` that changes
  memory is a relaxed load and a relaxed store;
- an empty statement with a "memory" clobber restrains only the compiler: a signal fence;
- `lfence`, `sfence` and `isb` order nothing in normal memory that C code can observe, and `pause`,
  `yield` and `nop` do nothing;
- `int3`, `ud2` and `brk` end the program, as `__builtin_trap` does;
- jumps lead to labels of the same statement; `cpuid` is that of a processor without any feature.

So under a model of the language a compiler barrier orders nothing, although on x86 it is all that
an acquire load needs: explore programs that rely on x86 under `tso`.
"""
