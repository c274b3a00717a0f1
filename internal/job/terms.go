package job

// Terms is what a resume may change of a job's work: what its tasks need, and how often they may fail.
type Terms struct {
	Need           Resources `msgpack:"need"`
	ReduceNeed     Resources `msgpack:"rneed"`
	Attempts       int       `msgpack:"a"`
	ReduceAttempts int       `msgpack:"ra,omitempty"`
	MaxFails       int       `msgpack:"mf"`
	Throttle       int       `msgpack:"th,omitempty"`
}

// Terms returns the terms of the work.
func (w *Work) Terms() Terms {
	return Terms{Need: w.Need, ReduceNeed: w.ReduceNeed, Attempts: w.Attempts, ReduceAttempts: w.ReduceAttempts,
		MaxFails: w.MaxFails, Throttle: w.Throttle}
}

// SetTerms replaces the terms of the work; nil changes nothing.
func (w *Work) SetTerms(t *Terms) {
	if t == nil {
		return
	}
	w.Need, w.ReduceNeed, w.Attempts, w.ReduceAttempts = t.Need, t.ReduceNeed, t.Attempts, t.ReduceAttempts
	w.MaxFails, w.Throttle = t.MaxFails, t.Throttle
}
