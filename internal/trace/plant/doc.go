// Package plant counts how often the functions of a running native program are entered, without a word from the
// program: it starts in ptrace, gets a jump to a counter at each function's entry before its first instruction
// runs, and is let go. From then on nothing stops it; the counters are in memory that it shares with this process.
//
//   - planter.go: what this process knows of objects (executables and libraries), for all its sessions;
//   - session.go: one program with all it forks and execs, its counters, and what became of it;
//   - follow.go: the loop of a tracer: stops of processes that are not let go yet;
//   - privileged.go: programs that ptrace would rob of their privileges, which are left alone;
//   - image.go: an image that was just executed, up to its entry, where all its libraries are mapped;
//   - sites.go, gaps.go: what is to be written into an image, and where there is room for it;
//   - remote.go: system calls that a stopped process makes for us, its memory and registers;
//   - object.go, memory.go: analysed objects, counters.
//
// A program must never do anything else than it would have done by itself. So whatever is unusual, or goes
// wrong, has the process left alone: what was written is taken back, and it is detached. Only amd64 can do it;
// elsewhere, and where ptrace is forbidden, a session's error is a *NotHere.
//
// Requests of ptrace must come from the thread that started the program. Follow is called there; all other
// methods may be called from any goroutine.
package plant
