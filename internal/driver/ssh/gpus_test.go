package ssh

import (
	"testing"

	"berth/internal/core/job"
	"berth/internal/sys/gpus"
	"berth/internal/wire"
)

// A host tells of the GPUs that it has, as this machine counts its own, or of those that BERTH_GPUS gives it.
func TestExamineGPUs(t *testing.T) {
	here := &wire.Remote{Host: job.Host{Name: job.ThisHost}}
	t.Setenv(gpus.Override, "")
	own := gpus.OfMachine([]string{}, "/")
	if m, err := examine(t.Context(), here, "none", ""); err != nil || m.gpus.Count != own.Count || m.gpus.Type != own.Type {
		t.Errorf("it says %+v, %v; this machine has %+v", m.gpus, err, own)
	}
	t.Setenv(gpus.Override, "3:a100")
	m, err := examine(t.Context(), here, "none", "")
	if has := m.capacity(job.Host{CPUs: 2}); err != nil || has.GPUs != 3 || has.GPUType != "a100" || has.CPUs != 2 {
		t.Errorf("%+v, %v", has, err)
	}
}
