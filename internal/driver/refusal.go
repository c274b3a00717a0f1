package driver

import (
	"berth/internal/core/pattern"
)

// What a batch system, or its site's filter, may say of a request that it refuses.
var (
	// OfTime says something of the wall time, as "Requested time limit is invalid" and "QOSMaxWallDurationPerJobLimit".
	OfTime = Says(`(?i)time|wall`)
	// OfExtent says something of the size, also beside the time: "user's size and/or time limits" are mostly those of size.
	OfExtent = Says(`size`)
	// OfAmount says something of which less may be accepted.
	OfAmount = Says(`(?i)time|wall|node|cpu|core|processor|mem|size|limit|large|resource|gpu|gres|tres|max|many|much`)
)

// Says returns a function that reports whether a text has what an expression matches.
func Says(expression string) func(text string) bool {
	of := pattern.Lazy(expression)
	return func(text string) bool { return of().MatchString(text) }
}
