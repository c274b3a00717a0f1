package wire

import (
	"fmt"
	"math"
)

// The Check methods refuse values that berth never sends and that would break an index or a comparison. What messages contain has such methods of
// its own (package mpack).

func (m *Hello) Check() error {
	if c := m.Capacity; c.CPUs < 0 || c.Mem < 0 || c.Disk < 0 || c.Net < 0 || c.GPUs < 0 {
		return fmt.Errorf("impossible capacity %+v", m.Capacity)
	}
	return nil
}

func (m *Heartbeat) Check() error {
	for _, p := range m.Progress {
		if math.IsNaN(p.Part) || math.IsInf(p.Part, 0) {
			return fmt.Errorf("progress of %v is not a number", p.Attempt)
		}
	}
	return nil
}

func (m *Start) Check() error {
	if m.Task != nil && m.Task.Command != nil && (len(m.Task.Command) == 0 || m.Task.Command[0] == "") {
		return fmt.Errorf("%v has an empty command", m.Attempt)
	}
	return nil
}

func (m *ReadOutput) Check() error {
	if m.Offset < 0 {
		return fmt.Errorf("output from the offset %d", m.Offset)
	}
	return m.Attempt.Check()
}

func (m *Printed) Check() error {
	if len(m.Data) > MaxPrinted {
		return fmt.Errorf("%d bytes of output are more than %d", len(m.Data), MaxPrinted)
	}
	return nil
}
