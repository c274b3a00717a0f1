package parse

import (
	"fmt"
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// GPUs parses a number of GPUs of a task or a node, with their type if one is named: "2" or "2:a100".
func GPUs(where, value string) (n int, kind string, err error) {
	number, kind, typed := strings.Cut(strings.TrimSpace(value), ":")
	n, err = strconv.Atoi(number)
	if err != nil || n < 0 || n > job.MaxCPUs || typed && kind == "" {
		return 0, "", job.ConfigError(where, fmt.Sprintf("%q is not a number of GPUs", value),
			fmt.Sprintf("write N or N:TYPE, as in 1 or 2:a100, with N from 0 to %d", job.MaxCPUs))
	}
	return n, kind, nil
}

func setGPUs(a *Ask, where, value string) error {
	number, kind, err := GPUs(where, value)
	a.write(func(s *job.Spec) error {
		for _, n := range needs(s) {
			n.GPUs, n.GPUType = number, kind
		}
		return nil
	})
	return err
}
