package job

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// TaskCounterGroup is the group of Hadoop's own counters for tasks. CounterLimits do not apply
// to it.
const TaskCounterGroup = "org.apache.hadoop.mapreduce.TaskCounter"

// Job keys that bound the counters of a job's tasks (reporter:counter lines).
const (
	CountersKey         = "mapreduce.job.counters.max"
	CounterGroupsKey    = "mapreduce.job.counters.groups.max"
	counterGroupNameKey = "mapreduce.job.counters.group.name.max"
	counterNameKey      = "mapreduce.job.counters.counter.name.max"
)

// CounterLimits bounds the counters that the tasks of a job report, because counters are kept in
// memory and written to the job's journal with each attempt. The keys, the lengths of names and
// the way in which longer names are shortened are Hadoop's. The default numbers of counters and
// groups are higher than Hadoop's 120 and 50, because most clusters raise those.
type CounterLimits struct {
	Counters, Groups       int // largest number of different counters and groups, for an attempt and for the job
	GroupName, CounterName int // longest name, in characters
}

// CounterLimits returns the limits that the job's keys set.
func (m *MapReduceSpec) CounterLimits() CounterLimits {
	value := func(key string, missing int) int {
		if n, err := strconv.Atoi(strings.TrimSpace(m.Conf[key])); err == nil && n > 0 {
			return n
		}
		return missing
	}
	return CounterLimits{
		Counters: value(CountersKey, 1000), Groups: value(CounterGroupsKey, 200),
		GroupName: value(counterGroupNameKey, 128), CounterName: value(counterNameKey, 64),
	}
}

// Names returns the names of a group and a counter as valid UTF-8. A name above the limit is cut
// to one character less than the limit, as Hadoop's Limits.filterName does.
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
