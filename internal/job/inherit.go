package job

// Inherit is what the command that submitted a job had of what a process hands on to the programs it
// starts. Tasks get it as if that command had started them.
type Inherit struct {
	Umask  *int              `json:"umask,omitempty"`  // file mode mask; nil: as the worker has it
	Nice   *int              `json:"nice,omitempty"`   // nice value, −20 to 19; nil: as the worker has it
	Limits map[string]uint64 `json:"limits,omitempty"` // soft resource limits by their names for prlimit(1); Unlimited; one that is missing is as the worker has it
}

// Unlimited is no limit in Inherit.Limits.
const Unlimited = ^uint64(0)
