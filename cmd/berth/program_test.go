package main

import (
	"os"
	"os/exec"
	"path/filepath"
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
}
