package worker

import (
	"sync"

	"berth/internal/job"
	"berth/internal/probe"
)

// userCounters adds up what an attempt's programs report. An attempt that makes more
// counters than its job may have is ended, as in Hadoop.
type userCounters struct {
	meter  *probe.Meter
	limits job.CounterLimits
	end    func(*failure)

	mu     sync.Mutex
	groups map[string]map[string]struct{} // names that were reported
	names  int
}

// add adds n to a counter.
func (c *userCounters) add(group, name string, n int64) {
	group, name = c.limits.Names(group, name)
	if f := c.know(group, name); f != nil {
		c.end(f)
		return
	}
	c.meter.Counter(group, name, n)
}

// know notes a counter's name, or returns why there cannot be one more.
func (c *userCounters) know(group, name string) *failure {
	c.mu.Lock()
	defer c.mu.Unlock()
	names, known := c.groups[group]
	if _, there := names[name]; there {
		return nil
	}
	switch {
	case !known && len(c.groups) >= c.limits.Groups:
		return tooMany("groups of counters", c.limits.Groups, job.CounterGroupsKey)
	case c.names >= c.limits.Counters:
		return tooMany("counters", c.limits.Counters, job.CountersKey)
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

func tooMany(what string, limit int, key string) *failure {
	return broken("the task reported more than %d %s; count by fewer names, or allow more with -D %s=N", limit, what, key)
}
