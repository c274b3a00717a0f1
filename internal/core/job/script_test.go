package job

import (
	"strings"
	"testing"
)

// TestNamesOfJobs: a job has the name of its script, or else of its program.
func TestNamesOfJobs(t *testing.T) {
	for command, want := range map[string]string{
		"python3 -u ./map.py {}": "map.py", "bash -e run.sh {}": "run.sh", "Rscript --vanilla fit.R {}": "fit.R", "perl -pe s/a/b/ {}": "perl",
		"julia -t 4 sim.jl {}": "sim.jl", "java -Xmx4g -jar tool.jar {}": "tool.jar", "java -cp a Main {}": "java", "env A=1 gzip {}": "gzip",
		"python3 -m json.tool {}": "python3", "gzip -k {}": "gzip", "nohup ./fit {}": "fit", "python3": "python3", "{}": "commands", "{1} {2}": "commands",
		"'hostname; date'": "hostname", "'cd x && A=1 python3 fit.py {} > {}.o'": "fit.py", "'cd x'": "cd", "'$HOME/bin/fit {}'": "fit",
		"'for i in 1 2; do ./step $i {}; done'": "step", "'if [ -e {} ]; then ./fit {}; fi'": "fit", "'while read l; do ./fit $l; done < {}'": "fit",
		"'(./a {}; ./b {}) | sort'": "a", "/bin/sh -c {}": "commands",
	} {
		s := New(Bag, "/a")
		text, quoted := strings.CutPrefix(command, "'")
		words := strings.Fields(command)
		if quoted {
			words = []string{strings.TrimSuffix(text, "'")}
		}
		if err := s.Bag.SetCommand(words, true); err != nil {
			t.Fatal(err)
		}
		s.Normalize()
		if s.Name != want {
			t.Errorf("%s: %q, want %q", command, s.Name, want)
		}
	}
}
