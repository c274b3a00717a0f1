package leader

import (
	"errors"
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

// find returns the scheduler and the rule of a choice, the default of each that was not chosen. The other arguments say in the error
// where they were set. The scheduler is there if the error is about the rule.
func (p Policies) find(c Choice, scheduler, rule string) (s *sched.Scheduler, r straggler.Rule, err error) {
	if s, err = sched.SchedulerNamed(scheduler, c.Scheduler, p.AllSchedulers()); err == nil {
		r, err = straggler.RuleNamed(rule, c.StragglerRule, p.AllRules())
	}
	var e *job.Error
	if len(p.Schedulers)+len(p.Rules) == 0 && errors.As(err, &e) {
		e.Do += "; those of other systems are in berth-lab, which is used instead of berth"
	}
	return s, r, err
}

// Of returns the scheduler and the rule of a choice that is valid.
func (p Policies) Of(c Choice) (s *sched.Scheduler, r straggler.Rule) {
	s, r, _ = p.find(c, "", "")
	return s, r
}

// Check returns an error if a choice is invalid. The other arguments say in the error where the order, the scheduler,
// the rule and the stand-in were set.
func (p Policies) Check(c Choice, order, scheduler, rule, standIn string) error {
	if _, _, err := p.find(c, scheduler, rule); err != nil {
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
	scheduler, rule, err := p.find(c, s.choicePath(), s.choicePath())
	var unknown *job.Error
	if errors.As(err, &unknown) {
		flag := "--straggler-rule"
		if scheduler == nil {
			flag = "--scheduler"
		}
		unknown.Do = "choose another one with berth server start " + flag + ", or none with berth server stop: " + unknown.Do
	}
	if err != nil {
		return c, err
	}
	c.Order, c.Scheduler, c.StragglerRule = string(order), scheduler.Name, rule.Name()
	return c, nil
}
