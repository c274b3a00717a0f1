package main

import (
	"errors"
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
	dir := t.TempDir()
	if err := errors.Join(res.write(dir, 1), res.write(dir, 2)); err != nil {
		t.Fatal(err)
	}
	turns, err := readTurns(dir)
	if err != nil || len(turns) != 2 {
		t.Fatalf("%d turns are kept, not 2: %v", len(turns), err)
	}
	if text := text(turns); !strings.Contains(text, "| slow=1 |") {
		t.Errorf("the table has no row of slow=1:\n%s", text)
	}
}

// TestText: a row has the medians of its turns and the error of each of them; a choice of machines that only one turn made has a row, too.
func TestText(t *testing.T) {
	try := func(machines string, predicted, measured float64) trial {
		return trial{Machines: machines, Tasks: 10, Predicted: predicted, Low: predicted - 1, Up: predicted + 1, Simple: 5, Use: 0.5, Measured: measured, Cost: 1, Paid: 2}
	}
	got := text([]*results{
		{Trials: []trial{try("a=1", 10, 10)}, Points: []trial{try("a=1", 10, 10)}},
		{Trials: []trial{try("a=1", 11, 10)}, Points: []trial{try("b=1", 10, 10)}},
		{Trials: []trial{try("a=1", 15, 12)}, Points: []trial{try("a=1", 12, 10)}},
	})
	for _, want := range []string{
		"Configurations: median error 10.0 % (0.0 to 25.0), by turn 0.0, 10.0, 25.0 %; of the simple estimate 50.0 %. 2 of 3 runs are in the predicted 10 to 90 %.",
		"| a=1 | 10 | 50 % | 11.0 | 10.0 to 12.0 | 5.0 | 10.0 | +0.0, +10.0, +25.0 | -50.0 % | 1.00 | 2.00 |",
		"| b=1 | 10 | 50 % | 10.0 | 9.0 to 11.0 | 5.0 | 10.0 | +0.0 | -50.0 % | 1.00 | 2.00 |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the tables lack %q:\n%s", want, got)
		}
	}
}
