package leader

import (
	"fmt"
	"log/slog"

	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/sched/straggler"
)

// Policies has schedulers and straggler rules that a user can choose in addition to those of berth. The laboratory has
// some.
type Policies struct {
	Schedulers []*sched.Scheduler
	Rules      []straggler.Rule
}

// AllSchedulers returns the schedulers that a user can choose, the default first.
func (p Policies) AllSchedulers() []*sched.Scheduler {
	return append(sched.Schedulers(), p.Schedulers...)
}

// AllRules returns the rules that a user can choose, the default first.
func (p Policies) AllRules() []straggler.Rule { return append(straggler.Rules(), p.Rules...) }

// elsewhere is added to the advice of an error about an unknown name.
const elsewhere = "; those of other systems are in berth-lab, which is used instead of berth"

func (p Policies) scheduler(where, name string) (*sched.Scheduler, error) {
	s, err := sched.SchedulerNamed(where, name, p.AllSchedulers())
	return s, advise(err, len(p.Schedulers) == 0)
}

func (p Policies) rule(where, name string) (straggler.Rule, error) {
	r, err := straggler.RuleNamed(where, name, p.AllRules())
	return r, advise(err, len(p.Rules) == 0)
}

// advise adds to the error where further names are available, if there are any.
func advise(err error, further bool) error {
	e, ok := err.(*job.Error)
	if !ok || !further {
		return err
	}
	more := *e
	return more.Advice(e.Do + elsewhere)
}

// saved changes an error about an unknown name into one about a stored choice, which another flag or the end of the
// choice replaces.
func saved(err error, flag string) error {
	e, ok := err.(*job.Error)
	if !ok {
		return err
	}
	more := *e
	return more.Advice("choose another one with berth server start " + flag + ", or none with berth server stop: " + e.Do)
}

// Of returns the scheduler and the rule of a choice, the default of each that was not chosen.
func (p Policies) Of(c Choice) (s *sched.Scheduler, r straggler.Rule) {
	s, _ = p.scheduler("", c.Scheduler)
	r, _ = p.rule("", c.StragglerRule)
	return s, r
}

// Check returns an error if a choice is invalid. The other arguments say in the error where the order, the scheduler,
// the rule and the stand-in were set.
func (p Policies) Check(c Choice, order, scheduler, rule, standIn string) error {
	if _, err := p.scheduler(scheduler, c.Scheduler); err != nil {
		return err
	}
	if _, err := p.rule(rule, c.StragglerRule); err != nil {
		return err
	}
	return c.check(order, standIn)
}

// check does what Check does, except for the scheduler and the rule.
func (c Choice) check(order, standIn string) error {
	if _, err := sched.ParseOrder(order, c.Order); err != nil {
		return err
	}
	switch c.StandIn {
	case "", StandInOn, StandInNodes, StandInOff:
		return nil
	}
	return job.ConfigError(standIn, fmt.Sprintf("%q is not a choice of stand-ins", c.StandIn), "write on, nodes or off")
}

// Resolve returns the settings of a coordinator that starts, except the number of runs: those of flags, else those of
// the environment, else the stored ones. It stores those of flags. Only the owner may call it.
//
// An invalid stored choice, from a damaged file or another version of berth, does not prevent a start. But a stored
// scheduler or rule that this program does not have is an error, unless a flag or the environment sets another.
func (s Seat) Resolve(p Policies, said, env Choice, log *slog.Logger) (Choice, error) {
	remembered, err := s.Choice()
	if err == nil {
		err = remembered.check(s.choicePath(), s.choicePath())
	}
	if err != nil {
		log.Warn("the saved choices cannot be used and are removed", "err", err)
		if err := s.Forget(); err != nil {
			return Choice{}, err
		}
		remembered = Choice{}
	}
	if err := s.Choose(said); err != nil {
		return Choice{}, err
	}
	c := said.Or(env).Or(remembered).Or(Choice{Keep: new(bool), StandIn: StandInOn})
	order, err := sched.ParseOrder("order", c.Order)
	if err != nil {
		return c, err
	}
	scheduler, err := p.scheduler(s.choicePath(), c.Scheduler)
	if err != nil {
		return c, saved(err, "--scheduler")
	}
	rule, err := p.rule(s.choicePath(), c.StragglerRule)
	if err != nil {
		return c, saved(err, "--straggler-rule")
	}
	c.Order, c.Scheduler, c.StragglerRule = string(order), scheduler.Name, rule.Name()
	return c, nil
}
