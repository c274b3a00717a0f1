package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mostBytes is the size that the program may have. Tasks of several ranks, limits and partitions added half a million bytes.
const mostBytes = 30_500_000

// TestLinked checks that the linker drops the methods that nothing calls, and that the program is small. A function that looks for
// methods by reflection (text/template has some) makes the linker keep every exported method of every type, which doubles the size.
func TestLinked(t *testing.T) {
	program := filepath.Join(t.TempDir(), "berth")
	link := exec.Command("go", "build", "-ldflags=-s -w -dumpdep", "-o", program, ".")
	link.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := link.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v", link, err)
	}
	edges := strings.Split(string(out), "\n") // "caller -> callee <flags>"
	if len(edges) < 10_000 {
		t.Fatalf("the linker printed %d edges", len(edges))
	}
	for _, edge := range edges {
		if strings.HasSuffix(edge, "<ReflectMethod>") {
			t.Errorf("reflection keeps all methods: %s", edge)
		}
	}
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > mostBytes {
		t.Errorf("the program has %d bytes, want at most %d", info.Size(), mostBytes)
	}
	t.Run("start", func(t *testing.T) { checkStart(t, program) })
}

// What packages may allocate before main, in bytes. It hardly differs between machines.
const (
	mostOwn = 95_000  // berth's own
	mostAll = 900_000 // with those of libraries
)

// checkStart checks what each process of berth takes before it does anything, as there are many at a time. Tables and expressions that
// are made when they are needed first keep it small. The memory of a start is printed and not checked: how many pages of the program's
// file count with it is the kernel's choice, and differs by 2 MB between machines.
func checkStart(t *testing.T, program string) {
	trace := exec.Command(program, "--version")
	trace.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := trace.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	own, all := 0, 0
	for _, m := range allocated.FindAllSubmatch(out, -1) {
		n, _ := strconv.Atoi(string(m[2]))
		all += n
		if strings.HasPrefix(string(m[1]), "berth/") {
			own += n
		}
	}
	if own == 0 || own > mostOwn || all > mostAll {
		t.Errorf("berth's packages allocate %d bytes at start, want at most %d; all packages %d, want at most %d: GODEBUG=inittrace=1 berth --version lists them",
			own, mostOwn, all, mostAll)
	}
	t.Log("memory of starts in kB:", startMemory(t, program))
}

// startMemory returns what some starts of the program take, in kB, in ascending order. Python starts it, as Linux counts what a process took
// before it became the program, and this test takes more.
func startMemory(t *testing.T, program string) []int {
	const starts = `import os, sys
for _ in range(15):
    pid = os.posix_spawn(sys.argv[1], [sys.argv[1], "--version"], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    print(os.wait4(pid, 0)[2].ru_maxrss)`
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Log("there is no python3, which measures the memory")
		return nil
	}
	out, err := exec.Command(python, "-c", starts, program).Output()
	if err != nil {
		t.Fatal(err)
	}
	var memory []int
	for _, line := range strings.Fields(string(out)) {
		n, _ := strconv.Atoi(line)
		memory = append(memory, n)
	}
	slices.Sort(memory)
	return memory
}

// allocated matches what a package allocates, in a line of GODEBUG=inittrace=1.
var allocated = regexp.MustCompile(`(?m)^init (\S+) .* (\d+) bytes,`)
