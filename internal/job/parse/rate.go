package parse

import (
	"fmt"
	"path"
	"strings"

	"berth/internal/job"
)

// NodeRates parses rates of nodes: "500M" for all, or "gpu*=2G,500M" by a pattern of their names or of a feature. A rate is a size
// a second.
func NodeRates(where, value string) ([]job.NodeRate, error) {
	var rates []job.NodeRate
	for one := range strings.SplitSeq(value, ",") {
		pattern, rate, named := strings.Cut(strings.TrimSpace(one), "=")
		if !named {
			pattern, rate = "", pattern
		}
		if _, err := path.Match(pattern, ""); err != nil || named && pattern == "" {
			return nil, job.ConfigError(where, fmt.Sprintf("%q is no pattern of names of nodes", pattern), "write a name, or a pattern such as gpu* or n[1-4]")
		}
		n, err := Size(where, strings.TrimSuffix(strings.TrimSpace(rate), "/s"))
		if err != nil {
			return nil, err
		}
		rates = append(rates, job.NodeRate{Nodes: pattern, Bytes: n})
	}
	return rates, nil
}

// setRates adds rates of nodes to those that were met before.
func setRates(field func(*Ask) *[]job.NodeRate) func(*Ask, string, string) error {
	return func(a *Ask, where, value string) error {
		rates, err := NodeRates(where, value)
		*field(a) = append(*field(a), rates...)
		return err
	}
}

// applyRates puts the rates that were met in the place of those that stand.
func (a *Ask) applyRates(r *job.NodeRates) {
	if len(a.rates.Disk) > 0 {
		r.Disk = a.rates.Disk
	}
	if len(a.rates.Net) > 0 {
		r.Net = a.rates.Net
	}
}
