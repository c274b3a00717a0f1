package predict

import (
	"fmt"
	"strings"

	"berth/internal/core/pattern"
)

var (
	cpuNoise = pattern.Lazy(`(?i)\((r|tm|c)\)|\bcpu\b|\bprocessor\b|\b\d+-core\b|@`)
	cpuBreak = pattern.Lazy(`[^a-z0-9.]+`)
)

// NodeType returns a name for a type of node, "intel-xeon-gold-6230-2.10ghz/40", from the CPU model as the system
// describes it ("Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz") and the number of cores of the whole machine. Each type
// has its own profiles.
func NodeType(model string, cores int) string {
	s := strings.ToLower(cpuNoise().ReplaceAllString(model, " "))
	s = strings.Trim(cpuBreak().ReplaceAllString(s, "-"), "-")
	if s == "" {
		s = "unknown"
	}
	return fmt.Sprintf("%s/%d", s, cores)
}
