package code

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// programs are examined if they are installed.
var programs = []string{"/bin/bash", "/bin/gzip", "/usr/bin/sqlite3", "/usr/bin/perl", "/bin/ls", "/bin/tar", "/usr/bin/make", "/usr/bin/awk",
	"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6", "/lib64/ld-linux-x86-64.so.2",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libgmp.so.10", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/bin/python3", "/usr/bin/convert", "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0"}

// ordinary is the size in bytes up to which programs are examined in every test.
const ordinary = 2 << 20

// A cache of objects and their sections.
var (
	objects  = map[string]*Object{}
	contents = map[string]*image{}
)

// installed yields the installed programs with the results of Analyse.
func installed(t *testing.T, yield func(t *testing.T, path string, o *Object)) {
	for _, name := range append(programs, compilers()...) {
		path, err := filepath.EvalSymlinks(name)
		if err != nil {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			st, err := os.Stat(path)
			if err != nil || st.Size() > ordinary && os.Getenv("BERTH_ORACLE_ALL") == "" {
				t.Skip("so large a program takes long; BERTH_ORACLE_ALL=1 has it looked at, too")
			}
			o := objects[path]
			if o == nil {
				f, err := os.Open(path)
				if err != nil {
					t.Skip("cannot be read here:", err)
				}
				defer f.Close()
				if o, err = Analyse(io.NewSectionReader(f, 0, st.Size())); err != nil {
					t.Skip("not an object for us:", err)
				}
				contents[path], _ = open(io.NewSectionReader(f, 0, st.Size()))
				objects[path] = o
			}
			yield(t, path, o)
		})
	}
}

// compilers are gcc's compilers proper, the largest programs that most machines have.
func compilers() []string {
	found, _ := filepath.Glob("/usr/lib/gcc/x86_64-linux-gnu/*/cc1")
	return found
}

// TestSurvey prints the results for installed programs: go test -v -run TestSurvey, with
// BERTH_ORACLE_ALL=1 also for large ones.
func TestSurvey(t *testing.T) {
	installed(t, func(t *testing.T, path string, o *Object) {
		planted, careful := 0, 0
		for _, f := range o.Functions {
			if len(f.Original) > 0 {
				planted++
				emitted(t, path, f)
			}
			if f.Careful {
				careful++
			}
		}
		t.Logf("%d functions, %d (%.1f %%) can be planted, flags preserved in %d", len(o.Functions), planted, 100*float64(planted)/float64(len(o.Functions)), careful)
		left := map[Reason]int{}
		for i := range o.Functions {
			if why := o.Functions[i].Reason; why != "" {
				left[why]++
			}
		}
		for _, reason := range slices.SortedFunc(maps.Keys(left), func(a, b Reason) int { return left[b] - left[a] }) {
			t.Logf("%6d %5.1f %% %s", left[reason], 100*float64(left[reason])/float64(len(o.Functions)), reason)
		}
		if len(o.Functions) > 100 && planted < len(o.Functions)/4 {
			t.Errorf("only %d of %d functions can be planted", planted, len(o.Functions))
		}
	})
}

// emitted makes the bytes for a function that can be planted.
func emitted(t *testing.T, path string, f Function) {
	t.Helper()
	code := contents[path].at(f.Patch).bytes(f.Patch)[:len(f.Original)]
	at := Placement{Bias: 0x10000000, Trampoline: 0x10000000 + f.Entry + 0x1000, Counter: 0x10000000 + f.Entry - 0x1000, Exact: true}
	patch, trampoline, err := Emit(f, at)
	if err != nil || !bytes.Equal(f.Original, code) || len(patch) != len(code) || len(trampoline) > MaxTrampoline {
		t.Errorf("%s at %#x, % x: patch % x, trampoline % x, %v", f.Name, f.Entry, code, patch, trampoline, err)
	}
}

// branch matches a direct branch in objdump's listing.
var branch = regexp.MustCompile(`^(?:bnd |notrack |data16 |rex\.W )*(?:j\w+|call|loop\w*|xbegin)\s+(?:0x)?([0-9a-f]+)(?: <|$)`)

// TestObjdumpAgrees checks that for objdump, too, an instruction begins where the displaced bytes
// end, that no branch in its listing leads into the bytes of a jump, and that both agree on the
// length of nearly every instruction.
func TestObjdumpAgrees(t *testing.T) {
	if _, err := exec.LookPath("objdump"); err != nil {
		t.Skip("objdump is not installed (package binutils)")
	}
	installed(t, func(t *testing.T, path string, o *Object) {
		if len(o.Functions) > 1000 && filepath.Base(path) != "libc.so.6" && os.Getenv("BERTH_ORACLE_ALL") == "" {
			t.Skip("objdump takes long for so large a program; BERTH_ORACLE_ALL=1 has it tried")
		}
		inside, ends := map[uint64]string{}, map[uint64]string{}
		for _, f := range o.Functions {
			for a := f.Patch + 1; a < f.Patch+uint64(len(f.Original)); a++ {
				inside[a] = f.Name
			}
			if len(f.Original) > jumpSize {
				ends[f.Patch+uint64(len(f.Original))] = f.Name
			}
		}
		listing := disassemble(t, path)
		seen := map[uint64]bool{}
		for _, l := range listing {
			seen[l.at] = true
			if m := branch.FindStringSubmatch(l.text); m != nil {
				if target, _ := strconv.ParseUint(m[1], 16, 64); inside[target] != "" {
					t.Errorf("%#x: %s leads into the beginning of %s", l.at, l.text, inside[target])
				}
			}
			if i, err := decode(l.code); !strings.Contains(l.text, "(bad)") && err == nil && i.length != len(l.code) && l.code[0] != 0x9b { // 9b: fwait, listed with the next instruction
				t.Errorf("%#x: %s has %d bytes for objdump, %d for us", l.at, l.text, len(l.code), i.length)
			}
		}
		for at, name := range ends {
			if !seen[at] {
				t.Errorf("%s: no instruction begins at %#x behind what is displaced", name, at)
			}
		}
	})
}

// line is a line of objdump's listing.
type line struct {
	at   uint64
	code []byte
	text string
}

func disassemble(t *testing.T, path string) (all []line) {
	t.Helper()
	cmd := exec.Command("objdump", "-d", "-w", "-z", path)
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		t.Skip("objdump does not run here:", err)
	}
	for s := bufio.NewScanner(out); s.Scan(); {
		at, rest, ok := strings.Cut(s.Text(), ":\t")
		digits, text, _ := strings.Cut(rest, "\t")
		l := line{text: text}
		if l.at, err = strconv.ParseUint(strings.TrimSpace(at), 16, 64); !ok || err != nil {
			continue
		}
		if l.code, err = hex.DecodeString(strings.ReplaceAll(digits, " ", "")); err == nil {
			all = append(all, l)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Skip("objdump cannot read it:", err)
	}
	return all
}

// TestNmAgrees checks that every function listed by nm is found at its address.
func TestNmAgrees(t *testing.T) {
	if _, err := exec.LookPath("nm"); err != nil {
		t.Skip("nm is not installed (package binutils)")
	}
	installed(t, func(t *testing.T, path string, o *Object) {
		out, err := exec.Command("nm", "-D", "--defined-only", path).Output()
		if err != nil {
			t.Skip("nm cannot read it:", err)
		}
		n := 0
		for l := range strings.Lines(string(out)) {
			field := strings.Fields(l)
			if len(field) < 3 || !strings.Contains("Tti", field[1]) {
				continue
			}
			at, _ := strconv.ParseUint(field[0], 16, 64)
			_, found := slices.BinarySearchFunc(o.Functions, at, func(f Function, a uint64) int { return int(int64(f.Entry - a)) })
			if n++; !found {
				t.Errorf("%s at %#x is not found", field[2], at)
			}
		}
		t.Logf("%d symbols", n)
	})
}
