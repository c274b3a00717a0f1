package parse

import (
	"fmt"
	"path"
	"strings"

	"berth/internal/core/job"
)

// NodeRates parses rates of nodes: "500M" for all, or "gpu*=2G,500M" by a pattern of their names or of a feature. A rate is in bytes
// per second.
func NodeRates(where, value string) (rates []job.NodeRate, err error) {
	err = ofNodes(where, value, func(pattern, rate string) error {
		n, err := Size(where, strings.TrimSuffix(rate, "/s"))
		rates = append(rates, job.NodeRate{Nodes: pattern, Bytes: n})
		return err
	})
	return rates, err
}

// ofNodes splits a list with commas and calls add for each value. A value applies to all nodes, or after "PATTERN=" to those whose name matches.
func ofNodes(where, value string, add func(pattern, text string) error) error {
	for one := range strings.SplitSeq(value, ",") {
		pattern, text, named := strings.Cut(strings.TrimSpace(one), "=")
		if !named {
			pattern, text = "", pattern
		}
		if _, err := path.Match(pattern, ""); err != nil || named && pattern == "" {
			return job.ConfigError(where, fmt.Sprintf("%q is not a pattern for names of nodes", pattern), "write a name, or a pattern such as gpu* or n[1-4]")
		}
		if err := add(pattern, strings.TrimSpace(text)); err != nil {
			return err
		}
	}
	return nil
}

// NodePower parses the power of nodes in watts, idle and with all cores in use: "80:250" for all, or "gpu*=150:700,80:250" by
// a pattern as for rates.
func NodePower(where, value string) (told []job.NodePower, err error) {
	err = ofNodes(where, value, func(pattern, text string) error {
		low, high, both := strings.Cut(text, ":")
		idle, err1 := number(where, low, 0, job.MaxPower)
		most, err2 := number(where, high, idle, job.MaxPower)
		if !both || err1 != nil || err2 != nil || most == 0 {
			return job.ConfigError(where, fmt.Sprintf("%q is not the power of a node", text), "write the watts of an idle node, a colon, and the watts with all cores in use, as in 80:250")
		}
		told = append(told, job.NodePower{Nodes: pattern, Power: job.Power{Idle: idle, Max: most}})
		return nil
	})
	return told, err
}
