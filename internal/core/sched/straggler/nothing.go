package straggler

// Nothing is the rule that never acts, the baseline for the others.
type Nothing struct{}

// Name returns "nothing".
func (Nothing) Name() string { return "nothing" }

// Assess keeps all attempts.
func (Nothing) Assess(v *View) []Verdict { return v.Verdicts(nil) }
