package process

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

// starvation counts the processes that the kernel killed because memory ran out in the worker's
// control group. The tasks are in the same group, by which batch systems limit the memory of their
// jobs.
type starvation struct {
	once sync.Once
	file func() string // returns the path of the file with the line "oom_kill N"

	mu    sync.Mutex
	path  string
	known int64 // kills from before the worker's tasks, plus those already claimed
}

var starved = starvation{file: memoryEvents}

// begin stores the count from before this worker's tasks.
func (s *starvation) begin() {
	s.once.Do(func() {
		s.path = s.file()
		s.known = s.kills()
	})
}

// claim reports whether the kernel has killed a process since begin that no earlier call has
// claimed.
func (s *starvation) claim() bool {
	s.begin()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kills() <= s.known {
		return false
	}
	s.known++
	return true
}

// kills reads the count; 0 if it cannot be read.
func (s *starvation) kills() int64 {
	text, err := os.ReadFile(s.path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if count, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok {
			n, _ := strconv.ParseInt(count, 10, 64) // 0 if it is not a number
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
