package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAuto: on a machine that belongs to several batch systems, a job whose user names none runs on the first one that answers. The user is
// told if an earlier one does not, or a later one answers, too. If none answers, the error names all of them.
func TestAuto(t *testing.T) {
	const (
		slurmUp   = "scontrol: echo 'Slurmctld(primary) at login1 is UP'"
		slurmDown = "scontrol: echo 'Slurmctld(primary) at login1 is DOWN'; exit 1"
		pbsUp     = "qstat: echo 'Server: pbs1'"
		pbsDown   = "qstat: echo 'Connection refused' >&2; exit 255"
		geUp      = "qconf: echo master1"
	)
	for _, c := range []struct {
		name, want string
		programs   []string // name and text of each; the others of an installation do nothing
		says       []string // of the note, or of the error if want is empty; none: there is no note
	}{
		{"none", "local", nil, nil},
		{"only Slurm", "slurm", []string{"sbatch: ", slurmDown}, nil},
		{"only PBS", "pbs", []string{"qsub: ", "pbsnodes: ", pbsDown}, nil},
		{"Slurm answers, the other is its imitation of PBS", "slurm", []string{"sbatch: ", slurmUp, "qsub: ", "pbsnodes: ", "qstat: echo 'Unknown option: F' >&2; exit 2"}, nil},
		{"PBS answers", "pbs", []string{"sbatch: ", slurmDown, "qsub: ", "pbsnodes: ", pbsUp},
			[]string{"the job runs on PBS, as Slurm cannot be used (scontrol ping: no Slurm controller answers: Slurmctld(primary) at login1 is DOWN"}},
		{"both answer", "slurm", []string{"sbatch: ", slurmUp, "qsub: ", "pbsnodes: ", pbsUp},
			[]string{"the job runs on Slurm; PBS is here and answers, too: --on pbs, or BERTH_ON=pbs, chooses it"}},
		{"the second of three answers", "pbs", []string{"sbatch: ", slurmDown, "qsub: ", "pbsnodes: ", pbsUp, geUp},
			[]string{"the job runs on PBS, as Slurm cannot be used", "; Grid Engine is here and answers, too: --on gridengine, "}},
		{"neither answers", "", []string{"sbatch: ", slurmDown, "qsub: ", "pbsnodes: ", pbsDown},
			[]string{"no Slurm controller answers", "; PBS is here, too, and cannot be used either (qstat -B: no PBS server answers", "; try again later"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, p := range c.programs {
				name, text, _ := strings.Cut(p, ": ")
				if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			found, note, err := Auto(t.Context(), []string{"PATH=" + dir})
			if err != nil {
				note = err.Error()
			}
			if c.want == "" != (err != nil) || err == nil && found.Name() != c.want || (len(c.says) > 0) != (note != "") {
				t.Fatalf("chosen %v, note %q, error %v", found, note, err)
			}
			for _, says := range c.says {
				if !strings.Contains(note, says) {
					t.Errorf("it says %q, and not %q", note, says)
				}
			}
		})
	}
}
