package straggler

// Nothing is the rule that never does anything, which the others are compared with.
type Nothing struct{}

// Name returns "nothing".
func (Nothing) Name() string { return "nothing" }

// Judge keeps all attempts.
func (Nothing) Judge(v *View) []Verdict { return keepAll(v) }

// keepAll returns a verdict on each attempt that keeps it.
func keepAll(v *View) []Verdict {
	out := make([]Verdict, len(v.Running))
	for i := range v.Running {
		out[i].Attempt = v.Running[i].Attempt
	}
	return out
}
