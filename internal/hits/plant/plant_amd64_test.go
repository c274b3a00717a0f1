package plant

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/hits/code"
)

var exact = Options{Exact: true, All: true}

// TestCounts compares the counts of a program with threads and children with the exact numbers, for
// several ways to build it.
func TestCounts(t *testing.T) {
	const threads, children, rounds = 4, 3, 5000
	want := map[string]uint64{"main": 1, "thread": threads, "child": children,
		"twice": threads * rounds, "leaf": 2*threads*rounds + children*rounds}
	for _, flags := range [][]string{
		{"-O0"}, {"-O1"}, {"-O2"}, {"-O1", "-fcf-protection=full"}, {"-O2", "-fcf-protection=none"}, {"-O2", "-fno-plt"},
		{"-O1", "-no-pie"}, {"-O2", "-static"}, {"-O1", "-static-pie"}, {"-O2", "-Wl,-z,now"}, {"-O3", "-g"},
	} {
		t.Run(strings.Join(flags, ""), func(t *testing.T) {
			program := compile(t, "counts", flags...)
			argv := []string{program, fmt.Sprint(threads), fmt.Sprint(children), fmt.Sprint(rounds)}
			s, got := planted(t, fresh(t), exact, os.Environ(), argv...)
			if r := plain(t, os.Environ(), argv...); got != r {
				t.Errorf("planted %+v, plain %+v", got, r)
			}
			counted := hits(s, program)
			for name, n := range want {
				if (name == "thread" || name == "main") && strings.Contains(flags[1%len(flags)], "static") {
					continue // its address is taken in an object that can make memory executable
				}
				if counted[name] != n {
					t.Errorf("%s: %d hits, want %d", name, counted[name], n)
				}
			}
		})
	}
}

// TestStripped checks that without symbols the same functions are counted, by their addresses.
func TestStripped(t *testing.T) {
	program := compile(t, "counts", "-O2")
	stripped := filepath.Join(t.TempDir(), "stripped")
	if out, err := exec.Command("strip", "-o", stripped, program).CombinedOutput(); err != nil {
		t.Fatalf("strip: %v\n%s", err, out)
	}
	s, _ := planted(t, fresh(t), exact, nil, stripped, "2", "1", "100")
	counted := hits(s, stripped)
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]uint64{"leaf": 500, "twice": 200, "thread": 2, "child": 1} {
		i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == name })
		if got := counted[fmt.Sprintf("0x%x", symbols[i].Value)]; got != n {
			t.Errorf("%s at %#x: %d hits, want %d", name, symbols[i].Value, got, n)
		}
	}
}

// TestWrapped checks that a program started by launchers is planted, and that each of its runs is
// counted.
func TestWrapped(t *testing.T) {
	program := compile(t, "counts", "-O1")
	for script, runs := range map[string]uint64{
		"exec " + program + " 0 2 50":                                                                1,
		program + " 0 2 50; exit 7":                                                                  1,
		"env A=1 nice -n 0 nohup sh -c '" + program + " 0 2 50'":                                     1,
		program + " 0 2 50 | cat; " + program + " 0 2 50 | cat":                                      2,
		"(" + program + " 0 2 50; :) & (sh -c '" + program + " 0 2 50'; :) & wait":                   2,
		"for i in 1 2 3; do timeout 60 " + program + " 0 2 50; done; echo x | xargs -n 1 echo":       3,
		"find /etc/passwd -exec " + program + " 0 2 50 ';'; bash -c 'bash -c " + program + "; true'": 2,
	} {
		s, got := planted(t, fresh(t), exact, os.Environ(), "/bin/sh", "-c", script)
		if r := plain(t, os.Environ(), "/bin/sh", "-c", script); got.status != r.status || len(got.out) != len(r.out) {
			t.Errorf("%s: planted %+v, plain %+v", script, got, r)
		}
		counted := hits(s, program)
		if counted["main"] != runs || counted["child"] != 2*runs-boolean(strings.Contains(script, "-c "+program))*2 {
			t.Errorf("%s: %v", script, counted)
		}
	}
}

func boolean(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// TestUnnoticed checks that a program does not notice the planter: it has no tracer and no foreign
// descriptors, arguments, environment or signals, and its handling of signals and processes is
// unchanged.
func TestUnnoticed(t *testing.T) {
	program := compile(t, "odd", "-O1")
	early := compile(t, "early", "-O1", "-shared", "-fPIC")
	env := []string{"PATH=/usr/bin:/bin", "A=b"}
	for _, what := range []string{"signals", "traced", "masks", "descriptors", "vfork", "crash", "user", "args", "nothing"} {
		for _, wrapped := range []bool{false, true} {
			argv := []string{program, what}
			if wrapped {
				argv = []string{"/bin/sh", "-c", program + " " + what}
			}
			s, got := planted(t, fresh(t), exact, env, argv...)
			if want := plain(t, env, argv...); got.out != want.out || got.status&^0x80 != want.status&^0x80 { // with or without a core dump
				t.Errorf("%v: planted %+v, plain %+v", argv, got, want)
			}
			if hits(s, program)["main"] != 1 {
				t.Errorf("%v: not planted: %v", argv, s.Err())
			}
		}
	}
	for _, how := range []string{"fork", "wait", "thread"} {
		env := append(env, "LD_PRELOAD="+early, "EARLY="+how)
		_, got := planted(t, fresh(t), exact, env, program, "nothing")
		if want := plain(t, env, program, "nothing"); got != want {
			t.Errorf("%s: planted %+v, plain %+v", how, got, want)
		}
	}
}

// TestLeftAlone checks that programs that cannot be planted run unchanged, and that the reason is
// reported.
func TestLeftAlone(t *testing.T) {
	program := compile(t, "odd", "-O1")
	for why, argv := range map[string][]string{
		"SIGTRAP":       {"/bin/sh", "-c", "trap '' TRAP; exec " + program + " masks"},
		"address space": {"/bin/sh", "-c", "ulimit -v 8000000; exec " + program + " args"},
	} {
		s, got := planted(t, fresh(t), exact, os.Environ(), argv...)
		if want := plain(t, os.Environ(), argv...); got != want {
			t.Errorf("%v: planted %+v, plain %+v", argv, got, want)
		}
		if len(hits(s, program)) > 0 || !strings.Contains(s.Why(), why) {
			t.Errorf("%v: %q", argv, s.Why())
		}
	}
}

// TestSharp checks programs that read data among their code, have another's memory below a full stack,
// or execute a copy of a function.
func TestSharp(t *testing.T) {
	program := compile(t, "sharp", "-O1")
	for _, what := range []string{"data", "stack", "copy"} {
		s, got := planted(t, fresh(t), exact, nil, program, what)
		if want := plain(t, nil, program, what); got != want {
			t.Errorf("%s: planted %+v, plain %+v", what, got, want)
		}
		if programs, _ := s.Planted(); programs != 1 {
			t.Errorf("%s: not planted: %q", what, s.Why())
		}
	}
}

// TestExceptionOutOfFault checks that a stripped program catches what its handler of signals throws, and
// that its functions that cannot fault are counted.
func TestExceptionOutOfFault(t *testing.T) {
	program := compileBy(t, "g++", "faults", "faults.cc", "-O2", "-s", "-fnon-call-exceptions")
	s, got := planted(t, fresh(t), exact, nil, program)
	if want := plain(t, nil, program); got != want {
		t.Errorf("planted %+v, plain %+v", got, want)
	}
	if n := len(s.Functions()); n == 0 || s.Left()[code.MayFault] == 0 {
		t.Errorf("%d functions are counted: %q, %v", n, s.Why(), s.Left())
	}
}

// TestKilled checks that a signal from another process ends a program as it would without the
// planter.
func TestKilled(t *testing.T) {
	for _, argv := range [][]string{{"sleep", "100"}, {"sh", "-c", "sleep 100; true"}} {
		for _, signal := range []unix.Signal{unix.SIGTERM, unix.SIGKILL, unix.SIGUSR1} {
			_, got := plantedWhile(t, fresh(t), exact, nil, func(pid int) { _ = unix.Kill(-pid, signal) }, argv...)
			if !got.status.Signaled() || got.status.Signal() != signal {
				t.Errorf("%v, %v: %+v", argv, signal, got)
			}
		}
	}
}

// TestSessionsBesideEachOther checks that simultaneous sessions of one planter share the analysed
// objects, and that each has written its own new objects before it is closed. The race detector
// checks the sharing.
func TestSessionsBesideEachOther(t *testing.T) {
	p := &Planter{Dir: t.TempDir()}
	programs := []string{"true", "ls", "cat", "sort", "wc", "head", "tail", "uniq"}
	t.Run("programs", func(t *testing.T) {
		for _, name := range programs {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s, got := planted(t, p, exact, os.Environ(), name)
				if want := plain(t, os.Environ(), name); got != want {
					t.Errorf("planted %+v, plain %+v", got, want)
				}
				s.Close()
			})
		}
	})
	kept, err := os.ReadDir(filepath.Join(p.Dir, "objects"))
	if err != nil || len(kept) <= len(programs) { // each program and the C library at least
		t.Errorf("%d objects are kept, %v", len(kept), err)
	}
}
