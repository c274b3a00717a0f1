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
	groups map[string]map[string]struct{} // names of the counters that were reported
	names  int
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
	names, known := c.groups[group]
	if _, there := names[name]; there {
		return nil
	}
	switch {
	case !known && len(c.groups) >= c.Limits.Groups:
		return tooMany("groups of counters", c.Limits.Groups, job.CounterGroupsKey)
	case c.names >= c.Limits.Counters:
		return tooMany("counters", c.Limits.Counters, job.CountersKey)
	case c.groups == nil:
		c.groups = map[string]map[string]struct{}{}
	}
	if !known {
		names = map[string]struct{}{}
		c.groups[group] = names
	}
	names[name] = struct{}{}
	c.names++
	return nil
}

func tooMany(what string, limit int, key string) *Failure {
	return Broken("the task reported more than %d %s; count by fewer names, or allow more with -D %s=N", limit, what, key)
}
