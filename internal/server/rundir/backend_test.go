package rundir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/driver/local"
)

// TestAuto: with --on auto a machine that has Slurm's commands never runs a job itself unless the user requests it.
func TestAuto(t *testing.T) {
	down := "echo 'Slurmctld(primary) at login1 is DOWN'\nexit 1\n"
	none := "echo 'scontrol: fatal: Could not establish a configuration source' >&2\nexit 1\n"
	refused := "echo 'scontrol: error: Invalid user id' >&2\nexit 1\n"
	for _, c := range []struct {
		name, scontrol string // of a machine with Slurm's commands; empty: it has none
		conf, on       string // what SLURM_CONF and BERTH_ON say
		class          job.Class
		says           []string // of the error; nil: the job runs on this machine
	}{
		{name: "no Slurm"},
		{name: "told to be local", scontrol: down, on: "local"},
		{name: "controller away", scontrol: down, class: job.Transient, says: []string{"login1 is DOWN", "try again later; or use --on local", "BERTH_ON=local"}},
		{name: "no configuration", scontrol: none, class: job.User, says: []string{"no cluster is configured", "set SLURM_CONF", "or use --on local"}},
		{name: "any other error", scontrol: refused, class: job.User, says: []string{"Invalid user id", "use --on local"}},
		{name: "configuration without commands", conf: "/slurm.conf", class: job.User, says: []string{"not on PATH", "load its module", "or use --on local"}},
		{name: "told to use Slurm without Slurm", on: "slurm", class: job.User, says: []string{"not on PATH"}},
		{name: "told to use what is not there", on: "mars", class: job.User, says: []string{"BERTH_ON", "mars"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.scontrol != "" {
				for _, name := range []string{"sbatch", "scontrol"} {
					if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+c.scontrol), 0o700); err != nil {
						t.Fatal(err)
					}
				}
			}
			t.Setenv("PATH", dir)
			t.Setenv("SLURM_CONF", c.conf)
			t.Setenv(OnVar, c.on)
			at, err := observe(t.Context(), job.New(job.Bag, dir))
			if c.says == nil {
				if err != nil || at.Snapshot.Driver != local.Name {
					t.Errorf("backend %q, %v", at.Snapshot.Driver, err)
				}
				return
			}
			if err == nil || job.ClassOf(err) != c.class {
				t.Fatalf("backend %q, error %v", at.Snapshot.Driver, err)
			}
			for _, says := range c.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("it says %q, and not %q", err, says)
				}
			}
		})
	}
}

// TestScripts: the folder of --on script:DIR is known to whatever runs later, from any folder, and the plan has the scheduler's snapshot.
func TestScripts(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("BERTH_SCRIPTS", "")
	t.Setenv(OnVar, "script:mine")
	if err := os.Mkdir("mine", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"submit": "", "status": "", "cancel": "", "snapshot": `echo '{"free_nodes": 3, "per_node": {"cpus": 2, "mem_bytes": 99}}'`} {
		if err := os.WriteFile(filepath.Join("mine", name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for on, want := range map[string]string{"auto": "auto", "script:mine": "script:" + filepath.Join(dir, "mine")} {
		spec := job.New(job.Bag, dir)
		spec.Request.On = on
		at, err := observe(t.Context(), spec)
		if err != nil || len(at.Snapshot.Nodes) != 3 || at.Snapshot.Queue.Cluster != "mine" || at.Snapshot.Driver != "script" || os.Getenv("BERTH_SCRIPTS") != filepath.Join(dir, "mine") || spec.Request.On != want {
			t.Errorf("--on %s: %+v, %v, request on %s", on, at.Snapshot, err, spec.Request.On)
		}
		if err := spec.Validate(); err != nil && strings.Contains(err.Error(), "backend") {
			t.Error(err)
		}
	}
}
