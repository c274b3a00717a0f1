package driver

import (
	"regexp"

	"berth/internal/core/pattern"
)

// A Refusal is something that a batch system, or its site's filter, may say of a request that it refuses.
type Refusal int

// What refusals say.
const (
	OfTime      Refusal = iota // the wall time, as in "Requested time limit is invalid" and "QOSMaxWallDurationPerJobLimit"
	OfExtent                   // the size, also beside the time: "user's size and/or time limits" are mostly those of size
	OfAmount                   // something of which less may be accepted
	OfMemory                   // Slurm's options for memory
	UseMemory                  // to use --mem, or not to ask for more by it than the cores have
	NoMemory                   // what is asked for is never accepted, so with OfMemory: jobs have all memory that is there
	NoPartition                // the site chooses partitions itself; one that refuses a certain partition does not count
	WantsTasks                 // --ntasks must be said
)

var refusals = [...]func() *regexp.Regexp{
	OfTime:      pattern.Lazy(`(?i)time|wall`),
	OfExtent:    pattern.Lazy(`size`),
	OfAmount:    pattern.Lazy(`(?i)time|wall|node|cpu|core|processor|mem|size|limit|large|resource|gpu|gres|tres|max|many|much`),
	OfMemory:    pattern.Lazy(`--mem|mem-per-cpu`),
	UseMemory:   pattern.Lazy(`(?i)use --mem`),
	NoMemory:    pattern.Lazy(`(?i)not (allowed|permitted|necessary|supported|possible)|forbidden|disabled`),
	NoPartition: pattern.Lazy(`(?i)(not|n't|never) (specify|set|give|request|choose|use) ((a|any) partition\b|partitions\b|--partition\b[^=])|--partition (is )?not allowed`),
	WantsTasks:  pattern.Lazy(`(?i)specify (the |a )?number of tasks|specify --ntasks|--ntasks (is )?(required|missing|must)`),
}

// In reports whether the text of a refusal says it.
func (r Refusal) In(text string) bool { return refusals[r]().MatchString(text) }
