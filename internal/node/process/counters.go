package process

import (
	"sync"

	"berth/internal/core/job"
	"berth/internal/sys/probe"
)

// Counters adds up the counters that an attempt's programs report. An attempt that creates more
// counters than its job may have is ended, as in Hadoop.
type Counters struct {
	Meter  *probe.Meter
	Limits job.CounterLimits
	End    func(*Failure)

	mu     sync.Mutex
	groups map[string]bool    // that were reported
	names  map[[2]string]bool // of the counters, each with its group
}

// Add adds n to a counter.
func (c *Counters) Add(group, name string, n int64) {
	group, name = c.Limits.Names(group, name)
	if f := c.know(group, name); f != nil {
		c.End(f)
		return
	}
	c.Meter.Counter(group, name, n)
}

// know registers the name of a counter. It returns a failure if the attempt has too many counters.
func (c *Counters) know(group, name string) *Failure {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := [2]string{group, name}
	switch {
	case c.names[key]:
		return nil
	case !c.groups[group] && len(c.groups) >= c.Limits.Groups:
		return tooMany("groups of counters", c.Limits.Groups, job.CounterGroupsKey)
	case len(c.names) >= c.Limits.Counters:
		return tooMany("counters", c.Limits.Counters, job.CountersKey)
	case c.names == nil:
		c.groups, c.names = make(map[string]bool), make(map[[2]string]bool)
	}
	c.groups[group], c.names[key] = true, true
	return nil
}

func tooMany(what string, limit int, key string) *Failure {
	return Broken("the task reported more than %d %s; count by fewer names, or allow more with -D %s=N", limit, what, key)
}
