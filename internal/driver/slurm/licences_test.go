package slurm

import (
	"slices"
	"testing"

	"berth/internal/core/cluster"
)

// What scontrol prints of licences is understood: on one line each, as with -o, and on several; those of the accounting have the name of their
// server. A cluster without any says so.
func TestLicences(t *testing.T) {
	for out, want := range map[string][]cluster.Licence{
		"LicenseName=ansys Total=100 Used=2 Free=98 Remote=no\nLicenseName=fluent Total=30 Used=0 Free=30 Reserved=0 Remote=no\n": {
			{Name: "ansys", Total: 100, Free: 98}, {Name: "fluent", Total: 30, Free: 30}},
		"LicenseName=nastran@flex_host\n    Total=10 Used=4 Free=6 Reserved=0 Remote=yes\n    LastConsumed=7 LastDeficit=1 LastUpdate=2023-02-28T17:26:47\n": {
			{Name: "nastran@flex_host", Total: 10, Free: 6}},
		"No licenses configured in Slurm.\n": nil, "": nil, "Total=3\n": nil,
	} {
		if got := parseLicences(out); !slices.Equal(got, want) {
			t.Errorf("%q: %+v", out, got)
		}
	}
}
