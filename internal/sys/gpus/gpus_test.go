package gpus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// machine makes a folder with files of a system, each with its content.
func machine(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func a100s(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("proc/driver/nvidia/gpus/0000:%02d:00.0/information", i)] = "Model: \t\t NVIDIA A100-SXM4-40GB\nDevice Minor: \t 0\n"
	}
	return files
}

// A machine's GPUs are found in the files of each vendor's driver. Processors that are in the same lists, and GPUs that only draw the
// screen, do not count.
func TestDetect(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"none":       {nil, "{0   }"},
		"nvidia":     {a100s(2), "{2 a100 CUDA_VISIBLE_DEVICES}"},
		"containers": {map[string]string{"dev/nvidia0": "", "dev/nvidia1": "", "dev/nvidiactl": "", "dev/nvidia-uvm": "", "dev/nvidia0x": ""}, "{2  CUDA_VISIBLE_DEVICES}"},
		"amd": {map[string]string{"sys/class/kfd/kfd/topology/nodes/0/gpu_id": "0\n", "sys/class/kfd/kfd/topology/nodes/1/gpu_id": "51878\n",
			"sys/class/kfd/kfd/topology/nodes/2/gpu_id": "7\n"}, "{2  ROCR_VISIBLE_DEVICES}"},
		"intel": {map[string]string{"sys/class/drm/renderD128/device/vendor": "0x8086\n", "sys/class/drm/renderD129/device/vendor": "0x1002\n"}, "{1  ZE_AFFINITY_MASK}"},
	} {
		got := detect(machine(t, c.files))
		if text := fmt.Sprintf("{%d %s %s}", got.count, got.kind, got.variable); strings.ReplaceAll(text, " ", "") != strings.ReplaceAll(c.want, " ", "") {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
	root := machine(t, map[string]string{"sys/devices/pci0000:00/" + Integrated + "/vendor": "0x8086\n", "sys/class/drm/renderD128/dev": ""})
	if err := os.Symlink("../../../devices/pci0000:00/"+Integrated, filepath.Join(root, "sys/class/drm/renderD128/device")); err != nil {
		t.Fatal(err)
	}
	if got := detect(root); got.count != 0 {
		t.Errorf("a GPU inside a processor counts: %+v", got)
	}
}

// Types are the short names that sites give to models.
func TestTypes(t *testing.T) {
	for model, want := range map[string]string{
		"NVIDIA A100-SXM4-40GB": "a100", "Tesla V100-PCIE-16GB": "v100", "NVIDIA H100 PCIe": "h100", "NVIDIA GeForce RTX 3090": "rtx3090",
		"Quadro RTX 6000": "rtx6000", "Tesla T4": "t4", "NVIDIA L40S": "l40s", "": "", "Unknown": "",
	} {
		if got := TypeOf(model); got != want {
			t.Errorf("%q: %q, want %q", model, got, want)
		}
	}
}

// A process has those GPUs of its machine that its environment leaves it, by the names that the environment has for them.
func TestOfMachine(t *testing.T) {
	root := machine(t, a100s(4))
	for env, want := range map[string]string{
		"":                         "{4 a100 [{CUDA_VISIBLE_DEVICES [0 1 2 3]}]}",
		"CUDA_VISIBLE_DEVICES=2,5": "{2 a100 [{CUDA_VISIBLE_DEVICES [2 5]}]}",
		"CUDA_VISIBLE_DEVICES=GPU-8932f937-d72c, MIG-9":      "{2 a100 [{CUDA_VISIBLE_DEVICES [GPU-8932f937-d72c MIG-9]}]}",
		"CUDA_VISIBLE_DEVICES=":                              "{0  []}",
		"CUDA_VISIBLE_DEVICES=NoDevFiles":                    "{0  []}",
		"CUDA_VISIBLE_DEVICES=1,-1,2":                        "{1 a100 [{CUDA_VISIBLE_DEVICES [1]}]}",
		"ROCR_VISIBLE_DEVICES=1":                             "{4 a100 [{CUDA_VISIBLE_DEVICES [0 1 2 3]}]}",
		"BERTH_GPUS=2:big":                                   "{2 big [{CUDA_VISIBLE_DEVICES [0 1]}]}",
		"BERTH_GPUS=0":                                       "{0  []}",
		"BERTH_GPUS=many":                                    "{0  []}",
		"BERTH_GPUS=2 CUDA_VISIBLE_DEVICES=7,8,9":            "{2  [{CUDA_VISIBLE_DEVICES [7 8]}]}",
		"BERTH_GPUS=2 CUDA_VISIBLE_DEVICES=7 HIP_UNKNOWN=yy": "{2  [{CUDA_VISIBLE_DEVICES [0 1]}]}",
	} {
		if got := fmt.Sprint(OfMachine(strings.Fields(strings.ReplaceAll(env, ", ", ",")), root)); got != want {
			t.Errorf("%q: %s, want %s", env, got, want)
		}
	}
	bare := t.TempDir()
	want := "{1  [{CUDA_VISIBLE_DEVICES [0]} {ROCR_VISIBLE_DEVICES [0]} {ZE_AFFINITY_MASK [0]}]}"
	if got := fmt.Sprint(OfMachine([]string{"BERTH_GPUS=1"}, bare)); got != want {
		t.Errorf("without any driver: %s", got)
	}
	if got := fmt.Sprint(OfMachine([]string{"CUDA_VISIBLE_DEVICES=0,1"}, bare)); got != "{0  []}" {
		t.Errorf("a variable alone makes %s", got)
	}
}

// On a node of a batch system tasks get entries of the lists that the batch system set, each variable's own, and of no other.
func TestOfAllocation(t *testing.T) {
	for env, want := range map[string]string{
		"CUDA_VISIBLE_DEVICES=4,6 GPU_DEVICE_ORDINAL=0,1": "{2  [{CUDA_VISIBLE_DEVICES [4 6]} {GPU_DEVICE_ORDINAL [0 1]}]}",
		"ROCR_VISIBLE_DEVICES=2,3":                        "{2  [{ROCR_VISIBLE_DEVICES [2 3]}]}",
		"":                                                "{2  [{CUDA_VISIBLE_DEVICES [0 1]}]}",
	} {
		if got := fmt.Sprint(OfAllocation(strings.Fields(env), 2, machine(t, a100s(8)))); got != want {
			t.Errorf("%q: %s, want %s", env, got, want)
		}
	}
	if got := OfAllocation(nil, 0, "/nowhere"); got.Count != 0 || got.Lists != nil {
		t.Errorf("an allocation without GPUs has %+v", got)
	}
}

// Workers of one machine get parts that have nothing in common.
func TestPart(t *testing.T) {
	d := OfMachine([]string{"CUDA_VISIBLE_DEVICES=1,3,5"}, machine(t, a100s(8)))
	if a, b, c := d.Part(0, 1), d.Part(2, 1), d.Part(1, 2); fmt.Sprint(a, b, c) != "{1 a100 [{CUDA_VISIBLE_DEVICES [1]}]} {1 a100 [{CUDA_VISIBLE_DEVICES [5]}]} {0  []}" {
		t.Errorf("%v %v %v", a, b, c)
	}
}

// No GPU is held by two tasks that need a whole one, or by more shares than make one; tasks with the same number have the same GPU; none is lost.
func TestPool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(0, 6).Draw(t, "gpus")
		p := NewPool(OfAllocation(nil, total, "/nowhere"))
		done, cancel := context.WithCancel(context.Background())
		cancel()
		type task struct {
			held   Held
			shared []uint16
		}
		var tasks []task
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			if len(tasks) > 0 && rapid.Bool().Draw(t, "give") {
				i := rapid.IntRange(0, len(tasks)-1).Draw(t, "which")
				p.Release(tasks[i].held)
				tasks = slices.Delete(tasks, i, i+1)
				continue
			}
			used, at := make([]int, total), map[uint16]int{}
			for _, k := range tasks {
				for i, g := range k.held.of {
					used[g] += k.held.each
					if k.shared != nil {
						at[k.shared[i]] = g
					}
				}
			}
			idle := 0
			for _, u := range used {
				if u == 0 {
					idle++
				}
			}
			if rapid.Bool().Draw(t, "whole") {
				n := rapid.IntRange(0, total+1).Draw(t, "n")
				held, err := p.Acquire(done, job.Resources{GPUs: n}, 1, nil)
				if (err == nil) != (n <= idle) || err == nil && len(held.of) != n || slices.ContainsFunc(held.of, func(i int) bool { return used[i] > 0 }) {
					t.Fatalf("%d with %v in use: %v, %v", n, used, held, err)
				}
				if err == nil {
					tasks = append(tasks, task{held, nil})
				}
				continue
			}
			need, k := job.Resources{GPUs: 1, GPUShare: rapid.SampledFrom([]int{100, 250, 333, 500, 999}).Draw(t, "share")}, uint16(rapid.IntRange(0, 3).Draw(t, "number"))
			held, err := p.Acquire(done, need, 1, []uint16{k})
			g, there := at[k]
			room := idle > 0
			if there {
				room = used[g]+need.GPUShare <= job.Milli
			}
			if (err == nil) != room || err == nil && (there && held.of[0] != g || !there && used[held.of[0]] > 0) {
				t.Fatalf("%d for the number %d with %v in use, numbers %v: %v, %v", need.GPUShare, k, used, at, held, err)
			}
			if err == nil {
				tasks = append(tasks, task{held, []uint16{k}})
			}
		}
	})
}

// Who waits for a GPU gets it when it comes back.
func TestPoolWaits(t *testing.T) {
	p := NewPool(OfAllocation(nil, 1, "/nowhere"))
	first, _ := p.Acquire(t.Context(), job.Resources{GPUs: 1}, 1, nil)
	got := make(chan []int)
	go func() {
		held, _ := p.Acquire(t.Context(), job.Resources{GPUs: 1}, 1, nil)
		got <- held.of
	}()
	p.Release(first)
	if held := <-got; !slices.Equal(held, []int{0}) {
		t.Errorf("got %v", held)
	}
}

// A task sees its own GPUs only, and one without GPUs has the environment of its user.
func TestEnv(t *testing.T) {
	p := NewPool(OfAllocation([]string{"CUDA_VISIBLE_DEVICES=4,6", "GPU_DEVICE_ORDINAL=0,1"}, 2, "/nowhere"))
	user := []string{"A=1", "CUDA_VISIBLE_DEVICES=9", "HIP_VISIBLE_DEVICES=3", "ROCR_VISIBLE_DEVICES=2"}
	if got := p.Env(user, Held{of: []int{1, 1}}); !slices.Equal(got, []string{"A=1", "CUDA_VISIBLE_DEVICES=6", "GPU_DEVICE_ORDINAL=1"}) {
		t.Errorf("got %q", got)
	}
	if got := p.Env(user, Held{}); !slices.Equal(got, user) {
		t.Errorf("without GPUs: %q", got)
	}
}

// What another machine prints is understood, whatever is missing in it.
func TestReported(t *testing.T) {
	for _, c := range []struct{ override, counts, model, want string }{
		{"", "2 0 0", "Model: \t NVIDIA A100-SXM4-40GB", "{2 a100 []}"}, {"", "0 4 1", "", "{4  []}"}, {"", "0 0 1", "", "{1  []}"},
		{"", "0 0 0", "", "{0  []}"}, {"3:big", "2 0 0", "", "{3 big []}"}, {"0", "2 0 0", "", "{0  []}"}, {"x", "junk", "", "{0  []}"}, {"", "-1 -2 -3", "", "{0  []}"},
	} {
		if got := fmt.Sprint(Reported(c.override, c.counts, c.model)); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
