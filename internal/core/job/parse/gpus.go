package parse

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// GPUs parses a number of GPUs of a node, with their type if one is named: "2" or "2:a100".
func GPUs(where, value string) (n int, kind string, err error) {
	number, kind, typed := strings.Cut(strings.TrimSpace(value), ":")
	n, err = strconv.Atoi(number)
	if err != nil || n < 0 || n > job.MaxCPUs || typed && kind == "" {
		return 0, "", job.ConfigError(where, fmt.Sprintf("%q is not a number of GPUs", value),
			fmt.Sprintf("write N or N:TYPE, as in 1 or 2:a100, with N from 0 to %d", job.MaxCPUs))
	}
	return n, kind, nil
}

// taskGPUs parses the GPUs of a task: as those of a node, or a share of one as in "0.5" or "0.25:a100". Digits after the third are cut off, so that
// three times 1/3 is a GPU.
func taskGPUs(where, value string) (n, share int, kind string, err error) {
	number, kind, typed := strings.Cut(strings.TrimSpace(value), ":")
	f, err := strconv.ParseFloat(number, 64)
	part := f - math.Trunc(f)
	switch share = min(int(part*job.Milli+1e-9), job.Milli-1); {
	case err != nil || !(f >= 0 && f <= job.MaxCPUs) || typed && kind == "":
		return 0, 0, "", job.ConfigError(where, fmt.Sprintf("%q is not a number of GPUs", value),
			fmt.Sprintf("write N or N:TYPE, as in 1 or 2:a100, with N from 0 to %d, or a share of one, as in 0.5", job.MaxCPUs))
	case part == 0:
		return int(f), 0, kind, nil
	case f > 1:
		return 0, 0, "", job.ConfigError(where, fmt.Sprintf("%s GPUs are neither whole ones nor a share of one", number), "write a whole number above 1")
	case share == 0:
		return 0, 0, "", job.ConfigError(where, fmt.Sprintf("%s of a GPU is too small a share", number), "write at least 0.001")
	}
	return 1, share, kind, nil
}

func setGPUs(a *Ask, where, value string) error {
	number, share, kind, err := taskGPUs(where, value)
	a.write(func(s *job.Spec) error {
		for _, n := range needs(s) {
			n.GPUs, n.GPUShare, n.GPUType = number, share, kind
		}
		return nil
	})
	return err
}
