package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lines returns n different lines.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// TestStagesByDefault copies a file in parts, which is what the defaults of all three stages do.
func TestStagesByDefault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := w.write("in.txt", lines(1000))
	w.write("copy.toml", "kind = \"stages\"\n[stages]\ninput = \"in.txt\"\noutput = \"out.txt\"\nparts = 7\n")
	r := w.must("run", "copy.toml")
	if got := w.read("out.txt"); got != lines(1000) {
		t.Errorf("the copy of %s has %d bytes", in, len(got))
	}
	if n := len(w.jobs()); n != 3 {
		t.Errorf("%d jobs, want a bag for each stage: %v", n, r)
	}
	if left, _ := filepath.Glob(filepath.Join(w.dir, "copy.parts*")); len(left) > 0 {
		t.Errorf("the parts stay: %v", left)
	}
	if r := w.berth("run", "copy.toml"); r.code != 255 || !strings.Contains(r.stderr, "out.txt exists") {
		t.Errorf("the output is there already: %v", r)
	}
}

// TestStagesOfAFolder uses each file of a folder as a part.
func TestStagesOfAFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 12 {
		w.write(fmt.Sprintf("in/%02d.txt", i), fmt.Sprintln("file", i))
	}
	w.write("job.toml", `kind = "stages"
name = "upper"
[stages]
input = "in"
output = "out.txt"
keep = true
[operation]
command = "tr a-z A-Z <$BERTH_INPUT >$BERTH_OUTPUT"
[merge]
command = '''
for i in $(seq $BERTH_PARTS); do
	echo "part $i: $(cat $BERTH_INPUT/$i)"
done >$BERTH_OUTPUT
'''
`)
	w.must("run", "job.toml")
	var want strings.Builder
	for i := range 12 {
		fmt.Fprintf(&want, "part %d: FILE %d\n", i+1, i)
	}
	if got := w.read("out.txt"); got != want.String() {
		t.Errorf("the output is %q", got)
	}
	if got := w.read("upper.parts/out/12"); got != "FILE 11\n" {
		t.Errorf("kept of part 12: %q", got)
	}
}

// TestStagesFail checks that the failed stage is named, and that resume continues from there.
func TestStagesFail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in.txt", lines(100))
	w.write("job.toml", `kind = "stages"
name = "upper"
[stages]
input = "in.txt"
output = "out.txt"
parts = 4
[split]
command = "echo $BERTH_STAGE >>ran; split -n l/$BERTH_PARTS --numeric-suffixes=1 -a 1 $BERTH_INPUT $BERTH_OUTPUT/"
[operation]
command = '''
echo $BERTH_STAGE $BERTH_PART of $BERTH_PARTS >>ran
[ $BERTH_PART != 3 ] || [ -e fixed ]
tr a-z A-Z <$BERTH_INPUT >$BERTH_OUTPUT
'''
`)
	r := w.berth("run", "job.toml")
	jobs := w.jobs()
	if len(jobs) != 3 {
		t.Fatalf("%d jobs: %v", len(jobs), r)
	}
	if want := "the stage upper: operation is failed; berth resume " + string(jobs[1]); r.code != 1 || !strings.Contains(r.stderr, want) {
		t.Errorf("want %q: %v", want, r)
	}
	if r := w.berth("run", "job.toml"); r.code != 255 || !strings.Contains(r.stderr, "berth resume") {
		t.Errorf("run again while the parts of a run that failed are there: %v", r)
	}
	w.write("fixed", "")
	w.must("resume", string(jobs[2]))
	if got := w.read("out.txt"); got != strings.ToUpper(lines(100)) {
		t.Errorf("the output has %d bytes", len(got))
	}
	if got := len(strings.Fields(strings.ReplaceAll(w.read("ran"), " ", "-"))); got != 1+4+1 {
		t.Errorf("%d runs of scripts, want one of the split, four of the operation and one more: %s", got, w.read("ran"))
	}
	if _, err := os.Stat(filepath.Join(w.dir, "upper.parts")); err == nil {
		t.Error("the parts stay")
	}
}

// TestStagesMended mends the command of the operation and then that of the merge: neither the split nor, for the merge, the operation runs
// again.
func TestStagesMended(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in.txt", lines(9))
	for i, c := range []struct{ operation, merge, ran string }{
		{"nosuch <$BERTH_INPUT >$BERTH_OUTPUT", "nosuch", "s"},
		{"tr a-z A-Z <$BERTH_INPUT >$BERTH_OUTPUT; echo o >>ran", "nosuch", "soo"},
		{"tr a-z A-Z <$BERTH_INPUT >$BERTH_OUTPUT; echo o >>ran", "cat $BERTH_INPUT/* >$BERTH_OUTPUT", "soo"},
	} {
		w.write("job.toml", fmt.Sprintf("kind = \"stages\"\n[stages]\ninput = \"in.txt\"\noutput = \"out.txt\"\nparts = 2\n"+
			"[split]\ncommand = \"echo s >>ran; split -n l/2 --numeric-suffixes=1 -a 1 $BERTH_INPUT $BERTH_OUTPUT/\"\n"+
			"[operation]\ncommand = %q\n[merge]\ncommand = %q\n", c.operation, c.merge))
		r := w.berth("run", "job.toml")
		if done := i == 2; (r.code == 0) != done || !done && !strings.Contains(r.stderr, "with the parts that there are") {
			t.Errorf("with the operation %q and the merge %q: %v", c.operation, c.merge, r)
		}
		if got := strings.Join(strings.Fields(w.read("ran")), ""); got != c.ran {
			t.Errorf("with the operation %q and the merge %q: %q ran, not %q", c.operation, c.merge, got, c.ran)
		}
	}
	if got := w.read("out.txt"); got != strings.ToUpper(lines(9)) {
		t.Errorf("the output is %q", got)
	}
}

// TestStagesErrors checks that mistakes are reported before anything runs, and that those of a split are reported where they occur.
func TestStagesErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in.txt", lines(10))
	for want, text := range map[string]string{
		"stages.output is missing":        "kind = \"stages\"\n[stages]\ninput = \"in.txt\"\n",
		"no such file":                    "kind = \"stages\"\n[stages]\ninput = \"none\"\noutput = \"o\"\n",
		"input: is missing":               "kind = \"stages\"\n[stages]\noutput = \"o\"\n",
		"a job of kind bag has no [split": "kind = \"bag\"\n[bag]\ncommand = \"x\"\n[split]\nmem = \"1G\"\n",
		"has no [bag]":                    "kind = \"stages\"\n[stages]\ninput = \"in.txt\"\noutput = \"o\"\n[bag]\ncommand = \"x\"\n",
		"job.toml:6: \"x\" is no":         "kind = \"stages\"\n[stages]\ninput = \"in.txt\"\noutput = \"o\"\n[operation]\nretries = \"x\"\n",
		"left no part 2 of 2":             "kind = \"stages\"\n[stages]\ninput = \"in.txt\"\noutput = \"o\"\nparts = 2\n[split]\ncommand = \"cp $BERTH_INPUT $BERTH_OUTPUT/1\"\n",
	} {
		w.write("job.toml", text)
		if r := w.berth("run", "job.toml"); r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("want %q of\n%s%v", want, text, r)
		}
	}
}

// TestStagesOverDeaths kills the coordinator in each stage. The one command continues to the end, and each part is made once.
func TestStagesOverDeaths(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in.txt", lines(100))
	wait := "echo $BERTH_STAGE $BERTH_PART >>ran; while [ ! -e go.$BERTH_STAGE ]; do sleep 0.2; done; "
	w.write("job.toml", fmt.Sprintf(`kind = "stages"
[stages]
input = "in.txt"
output = "out.txt"
parts = 2
[split]
command = '''%s split -n l/$BERTH_PARTS --numeric-suffixes=1 -a 1 $BERTH_INPUT $BERTH_OUTPUT/'''
[operation]
command = '''%s cp $BERTH_INPUT $BERTH_OUTPUT'''
[merge]
command = '''%s cat $BERTH_INPUT/1 $BERTH_INPUT/2 >$BERTH_OUTPUT'''
`, wait, wait, wait))
	r := w.start("run", "job.toml")
	for _, stage := range []string{"split", "operation", "merge"} {
		w.await("the "+stage+" to run", func() bool {
			ran, err := os.ReadFile(filepath.Join(w.dir, "ran"))
			return err == nil && strings.Contains(string(ran), stage)
		})
		w.killServer()
		w.write("go."+stage, "")
	}
	if r := w.finish(r); r.code != 0 {
		t.Fatalf("the command: %v", r)
	}
	if got := w.read("out.txt"); got != lines(100) {
		t.Errorf("the output has %d bytes", len(got))
	}
	if got := strings.Count(w.read("ran"), "\n"); got != 4 {
		t.Errorf("scripts ran %d times, want 4: %s", got, w.read("ran"))
	}
}
