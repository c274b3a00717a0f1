//go:build !linux

package mapreduce

import "time"

func adviseHuge([]byte) {}

// threadCPU is not known apart from the process on this system.
func threadCPU() time.Duration { return 0 }
