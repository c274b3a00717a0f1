// Package tracetest finds the traces of the Parallel Workloads Archive and of SWIM for tests. The
// traces are not part of the repository; Path skips a test if its trace is missing.
package tracetest

import (
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The names of the traces. The oracles are the starts of the jobs of SDSCFiltered, with exact
// requests, in another simulator.
const (
	SDSC         = "SDSC-SP2-1998-4.2-cln.swf.gz"          // as in the archive
	SDSCFiltered = "SDSC-SP2-filtered-53999.swf.gz"        // without the jobs that the literature leaves out
	OracleCBF    = "oracle-cbf-exact-sdsc.swf.gz"          // with conservative backfilling
	OracleEASY   = "oracle-easy-exact-sdsc.swf.gz"         // with EASY
	Facebook2009 = "FB-2009_samples_24_times_1hr_0.tsv.gz" // of SWIM
)

// Path returns the path of a trace in the folder that BERTH_TRACES names, or in shared/traces beside
// the module. It skips the test if the trace is missing.
func Path(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(folder(t), name)) // some commands run in another folder
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

// Schedule returns the text of a trace in the Standard Workload Format whose jobs are ordered by their starts, as those of the oracles are, in
// the order of submission.
func Schedule(t testing.TB, name string) io.Reader {
	t.Helper()
	f, err := os.Open(Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	submit := func(line string) float64 {
		fields := strings.Fields(line)
		if len(fields) != 18 {
			return -1 // comments stay at the top
		}
		at, _ := strconv.ParseFloat(fields[1], 64)
		return at
	}
	slices.SortStableFunc(lines, func(a, b string) int { return cmp.Compare(submit(a), submit(b)) })
	return strings.NewReader(strings.Join(lines, ""))
}

func folder(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("BERTH_TRACES"); dir != "" {
		return dir
	}
	dir, err := os.Getwd() // the package's folder
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
