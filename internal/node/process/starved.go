package process

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
)

// starvation counts the processes that the kernel killed because memory ran out in the worker's
// control group. The tasks are in the same group, by which batch systems limit the memory of their
// jobs. The kernel does not say which process it killed. A kill is claimed by a program that it seems to have ended; of another one, all programs
// are told that ran at that time.
type starvation struct {
	file func() string // returns the path of the file with the line "oom_kill N"

	mu      sync.Mutex
	counts  *os.File // nil: not opened yet, or there is none
	opened  bool
	running map[*Process]*hardship // programs that have not ended
}

// hardship is what a program may have suffered for lack of memory.
type hardship struct {
	before int64 // kills before it started, and those that others claimed since
	alone  bool  // no other program has run at the same time
}

var starved = starvation{file: memoryEvents, running: make(map[*Process]*hardship)}

// begin notes that a program is about to start.
func (s *starvation) begin(p *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.running {
		h.alone = false
	}
	s.running[p] = &hardship{before: s.kills(), alone: len(s.running) == 0}
}

// claim reports whether the kernel has killed a process since the program started that no other one has claimed.
func (s *starvation) claim(p *Process) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.kills()
	if now <= s.running[p].before {
		return false
	}
	for _, h := range s.running {
		h.before = min(now, h.before+1)
	}
	return true
}

// end notes that a program is over. It returns how many processes the kernel has killed meanwhile that no program has claimed, and whether they
// were its own.
func (s *starvation) end(p *Process) (kills int64, own bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.running[p]
	delete(s.running, p)
	return max(0, s.kills()-h.before), h.alone
}

// kills reads the count; 0 if it cannot be read.
func (s *starvation) kills() int64 {
	if !s.opened {
		s.opened = true
		s.counts, _ = os.Open(s.file()) // there is no such file on all machines
	}
	if s.counts == nil {
		return 0
	}
	var buf [1024]byte
	n, _ := s.counts.ReadAt(buf[:], 0)
	for line := range bytes.Lines(buf[:n]) {
		if count, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("oom_kill ")); ok {
			n, _ := strconv.ParseInt(string(count), 10, 64) // 0 if it is not a number
			return n
		}
	}
	return 0
}

// memoryEvents returns the path of the file with the kernel's count, for version 1 or 2 of control
// groups.
func memoryEvents() string {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	file := ""
	for line := range strings.Lines(string(text)) { // such as "4:memory:/job_8" or "0::/job_8"
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch kind, path, _ := strings.Cut(rest, ":"); kind {
		case "memory":
			return "/sys/fs/cgroup/memory" + path + "/memory.oom_control"
		case "":
			file = "/sys/fs/cgroup" + path + "/memory.events"
		}
	}
	return file
}
