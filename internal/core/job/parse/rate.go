package parse

import (
	"fmt"
	"path"
	"strings"

	"berth/internal/core/job"
)

// NodeRates parses rates of nodes: "500M" for all, or "gpu*=2G,500M" by a pattern of their names or of a feature. A rate is in bytes
// per second.
func NodeRates(where, value string) ([]job.NodeRate, error) {
	var rates []job.NodeRate
	err := ofNodes(where, value, func(pattern, rate string) error {
		n, err := Size(where, strings.TrimSuffix(rate, "/s"))
		rates = append(rates, job.NodeRate{Nodes: pattern, Bytes: n})
		return err
	})
	if err != nil {
		return nil, err
	}
	return rates, nil
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
func NodePower(where, value string) ([]job.NodePower, error) {
	var told []job.NodePower
	err := ofNodes(where, value, func(pattern, text string) error {
		low, high, both := strings.Cut(text, ":")
		idle, err1 := number(0, job.MaxPower)(where, low)
		most, err2 := number(idle, job.MaxPower)(where, high)
		if !both || err1 != nil || err2 != nil || most == 0 {
			return job.ConfigError(where, fmt.Sprintf("%q is not the power of a node", text), "write the watts of an idle node, a colon, and the watts with all cores in use, as in 80:250")
		}
		told = append(told, job.NodePower{Nodes: pattern, Power: job.Power{Idle: idle, Max: most}})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return told, nil
}

// setPower adds the power of nodes to the values of earlier options.
func setPower(a *Ask, where, value string) error {
	told, err := NodePower(where, value)
	a.power = append(a.power, told...)
	return err
}

// setRates returns a setter that adds rates of nodes to the values of earlier options.
func setRates(field func(*Ask) *[]job.NodeRate) func(*Ask, string, string) error {
	return func(a *Ask, where, value string) error {
		rates, err := NodeRates(where, value)
		*field(a) = append(*field(a), rates...)
		return err
	}
}

// applyRates replaces the rates in r by those of the options, if there are any.
func (a *Ask) applyRates(r *job.NodeRates) {
	if len(a.rates.Disk) > 0 {
		r.Disk = a.rates.Disk
	}
	if len(a.rates.Net) > 0 {
		r.Net = a.rates.Net
	}
}
