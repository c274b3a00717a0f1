package code

import "errors"

// Refusal is an error of Analyse: why an object as a whole is left alone, as a text for people.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// What is refused as a whole.
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

// Reason says why a function's entry is not to be touched, as a text for people; empty: it may be.
type Reason string

// Why functions are left out.
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
	MayFault      Reason = "begins with an access to memory whose fault is an exception in its language"
	SignalReturn  Reason = "return from a signal, which debuggers know by its bytes"
)

// Object is what Analyse found in an ELF file.
type Object struct {
	// BuildID is the build-id in hexadecimal digits, or for an object without one "text-" and a hash of its
	// code. Two objects with the same one have the same functions.
	BuildID   string
	Functions []Function     // by Entry
	Left      map[Reason]int // functions that are not to be touched, by reason
}

// Function is one function of an object. Addresses are the file's virtual ones.
type Function struct {
	Name  string // of a symbol, or 0x and the address
	Entry uint64
	Size  uint64
	// Patch is where the jump is written: the entry, or the instruction behind its endbr64.
	Patch uint64
	// Displaced is how many bytes from Patch on the jump displaces, whole instructions, and of a very small function
	// unused bytes behind it; 0: not to be touched.
	Displaced int
	// Careful is set if the processor's flags could not be shown to be dead at the entry. Then the trampoline
	// preserves them, which costs some cycles.
	Careful bool
	// Calls is set if a call is displaced. The trampoline makes it of a push of the return address as it was and a
	// jump: stacks look as they would, but hardware that keeps a shadow stack ends the program if that is in force.
	Calls  bool
	Reason Reason
}

// Placement says where things lie at run time.
type Placement struct {
	Bias       uint64 // is added to the file's addresses
	Trampoline uint64 // address of the trampoline
	Counter    uint64 // address of the counter: 8 bytes, aligned to 8
	// Exact makes increments atomic, so that no hit of concurrent threads is lost.
	Exact bool
}

// Errors of Emit.
var (
	ErrReach    = errors.New("out of reach of a 32-bit distance")
	ErrFunction = errors.New("not a function that may be touched")
	ErrBytes    = errors.New("not the bytes that were analysed")
)
