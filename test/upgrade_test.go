package test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"berth/internal/core/job"
)

// olderVar is the variable with the path of an older berth. make upgrade-test builds one.
const olderVar = "BERTH_OLDER"

// refusals are what a berth says that cannot read what a newer one has written, or speak with it.
var refusals = []string{"use the version of berth that wrote it, or a newer one", "is of another version of berth", "install the same version of berth"}

// TestUpgrade exchanges the program at a random moment of a job, from an older one to this one or back, as an installation does: the file is replaced,
// and the coordinator is stopped before, killed or goes on. The job ends right, and nothing that was done runs again. An older program may refuse what
// a newer one wrote if it says so, and the job then ends with the newer one.
func TestUpgrade(t *testing.T) {
	older := os.Getenv(olderVar)
	if older == "" {
		t.Skip(olderVar + " names no older berth; make upgrade-test builds one")
	}
	exchanged, refused := 0, 0
	all := newWorld(t)
	for _, seed := range all.seeded(t, faultRounds(t, 20)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			underWay, refuses := exchange(t, older, newRand(seed)) // in a new state folder, as an older program may refuse all of one
			exchanged, refused = exchanged+underWay, refused+refuses
		})
	}
	t.Logf("%d jobs were under way, the older program refused %d jobs", exchanged, refused)
}

// exchange is a round of TestUpgrade. It counts the job if it was under way, and if the older program has refused it.
func exchange(t *testing.T, older string, rng *rand.Rand) (underWay, refused int) {
	w := newWorld(t)
	w.program = filepath.Join(w.root, "bin", "berth")
	if err := os.Mkdir(filepath.Dir(w.program), 0o700); err != nil {
		t.Fatal(err)
	}
	from, to, way, after := older, program, rng.IntN(3), rng.IntN(80)
	if back := rng.IntN(2) == 0; back {
		from, to = to, from
	}
	const tasks = 60
	bag := []string{"--stdout", "out/{task}", "--stderr", "none", "--", "sleep 0.05; echo $(({} * {}))"}
	args := append([]string{"bag", "--detach", "--array", fmt.Sprintf("1-%d", tasks)}, bag...)
	var added [2][]string // to an open bag, before the exchange and after it
	check := func() {
		for i := 1; i <= tasks; i++ {
			if got := w.read(fmt.Sprintf("out/%d", i)); got != fmt.Sprintln(i*i) {
				t.Errorf("task %d wrote %q", i, got)
			}
		}
	}
	switch rng.IntN(3) {
	case 0:
		args = append([]string{"bag", "--open"}, bag...)
		for i := range tasks {
			added[2*i/tasks] = append(added[2*i/tasks], strconv.Itoa(i+1))
		}
	case 1:
		input := words(newRand(7), 20000)
		w.write("in.txt", input)
		w.write("map.sh", "#!/bin/sh\nsleep 0.1\nexec tr -s ' ' '\\n'\n")
		args, check = []string{"mapreduce", "--detach", "-D", "mapreduce.input.fileinputformat.split.maxsize=5000", "-input", "in.txt", "-output", "out",
			"-mapper", "map.sh", "-reducer", "uniq -c", "-numReduceTasks", "3"}, func() {
			n := 0
			for line := range strings.Lines(w.output("out")) {
				if k, err := strconv.Atoi(strings.Fields(line)[0]); err == nil {
					n += k
				}
			}
			if n != len(strings.Fields(input)) {
				t.Errorf("the output has %d words, the input %d", n, len(strings.Fields(input)))
			}
		}
	}
	w.install(from)
	id := job.ID(strings.TrimSpace(w.must(args...).stdout))
	if added[0] != nil {
		w.must(append([]string{"add", string(id), ":::"}, added[0]...)...)
	}
	if w.reach(id, after) {
		underWay = 1
	}
	if way == 0 {
		w.berth("server", "stop", "--force") // there may be none any more
	}
	w.install(to)
	if way == 1 {
		w.killServer()
	}
	goOn := func() result {
		if added[1] == nil {
			return w.berth("wait", string(id))
		}
		r := w.berth(append([]string{"add", string(id), "--once", "rest", ":::"}, added[1]...)...)
		if r.code == 0 {
			r = w.berth("close", string(id))
		}
		if r.code == 0 {
			r = w.berth("wait", string(id))
		}
		return r
	}
	r := goOn()
	if to == older && r.code != 0 && says(w.berth("wait", string(id)).stderr, refusals) { // 98087d61 says less of one to which tasks are added
		refused = 1
		w.killServer()
		w.install(from)
		r = goOn()
	}
	if r.code != 0 {
		t.Fatalf("way %d after %d entries: %s: %v", way, after, id, r)
	}
	checkOnce(t, w.records(id))
	check()
	return underWay, refused
}

// install puts a program in the place of the world's, as installations do: by another name at first.
func (w *world) install(from string) {
	w.t.Helper()
	b, err := os.ReadFile(from)
	if err = errors.Join(err, os.WriteFile(w.program+".new", b, 0o700)); err == nil {
		err = os.Rename(w.program+".new", w.program)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// says reports whether a text has one of some sentences.
func says(text string, some []string) bool {
	for _, s := range some {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}
