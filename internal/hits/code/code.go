package code

import "debug/elf"

// Refusal is an error of Analyse: the reason why a whole object is not planted, as a text for
// people.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// The reasons for whole objects.
const (
	NotELF          Refusal = "not an ELF file"
	NotAMD64        Refusal = "not for amd64"
	NotLinked       Refusal = "neither a program nor a shared library"
	NoSections      Refusal = "its table of sections is missing"
	NoCode          Refusal = "has no executable code"
	GoProgram       Refusal = "made by the Go compiler, whose stacks and stops need its own code where it was"
	TextRelocations Refusal = "its code is relocated in place when it is loaded"
	Restartable     Refusal = "has restartable sequences, which the kernel knows by address"
	Runtime         Refusal = "a runtime that knows its own instructions by their addresses when they fault"
	Damaged         Refusal = "its tables contradict each other"
	TooLarge        Refusal = "its code or data are larger than what is analysed"
)

// Reason is the reason why a function's entry must not be changed, as a text for people; empty: it
// may be changed.
type Reason string

// The reasons for functions.
const (
	ProcessEntry  Reason = "entry of the process"
	Resolver      Reason = "resolver of an indirect function, which runs while the program is being linked"
	Linkage       Reason = "in a section of linkage code"
	Fragment      Reason = "part of another function"
	NoSize        Reason = "size unknown"
	Small         Reason = "too small for a jump"
	Undecodable   Reason = "holds instructions that are not known, or data"
	Immovable     Reason = "begins with an instruction that cannot be moved"
	EarlyCall     Reason = "calls within the bytes of the jump"
	BranchInto    Reason = "a branch, a pointer or the catching of an exception leads into the bytes of the jump"
	LoopAtEntry   Reason = "a loop returns to the entry"
	ComputedJumps Reason = "jumps to places that it computes"
	Guarded       Reason = "exceptions of the bytes of the jump are caught"
	MayFault      Reason = "begins with an instruction whose fault may be an exception in this program"
	NoStack       Reason = "the flags could only be preserved in memory that it does not use"
	Copied        Reason = "its address is taken by code that can make a copy of it and execute that"
	SignalReturn  Reason = "return from a signal, which debuggers know by its bytes"
)

// Object is the result of Analyse for an ELF file.
type Object struct {
	// BuildID is the build-id in hexadecimal digits, or for an object without one "text-" and a hash
	// of its code. Objects with the same BuildID have the same functions.
	BuildID string
	// Catches is set if the object catches exceptions: then a handler of signals may throw one out of a
	// fault of any object of the process.
	Catches bool
	// Locks is set if the object calls mlockall(2), which more memory can make fail.
	Locks     bool
	Loads     []elf.ProgHeader // the executable segments
	Functions []Function       // by Entry
}

// Function is one function of an object. Addresses are the virtual addresses of the file.
type Function struct {
	Name  string // of a symbol, or 0x and the address
	Entry uint64
	// Patch is where the jump is written: the entry, or the instruction after its endbr64.
	Patch uint64
	// Original has the bytes from Patch on that the jump displaces: whole instructions, and for a very
	// small function unused bytes after it. None: the function must not be changed.
	Original []byte
	// Careful is set if the processor's flags may be live at the entry. Then the trampoline
	// preserves them, which costs some cycles.
	Careful bool
	// Faults is set if a displaced instruction can fault, or the trampoline uses the stack.
	Faults bool
	Reason Reason
}

// Placement has the addresses at run time.
type Placement struct {
	Bias       uint64 // added to the file's addresses
	Trampoline uint64 // address of the trampoline
	Counter    uint64 // address of the counter: 8 bytes, aligned to 8
	// Exact makes increments atomic, so that no hit of concurrent threads is lost.
	Exact bool
}
