// Package tracetest finds the traces of the Parallel Workloads Archive and of SWIM for tests.
// They are not part of the repository; tests that need them are skipped without them.
package tracetest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Names of the traces. Those of oracles hold when another simulator starts the jobs of
// SDSCFiltered with exact requests.
const (
	SDSC         = "SDSC-SP2-1998-4.2-cln.swf.gz"          // as the archive has it
	SDSCFiltered = "SDSC-SP2-filtered-53999.swf.gz"        // without jobs that the literature leaves out
	OracleCBF    = "oracle-cbf-exact-sdsc.swf.gz"          // by conservative backfilling
	OracleEASY   = "oracle-easy-exact-sdsc.swf.gz"         // by EASY
	Facebook2009 = "FB-2009_samples_24_times_1hr_0.tsv.gz" // of SWIM
)

// Path returns the path of a trace in the folder that BERTH_TRACES names, or else in
// shared/traces beside the module. It skips the test where the trace is not there.
func Path(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(folder(t), name)) // some commands run elsewhere
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no trace: set BERTH_TRACES to the folder that has %s", name)
	} else if err != nil {
		t.Fatal(err)
	}
	return path
}

func folder(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("BERTH_TRACES"); dir != "" {
		return dir
	}
	dir, err := os.Getwd() // of a test: its package's folder
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(filepath.Dir(dir), "shared", "traces")
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above this test's folder")
		}
		dir = up
	}
}
