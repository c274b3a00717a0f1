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

// mostBytes is the size that the program may have.
const mostBytes = 30_000_000

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

// What a start may take. The second figure hardly differs between machines. The first is 1 MB above what was measured, as more or less of
// the pages of the program's file count with it.
const (
	mostMemory = 16_384 // kB, the median
	mostMade   = 90_000 // bytes that berth's own packages allocate before main
)

// checkStart checks what each process of berth takes before it does anything, as there are many at a time. Tables and expressions that
// are made when they are needed first keep it small.
func checkStart(t *testing.T, program string) {
	trace := exec.Command(program, "--version")
	trace.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := trace.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, m := range ownInit.FindAllSubmatch(out, -1) {
		n, _ := strconv.Atoi(string(m[1]))
		made += n
	}
	if made == 0 || made > mostMade {
		t.Errorf("berth's packages allocate %d bytes at start, want at most %d: GODEBUG=inittrace=1 berth --version lists them", made, mostMade)
	}
	if median := startMemory(t, program); median > mostMemory {
		t.Errorf("a start takes %d kB in the median, want at most %d", median, mostMemory)
	}
}

// startMemory returns the median of what some starts of the program take, in kB. Python starts it, as Linux counts what a process took
// before it became the program, and this test takes more.
func startMemory(t *testing.T, program string) int {
	const starts = `import os, sys
for _ in range(15):
    pid = os.posix_spawn(sys.argv[1], [sys.argv[1], "--version"], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    print(os.wait4(pid, 0)[2].ru_maxrss)`
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3, which measures the memory")
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
	t.Log("memory of starts in kB:", memory)
	return memory[len(memory)/2]
}

// ownInit matches what one of berth's packages allocates, in a line of GODEBUG=inittrace=1.
var ownInit = regexp.MustCompile(`(?m)^init berth/\S+ .* (\d+) bytes,`)
