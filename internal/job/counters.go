package job

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// TaskCounterGroup is the group of Hadoop's own counters for tasks, which the limits do not
// concern.
const TaskCounterGroup = "org.apache.hadoop.mapreduce.TaskCounter"

// Job keys that bound the counters of a job's tasks (reporter:counter lines).
const (
	CountersKey          = "mapreduce.job.counters.max"
	CounterGroupsKey     = "mapreduce.job.counters.groups.max"
	CounterGroupNameKey  = "mapreduce.job.counters.group.name.max"
	CounterNameKey       = "mapreduce.job.counters.counter.name.max"
	defaultCounters      = 1000
	defaultCounterGroups = 200
	defaultGroupName     = 128
	defaultCounterName   = 64
)

// CounterLimits bounds what the tasks of a job report by counters, as they are held in
// memory and written to the job's journal with each attempt. The keys are Hadoop's; so
// are the lengths of names, and what becomes of longer ones. The numbers of counters and
// groups are higher than Hadoop's 120 and 50, which clusters raise for all their users.
type CounterLimits struct {
	Counters, Groups       int // different ones, of an attempt and of the job
	GroupName, CounterName int // characters
}

// CounterLimits returns the limits that the job's keys say.
func (m *MapReduceSpec) CounterLimits() CounterLimits {
	value := func(key string, missing int) int {
		if n, err := strconv.Atoi(strings.TrimSpace(m.Conf[key])); err == nil && n > 0 {
			return n
		}
		return missing
	}
	return CounterLimits{
		Counters: value(CountersKey, defaultCounters), Groups: value(CounterGroupsKey, defaultCounterGroups),
		GroupName: value(CounterGroupNameKey, defaultGroupName), CounterName: value(CounterNameKey, defaultCounterName),
	}
}

// Names returns the names as a counter has them: valid UTF-8, and shortened to one
// character less than the limit where they are longer than it (Hadoop's
// Limits.filterName).
func (l CounterLimits) Names(group, name string) (string, string) {
	return shortened(group, l.GroupName), shortened(name, l.CounterName)
}

func shortened(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1])
}
