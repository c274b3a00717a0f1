package slurm

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver"
	"berth/internal/driver/batch"
)

// fakeSlurm writes replacements of Slurm's commands, which append the environment of each call to a file.
// They accept any job and never report the end of one. It returns the folder of the commands and the file's path.
func fakeSlurm(t *testing.T) (path, calls string) {
	t.Helper()
	path, calls = t.TempDir(), filepath.Join(t.TempDir(), "calls")
	for name, does := range map[string]string{
		"sbatch":   "echo 17",
		"squeue":   `printf '17\037RUNNING\0370\0370\0371:00\037\0370:0\037None\0370\037\037\n'`,
		"scancel":  "exit 0",
		"sacct":    "exit 0",
		"scontrol": "echo ClusterName = c",
	} {
		text := "#!/bin/sh\necho " + name + " $SLURM_CONF $LD_LIBRARY_PATH >>" + calls + "\n" + does + "\n"
		if err := os.WriteFile(filepath.Join(path, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return path, calls
}

// TestClusters checks that each allocation is requested from its job's cluster and in its job's environment,
// whatever the coordinator's own environment is, and that a later coordinator still knows both.
func TestClusters(t *testing.T) {
	path, calls := fakeSlurm(t)
	dir := filepath.Join(t.TempDir(), "slurm")
	opts := batch.Options{Setup: driver.Setup{Exe: "/bin/true", Env: []string{"PATH=/nowhere"}, Issue: func(job.NodeID, string) error { return nil }, Now: now, Wall: now, Report: func(step.Input) {}, Log: slog.New(slog.DiscardHandler)}, System: func(env []string) batch.System { return Open(env) }, Dir: dir, Scratch: t.TempDir(), Poll: time.Hour, RetryFirst: time.Second, RetryMax: time.Minute}
	said := func(call string) bool {
		text, _ := os.ReadFile(calls)
		return slices.Contains(strings.Split(string(text), "\n"), call)
	}
	await := func(call string) {
		t.Helper()
		for end := time.Now().Add(5 * time.Minute); !said(call); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				text, _ := os.ReadFile(calls)
				t.Fatalf("no %q among:\n%s", call, text)
			}
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	env := func(conf, lib string) []string {
		return []string{"PATH=" + path + ":/usr/bin:/bin", "SLURM_CONF=" + conf, "LD_LIBRARY_PATH=" + lib}
	}
	on := func(cluster string) job.AllocRequest {
		return job.AllocRequest{On: Name, Nodes: 1, PerNode: share, Elastic: true, Batch: job.Batch{Cluster: cluster}}
	}

	first := batch.New(opts)
	do(first.Use("one", env("/1/slurm.conf", "/old")))
	do(first.Use("two", env("/2/slurm.conf", "/old")))
	do(first.Request(t.Context(), "a1", on("one")))
	do(first.Request(t.Context(), "a2", on("two")))
	await("sbatch /1/slurm.conf /old")
	await("sbatch /2/slurm.conf /old")
	do(first.Use("two", env("/2/slurm.conf", "/new"))) // by a later job
	do(first.Release(t.Context(), "a2"))
	await("scancel /2/slurm.conf /new")
	do(first.Close())
	if st, err := os.Stat(filepath.Join(dir+"-env", "one.json")); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the remembered environment: %v, %v", st, err)
	}

	second := batch.New(opts)
	do(second.Adopt(t.Context(), "a1", on("one")))
	do(second.Request(t.Context(), "a3", on("two")))
	await("sbatch /2/slurm.conf /new")
	do(second.Release(t.Context(), "a1"))
	await("scancel /1/slurm.conf /old")
	if said("scancel /2/slurm.conf /old") || said("sbatch  ") {
		t.Error("a call was made in another environment")
	}
	do(second.Close())
}

// TestClusterID checks that clusters differ in their ids if their names or controllers differ, and that an id can be a file's name.
func TestClusterID(t *testing.T) {
	config := func(name, host, port string) map[string]string {
		return map[string]string{"ClusterName": name, "SlurmctldHost[0]": host, "SlurmctldPort": port}
	}
	ids := map[string]bool{}
	for _, c := range []map[string]string{config("linux", "a", "6817"), config("linux", "b", "6817"), config("linux", "a", "7000"), config("../x y", "a", "6817")} {
		id := clusterID(c)
		if ids[id] || id != filepath.Base(id) || strings.ContainsAny(id, " .") || id != clusterID(c) {
			t.Errorf("%v is %q", c, id)
		}
		ids[id] = true
	}
}
