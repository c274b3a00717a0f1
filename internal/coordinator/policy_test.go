package coordinator

import (
	"io"
	"log/slog"
	"os"
	"testing"

	"berth/internal/home"
	"berth/internal/sched"
)

// TestSettle: flags go before the environment, and that before what is remembered; only what
// flags say is remembered.
func TestSettle(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		name                  string
		said, env, remembered home.Choice
		want                  policy
		then                  home.Choice // remembered
	}{
		{"nothing is said", home.Choice{}, home.Choice{}, home.Choice{}, policy{sched.Auto, false, nil, home.StandInOn}, home.Choice{}},
		{"remembered", home.Choice{}, home.Choice{}, home.Choice{Order: "fifo", Keep: &yes}, policy{sched.FIFO, true, nil, home.StandInOn}, home.Choice{Order: "fifo", Keep: &yes}},
		{"the environment", home.Choice{}, home.Choice{Order: "shortest", Keep: &no}, home.Choice{Order: "fifo", Keep: &yes},
			policy{sched.Shortest, false, nil, home.StandInOn}, home.Choice{Order: "fifo", Keep: &yes}},
		{"flags", home.Choice{Order: "auto", Keep: &yes}, home.Choice{Order: "shortest", Keep: &no}, home.Choice{Order: "fifo", Keep: &no},
			policy{sched.Auto, true, nil, home.StandInOn}, home.Choice{Order: "auto", Keep: &yes}},
		{"stand-ins by the environment", home.Choice{}, home.Choice{StandIn: home.StandInNodes}, home.Choice{StandIn: home.StandInOff},
			policy{sched.Auto, false, nil, home.StandInNodes}, home.Choice{}},
		{"stand-ins by flags", home.Choice{StandIn: home.StandInOff}, home.Choice{StandIn: home.StandInOn}, home.Choice{},
			policy{sched.Auto, false, nil, home.StandInOff}, home.Choice{}},
		{"some of each", home.Choice{Keep: &no}, home.Choice{Keep: &yes}, home.Choice{Order: "fifo"}, policy{sched.FIFO, false, nil, home.StandInOn}, home.Choice{Order: "fifo", Keep: &no}},
	} {
		opts := options(t)
		opts.Said, opts.Env = c.said, c.env
		if err := opts.Home.Choose(c.remembered); err != nil {
			t.Fatal(err)
		}
		got, err := settle(opts)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		then, err := opts.Home.Choice()
		if err != nil || then.Order != c.then.Order || (then.Keep == nil) != (c.then.Keep == nil) || then.Keep != nil && *then.Keep != *c.then.Keep {
			t.Errorf("%s: %+v is remembered, %v", c.name, then, err)
		}
	}
}

// TestSettleOdd: what is remembered and makes no sense is forgotten.
func TestSettleOdd(t *testing.T) {
	for _, text := range []string{`{"order": "fi`, `{"stand_in": "sometimes"}`, `{"order": "longest", "keep": true}`, `{"keep": 1}`} {
		opts := options(t)
		if err := os.WriteFile(opts.Home.ChoicePath(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := settle(opts); err != nil || got != (policy{order: sched.Auto, standIn: home.StandInOn}) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if then, err := opts.Home.Choice(); err != nil || then != (home.Choice{}) {
			t.Errorf("%s: %+v is remembered, %v", text, then, err)
		}
	}
}

func options(t *testing.T) Options {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	h, err := home.Open()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Home: h, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
}
