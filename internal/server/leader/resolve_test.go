package leader

import (
	"log/slog"
	"os"
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/core/sched"
)

// TestResolve: flags go before the environment, and that before what is remembered; only what
// flags say is remembered.
func TestResolve(t *testing.T) {
	yes, no, normal := true, false, sched.Phases.Name
	for _, c := range []struct {
		name                  string
		said, env, remembered Choice
		want                  Choice
		then                  Choice // remembered
	}{
		{"nothing is said", Choice{}, Choice{}, Choice{}, Choice{Order: string(sched.Auto), Scheduler: normal, Keep: &no, StandIn: StandInOn, StragglerRule: "berth"}, Choice{}},
		{"remembered", Choice{}, Choice{}, Choice{Order: "fifo", Keep: &yes}, Choice{Order: string(sched.FIFO), Scheduler: normal, Keep: &yes, StandIn: StandInOn, StragglerRule: "berth"}, Choice{Order: "fifo", Keep: &yes}},
		{"the environment", Choice{}, Choice{Order: "shortest", Keep: &no}, Choice{Order: "fifo", Keep: &yes},
			Choice{Order: string(sched.Shortest), Scheduler: normal, Keep: &no, StandIn: StandInOn, StragglerRule: "berth"}, Choice{Order: "fifo", Keep: &yes}},
		{"flags", Choice{Order: "auto", Keep: &yes}, Choice{Order: "shortest", Keep: &no}, Choice{Order: "fifo", Keep: &no},
			Choice{Order: string(sched.Auto), Scheduler: normal, Keep: &yes, StandIn: StandInOn, StragglerRule: "berth"}, Choice{Order: "auto", Keep: &yes}},
		{"stand-ins by the environment", Choice{}, Choice{StandIn: StandInNodes}, Choice{StandIn: StandInOff},
			Choice{Order: string(sched.Auto), Scheduler: normal, Keep: &no, StandIn: StandInNodes, StragglerRule: "berth"}, Choice{}},
		{"stand-ins by flags", Choice{StandIn: StandInOff}, Choice{StandIn: StandInOn, StragglerRule: "berth"}, Choice{},
			Choice{Order: string(sched.Auto), Scheduler: normal, Keep: &no, StandIn: StandInOff, StragglerRule: "berth"}, Choice{}},
		{"the scheduler", Choice{}, Choice{Scheduler: "cores"}, Choice{Scheduler: "prism"},
			Choice{Order: string(sched.Auto), Scheduler: "cores", Keep: &no, StandIn: StandInOn, StragglerRule: "berth"}, Choice{}},
		{"some of each", Choice{Keep: &no}, Choice{Keep: &yes}, Choice{Order: "fifo"}, Choice{Order: string(sched.FIFO), Scheduler: normal, Keep: &no, StandIn: StandInOn, StragglerRule: "berth"}, Choice{Order: "fifo", Keep: &no}},
	} {
		s := open(t)
		if err := s.Choose(c.remembered); err != nil {
			t.Fatal(err)
		}
		got, err := s.Resolve(Policies{}, c.said, c.env, slog.New(slog.DiscardHandler))
		if err != nil || !same(got, c.want) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		then, err := s.Choice()
		if err != nil || then.Order != c.then.Order || (then.Keep == nil) != (c.then.Keep == nil) || then.Keep != nil && *then.Keep != *c.then.Keep {
			t.Errorf("%s: %+v is remembered, %v", c.name, then, err)
		}
	}
}

// TestResolveDamaged: what is remembered and makes no sense is forgotten.
func TestResolveDamaged(t *testing.T) {
	for _, text := range []string{`{"order": "fi`, `{"stand_in": "sometimes"}`, `{"order": "longest", "keep": true}`, `{"keep": 1}`} {
		s, no, normal := open(t), false, sched.Phases.Name
		if err := os.WriteFile(s.choicePath(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Resolve(Policies{}, Choice{}, Choice{}, slog.New(slog.DiscardHandler)); err != nil || !same(got, Choice{Order: string(sched.Auto), Scheduler: normal, Keep: &no, StandIn: StandInOn, StragglerRule: "berth"}) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if then, err := s.Choice(); err != nil || then != (Choice{}) {
			t.Errorf("%s: %+v is remembered, %v", text, then, err)
		}
	}
}

// TestResolveUnknown: a scheduler or a rule that was chosen and that this program does not have is an error that says
// which program may have it, and another choice replaces it.
func TestResolveUnknown(t *testing.T) {
	theirs := &sched.Scheduler{Name: "slots", Rules: sched.Cores.Rules}
	for text, says := range map[string]string{
		`{"scheduler": "slots"}`:     `there is no scheduler "slots"; choose another one with berth server start --scheduler, or none with berth server stop: write phases, cores, prism; those of other systems are in berth-lab`,
		`{"straggler_rule": "late"}`: `there is no rule "late"; choose another one with berth server start --straggler-rule, or none with berth server stop: write berth, nothing, paper, paper-abort; those of other systems are in berth-lab`,
	} {
		s := open(t)
		if err := os.WriteFile(s.choicePath(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		log := slog.New(slog.DiscardHandler)
		if _, err := s.Resolve(Policies{}, Choice{}, Choice{}, log); job.CodeOf(err) != job.CodeConfig || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), s.choicePath()) {
			t.Errorf("%s: %v", text, err)
		}
		if text == `{"scheduler": "slots"}` {
			if got, err := s.Resolve(Policies{Schedulers: []*sched.Scheduler{theirs}}, Choice{}, Choice{}, log); err != nil || got.Scheduler != "slots" {
				t.Errorf("a program that has it: %+v, %v", got, err)
			}
		}
		if got, err := s.Resolve(Policies{}, Choice{Scheduler: "cores", StragglerRule: "paper"}, Choice{}, log); err != nil || got.Scheduler != "cores" || got.StragglerRule != "paper" {
			t.Errorf("another choice: %+v, %v", got, err)
		}
		if got, err := s.Resolve(Policies{}, Choice{}, Choice{}, log); err != nil || got.Scheduler == "slots" || got.StragglerRule == "late" {
			t.Errorf("after another choice: %+v, %v", got, err)
		}
	}
}
