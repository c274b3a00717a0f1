// Package seeds says how many random cases a test runs: few in make test, thousands in make soak. The cases of rapid.Check are
// as many as RAPID_CHECKS says, which make soak sets, too.
package seeds

import (
	"os"
	"strconv"
	"testing"
)

// Var names the environment variable with the factor by which make soak multiplies the number of cases.
const Var = "BERTH_SEEDS"

// Count returns the number of cases for a test that runs n of them in make test. With -short it is a fifth.
func Count(tb testing.TB, n int) int {
	tb.Helper()
	text := os.Getenv(Var)
	if text == "" && testing.Short() {
		return max(1, n/5)
	}
	if text == "" {
		return n
	}
	factor, err := strconv.Atoi(text)
	if err != nil || factor < 1 {
		tb.Fatalf("%s is %q, want a number above 0", Var, text)
	}
	return n * factor
}
