package gpus

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/sys/probe"
)

// hardware is the GPUs of a machine.
type hardware struct {
	count    int
	kind     string
	variable string // of their vendor; empty: unknown
}

// detect returns the GPUs of the machine. Of several vendors the first one counts that is found.
func detect(root string) hardware {
	for _, of := range []func(string) hardware{ofNVIDIA, ofAMD, ofIntel} {
		if h := of(root); h.count > 0 {
			return h
		}
	}
	return hardware{}
}

// ofNVIDIA counts what the driver lists, or else the device files, as containers have only these.
func ofNVIDIA(root string) hardware {
	h := hardware{variable: nvidia}
	infos := files(root, "proc/driver/nvidia/gpus/*/information")
	kinds := map[string]bool{}
	for _, info := range infos {
		h.kind = TypeOf(line(info, "Model:"))
		kinds[h.kind] = true
	}
	if h.count = len(infos); h.count == 0 {
		h.count = len(slices.DeleteFunc(files(root, "dev/nvidia[0-9]*"), func(path string) bool {
			return strings.Trim(strings.TrimPrefix(filepath.Base(path), "nvidia"), "0123456789") != ""
		}))
	}
	if len(kinds) > 1 {
		h.kind = ""
	}
	return h
}

// ofAMD counts the nodes of the topology of the kernel's driver (amdkfd) that are no processors.
func ofAMD(root string) hardware {
	h := hardware{variable: amd}
	for _, path := range files(root, "sys/class/kfd/kfd/topology/nodes/*/gpu_id") {
		if b, err := os.ReadFile(path); err == nil && strings.Trim(string(b), "0 \n") != "" {
			h.count++
		}
	}
	return h
}

// Integrated is the PCI address of the GPU inside Intel's processors, which draws the screen and computes for nobody.
const Integrated = "0000:00:02.0"

// ofIntel counts the devices that render and are Intel's.
func ofIntel(root string) hardware {
	h := hardware{variable: intel}
	for _, path := range files(root, "sys/class/drm/renderD*/device") {
		vendor, err := os.ReadFile(filepath.Join(path, "vendor"))
		if err != nil || strings.TrimSpace(string(vendor)) != "0x8086" {
			continue
		}
		if to, err := filepath.EvalSymlinks(path); err != nil || filepath.Base(to) != Integrated {
			h.count++
		}
	}
	return h
}

func files(root, pattern string) []string {
	paths, _ := filepath.Glob(filepath.Join(root, pattern)) // the patterns are well formed
	return paths
}

// line returns what follows a key at the beginning of a line of a file.
func line(path, key string) string {
	b, _ := os.ReadFile(path) // it may have gone
	return probe.Line(b, key)
}

// TypeOf returns the short name of a model, as sites call it: "a100" for "NVIDIA A100-SXM4-40GB", "rtx3090" for "NVIDIA GeForce RTX
// 3090". It is the first word that has a digit, with the word before it if it is a number.
func TypeOf(model string) string {
	before := ""
	for _, word := range strings.FieldsFunc(strings.ToLower(model), func(r rune) bool { return r == ' ' || r == '-' }) {
		switch number := strings.Trim(word, "0123456789") == ""; {
		case number:
			return before + word
		case strings.ContainsAny(word, "0123456789"):
			return word
		}
		before = word
	}
	return ""
}

// Reported returns the GPUs of another machine from what it printed: what Override says there, the numbers of those of NVIDIA, AMD and
// Intel, and a line with the model of one of the first. They have no lists: the machine itself finds out about these.
func Reported(override, counts, model string) Devices {
	if n, kind, err := parse.GPUs(Override, override); err == nil {
		return Devices{Count: n, Type: kind}
	}
	var n [3]int
	if _, err := fmt.Sscan(counts, &n[0], &n[1], &n[2]); err != nil {
		return Devices{}
	}
	if n[0] > 0 {
		_, name, _ := strings.Cut(model, ":")
		return Devices{Count: min(n[0], job.MaxCPUs), Type: TypeOf(name)}
	}
	return Devices{Count: max(0, min(cmp.Or(n[1], n[2]), job.MaxCPUs))}
}
