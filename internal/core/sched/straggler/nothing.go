package straggler

// Nothing is the rule that never acts, the baseline for the others.
type Nothing struct{}

// Name returns "nothing".
func (Nothing) Name() string { return "nothing" }

// Assess keeps all attempts.
func (Nothing) Assess(v *View) []Verdict { return KeepAll(v) }

// KeepAll returns a verdict for each attempt that keeps it.
func KeepAll(v *View) []Verdict {
	out := make([]Verdict, len(v.Running))
	for i := range v.Running {
		out[i].Attempt = v.Running[i].Attempt
	}
	return out
}
