package job

// Inherit holds the process attributes of the command that submitted a job. Tasks run with them, as if that
// command had started the tasks.
type Inherit struct {
	Umask  *int              `json:"umask,omitempty"`  // file mode mask; nil: the worker's
	Nice   *int              `json:"nice,omitempty"`   // nice value, −20 to 19; nil: the worker's
	Policy string            `json:"policy,omitempty"` // scheduling policy and priority as flags of chrt(1); empty: the worker's
	IO     string            `json:"io,omitempty"`     // class and priority of disk accesses as flags of ionice(1); empty: the worker's
	OOM    *int              `json:"oom,omitempty"`    // how soon the kernel ends a process for lack of memory, −1000 to 1000 (oom_score_adj); nil: the worker's
	Limits map[string]uint64 `json:"limits,omitempty"` // soft resource limits by their names in prlimit(1), or Unlimited; a missing one is the worker's
}

// Unlimited in Inherit.Limits means that there is no limit.
const Unlimited = ^uint64(0)
