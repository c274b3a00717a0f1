// Package code is the part of the planter that only computes: which functions an ELF file for amd64 has, which of
// their entries a jump can displace without any change of what the program does, and the bytes to write.
//
// # What is done
//
// At a function's entry (behind its endbr64, which stays first) a jump of five bytes leads to a trampoline. There a
// counter in memory goes up by one, the displaced instructions are run, and a jump leads back behind them:
//
//	entry:       endbr64            trampoline:  incq  counter(%rip)
//	             jmp trampoline                  push  %rbp
//	             int3 …                          mov   %rsp,%rbp
//	back:        …                               sub   $32,%rsp
//	                                             jmp   back
//
// Displaced branches get distances of 32 bits, operands relative to rip new displacements. A displaced call becomes a
// push of the return address as it was and a jump, so that no return address ever lies in a trampoline: unwinding,
// backtraces and __builtin_return_address find what they always found. (Only hardware that keeps a shadow stack
// would not stand it; Function.Calls tells.)
//
// # What must not change
//
// Registers: none is used. Compilers know for calls within an object which registers a callee leaves alone (GCC's
// -fipa-ra), so the ABI is no excuse for using one.
//
// Flags: incq writes them. It is used only where the function's first instructions write all of them before
// any reads them; then nobody can see what they were, whoever has come to the entry and how. Elsewhere the
// trampoline preserves them, by adding with lea, or around an atomic increment by lahf, seto and sahf.
//
// Stack: the incq takes none. The other sort steps over the red zone and then saves one register. So even code that
// does not keep to the ABI, in assembly or fragments of functions entered by a jump, finds everything as it was.
//
// Control: nothing but the first displaced instruction may be come to. This is what has to be shown, from the whole
// object, and where most other planters are content with the function itself. Addresses to which something may lead
// are marked:
//
//   - where direct branches and calls lead. Those of 32 bits are looked for at every byte of code, as if an
//     instruction began there, so that none is missed whatever data lies among the code; by chance that costs a function in a
//     thousand. Those of 8 bits are looked for by decoding all functions from end to end, and at every byte where
//     that fails, where a branch leads between its instructions, and where there is no function;
//   - addresses that code takes (lea relative to rip), again at every byte, and what tables of distances at such
//     addresses lead to: switch statements. If a function jumps through a register and takes an address within
//     itself (computed goto over distances), it is left alone altogether;
//   - pointers: relocations where an object can lie anywhere; where it lies at a fixed place, whatever
//     four bytes of data look like an address of its code, and all constants in its instructions;
//   - symbols, other functions, and where exceptions are caught (landing pads).
//
// A function is left alone if a marked address lies within the bytes that the jump displaces, but for the first. It
// is left alone, too, if a loop of its own returns to the first, as hits would then count turns and not calls.
//
// Instructions: those that are displaced must be on a list (effects) and have the same length for two decoders,
// x86asm and the fast one of this package, which knows lengths only and reads whole objects. Tests compare that one
// with objdump, and run functions made up at random with and without their entry displaced.
//
// # What remains
//
// A signal that arrives while a thread is in a trampoline has an address in it, of which no unwinder knows: a
// backtrace from a signal handler, or an asynchronous pthread_cancel, ends there. That a displaced instruction itself faults
// matters only to a program that catches it and looks where it came from: functions that begin with such an access are left alone in
// objects whose language makes faults exceptions (Ada, Go and D by gcc), and runtimes that tell by the address what a fault means (Java's,
// .NET's, Mono's) are left alone as a whole. A program that reads its own code as data sees the jumps. Programs of
// the Go compiler, text relocations and restartable sequences are refused.
//
// # Others
//
// uftrace decodes the function itself, and learnt of branches back into its first bytes when gcc's cc1 crashed by
// one (uftrace issue 281). It moves jumps and some operands relative to rip, and passes over jumps through registers
// (pull request 1239). Linux's kprobes decode the whole function and refuse it for any such jump. frida-gum looks
// at the displaced instructions and what follows them. LiteInst and e9patch need no such proof: they write jumps
// whose bytes after the first are those that were there ("punning"), which asks for trampolines at thousands
// of addresses that the code dictates; a page of memory for each is what we save by the analysis.
//
// The package is pure: it reads what an io.ReaderAt gives it, and has no clock, file, goroutine or global
// random source.
package code
