// Package plant counts how often the functions of a running native program are entered, without
// cooperation of the program. The program starts under ptrace, gets a jump to a counter at each
// function's entry before its first instruction runs, and is then detached. From then on nothing
// stops it; the counters are in memory that it shares with this process:
//
//	pid, session, err := planter.Start(path, argv, attr, plant.Options{})
//	session.Follow(pid) // in the same thread
//	n, ok := session.Hits()
//
// The files are:
//
//   - planter.go: what this process knows of objects (executables and libraries), for all its
//     sessions;
//   - session.go: one program with all processes that it starts, its counters, and its state;
//   - follow_amd64.go: the loop of a tracer, which handles the stops of processes that are not
//     detached yet;
//   - privileged.go: programs that ptrace would deprive of their privileges, which are not
//     planted;
//   - image_amd64.go: a program that was just executed, up to its entry, where all its libraries are
//     mapped;
//   - sites.go, gaps.go: what is written into a process, and where there is free address space
//     for it;
//   - remote_amd64.go: system calls that a stopped process makes for us, its memory and registers;
//   - object.go, memory.go: analysed objects, counters;
//   - apart.go, keep.go: objects are analysed in a process of their own, and kept on disk;
//   - crashes.go: programs that are never planted again.
//
// A program must never behave differently from how it would without the planter. So if anything is
// unusual or fails, what was written is restored, and the process is detached. Planting works only
// on amd64; on other machines, and where ptrace is forbidden, the error of a session says so.
//
// Requests of ptrace must come from the thread that started the program. Follow must be called
// there; all other methods may be called from any goroutine.
package plant
