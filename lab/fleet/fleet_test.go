package main

import (
	"os"
	"strings"
	"testing"

	"berth/test/support/fleet"
	"berth/test/support/program"
)

// TestShort runs a short experiment on two machines and checks that all pictures are made, and that
// each run has its prediction.
func TestShort(t *testing.T) {
	if why := fleet.Missing(); why != "" {
		t.Skip("no machines apart: " + why)
	}
	if _, err := os.Stat("/usr/bin/convert"); err != nil {
		t.Skip("not installed: scripts/test.sh installs it from Debian: ", err)
	}
	berth, err := program.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := &options{berth: berth, quick: true, seconds: 2}
	b, err := newBench(t.Context(), o, []kind{{Name: "slow", Cores: 0.4, Rate: 1_000_000, Price: 36, Limit: 1}, {Name: "fast", Cores: 0.8, Rate: 3_000_000, Price: 80, Limit: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.close(); err != nil {
			t.Error(err)
		}
	}()
	res, err := b.experiment(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Trials) != 2 || len(res.Points) != 2 || res.Server <= 0 {
		t.Fatalf("%+v", res)
	}
	for _, r := range append(res.Trials, res.Points...) {
		if r.Predicted <= 0 || r.Simple <= 0 || r.Measured <= 0 || r.Cost <= 0 || r.Paid <= 0 {
			t.Errorf("%+v", r)
		}
	}
	if text := res.text(); !strings.Contains(text, "| slow=1 |") {
		t.Errorf("the table has no row of slow=1:\n%s", text)
	}
}
