package process

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

// starvation counts the processes that the kernel has ended for lack of memory in the worker's control group, in which
// its tasks are, too: batch systems limit the memory of their jobs so.
type starvation struct {
	once sync.Once
	file func() string // that has the line "oom_kill N"

	mu    sync.Mutex
	path  string
	known int64 // kills of before, and those that were told already
}

var starved = starvation{file: memoryEvents}

// begin notes how many there were before this worker's tasks.
func (s *starvation) begin() {
	s.once.Do(func() {
		s.path = s.file()
		s.known = s.kills()
	})
}

// claim reports whether the kernel has ended a process since begin for which no earlier call has returned true.
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

// kills reads the count, 0 where there is none to be read.
func (s *starvation) kills() int64 {
	text, err := os.ReadFile(s.path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if count, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok {
			n, _ := strconv.ParseInt(count, 10, 64) // 0 if it is no number
			return n
		}
	}
	return 0
}

// memoryEvents returns the file in which the kernel counts them, of either version of control groups.
func memoryEvents() string {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	file := ""
	for line := range strings.Lines(string(text)) { // "4:memory:/job_8", "0::/job_8"
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
