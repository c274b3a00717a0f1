// Package code is the pure part of the planter. It computes which functions an ELF file for amd64 has, which of
// their entries a jump can displace without changing the behaviour of the program, and the bytes to write:
//
//	object, err := code.Analyse(file)
//	patch, trampoline, err := code.Emit(object.Functions[i], placement)
//
// # The jump
//
// At a function's entry (after its endbr64, which stays first) a jump of five bytes leads to a trampoline. The
// trampoline increments a counter in memory, executes the displaced instructions, and jumps back after them:
//
//	entry:       endbr64            trampoline:  incq  counter(%rip)
//	             jmp trampoline                  push  %rbp
//	             int3 …                          mov   %rsp,%rbp
//	back:        …                               sub   $32,%rsp
//	                                             jmp   back
//
// Displaced branches get distances of 32 bits, and operands relative to rip get new displacements. A displaced call
// becomes a push of the original return address and a jump, so that no return address is ever in a trampoline: unwinding,
// backtraces and __builtin_return_address have the same results as before. (Only hardware with a shadow stack does not
// allow this: package plant leaves processes alone that have one.)
//
// # What must not change
//
// Registers: none is changed. For calls within an object compilers know which registers a callee does not change (GCC's
// -fipa-ra), so the ABI does not allow the use of any register.
//
// Flags: incq writes them. It is used only if the function's first instructions write all flags before any reads
// them. Then no code can observe the flags at the entry. Otherwise the trampoline preserves them, by adding with
// lea, or with lahf, seto and sahf around an atomic increment.
//
// Stack: incq uses none. The other kind of trampoline saves one register in the eight bytes below the stack, and is only
// used if the function itself overwrites these before it uses them (pushes). So memory below a full stack, which may
// belong to something else, is not written.
//
// Control: control must not reach any displaced instruction except the first from elsewhere. This must be shown for
// the whole object, while most other planters only check the function itself. All addresses to which control may be
// transferred are marked:
//
//   - the targets of direct branches and calls. Those of 32 bits are searched at every byte of code, as if an
//     instruction began there, so that none is missed, whatever data is among the code; this excludes one function in a
//     thousand by chance. Those of 8 bits are found by decoding all functions from end to end, and searched at every
//     byte if decoding fails, if a branch leads between instructions, and where there is no function;
//   - data among the code that operands relative to rip read. After a function of less than five bytes only nops and
//     int3 are taken for unused, never zeros;
//   - addresses that code takes (lea relative to rip), again at every byte, and the targets of tables of distances at
//     such addresses: switch statements. A function that jumps through a register and takes an address within
//     itself (computed goto over distances) is never planted;
//   - pointers: relocations if an object can be loaded anywhere; for an object at a fixed address, any four
//     bytes of data that look like an address of its code, and all constants in its instructions;
//   - symbols, other functions, and landing pads of exceptions.
//
// A function is not planted if a marked address is within the bytes that the jump displaces, except for the first
// byte. It is not planted either if one of its loops returns to the first byte, because hits would then count iterations
// and not calls.
//
// Instructions: displaced instructions must be in the list effects, and two decoders must agree on their length:
// x86asm, and the fast one of this package, which decodes only lengths and reads whole objects. Tests compare the fast
// one with objdump, and execute random functions with and without a displaced entry.
//
// # Remaining limits
//
// If a signal arrives while a thread is in a trampoline, its context has an address there, which no unwinder knows: a
// backtrace from a signal handler, or an asynchronous pthread_cancel, ends there. A fault of a displaced instruction
// matters only to a program whose handler examines the address of the fault. A handler that throws an exception does so
// through the unwinder (Ada, and C++, D and Go by gcc with -fnon-call-exceptions). Object.Catches is set if an object's
// tables for unwinding show that it catches exceptions, by the personality in its CIEs and its exception tables; no symbol
// is needed for that. In a process with such an object only functions with Function.Faults unset may be planted.
// Runtimes that identify faults by their addresses (those of Java, .NET, Mono, OCaml and GraalVM) are refused as a whole.
//
// A program that reads its own code as data sees the jumps. A function that is copied and executed elsewhere would jump to
// nowhere. So a function whose address is taken, other than to call it, is not planted in an object that can make memory
// executable: one that has mmap or mprotect among its symbols, is linked statically, or has an executable stack or
// writable code. Not recognised are a function that another object copies, and a whole range of functions that is copied
// by the addresses of others.
//
// Programs of the Go compiler, text relocations and restartable sequences are refused.
//
// # Related work
//
// uftrace decodes the function itself. It checks for branches back into the first bytes since one made gcc's cc1
// crash (uftrace issue 281). It moves jumps and some operands relative to rip, and ignores jumps through registers
// (pull request 1239). Linux's kprobes decode the whole function and refuse it for any such jump. frida-gum examines
// the displaced instructions and those after them. LiteInst and e9patch need no such proof: they write jumps
// whose bytes after the first are the original ones ("punning"), which needs trampolines at thousands of addresses
// that the code dictates. The analysis saves the page of memory that each of these would need.
//
// The package is pure: it reads an io.ReaderAt, and must not use a clock, files, goroutines or a global random source.
package code
