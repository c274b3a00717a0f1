package parse

import (
	"cmp"
	"fmt"
	"strings"

	"berth/internal/core/job"
)

// Nodes parses a number of nodes as sbatch's --nodes does, "4" or "2-8", or
// "auto" (0, 0: berth decides). A single number is both bounds. where is the flag
// or file:line that an error names.
func Nodes(where, s string) (minNodes, maxOfNodes int, err error) {
	text := strings.TrimSpace(s)
	if strings.EqualFold(text, "auto") {
		return 0, 0, nil
	}
	low, high, ranged := strings.Cut(text, "-")
	if !ranged {
		high = low
	}
	minNodes, err1 := Count(where, low, 1, job.MaxNodes)
	maxOfNodes, err2 := Count(where, high, 1, job.MaxNodes)
	if cmp.Or(err1, err2) != nil {
		return 0, 0, job.ConfigError(where, fmt.Sprintf("%q is not a number of nodes", s), "write a number, a range as in 2-8, or auto")
	}
	if minNodes > maxOfNodes {
		return 0, 0, job.ConfigError(where, fmt.Sprintf("%q asks for at least %d and at most %d nodes", s, minNodes, maxOfNodes),
			"write the smaller number first")
	}
	return minNodes, maxOfNodes, nil
}
