package main

import (
	"os"
	"path/filepath"
	"testing"
)

// folder creates a folder of files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestGauge reads control groups of both versions. No device has the number 999:9, so the node's own
// disk counts as 0.
func TestGauge(t *testing.T) {
	first := folder(t, map[string]string{
		"cpuacct.usage": "1500000000\n", "memory.stat": "rss 1\ntotal_rss 4096\n",
		"blkio.throttle.io_service_bytes": "999:9 Total 100\n8:0 Read 1\n8:0 Total 700\nTotal 800\n",
	})
	second := folder(t, map[string]string{
		"cpu.stat": "usage_usec 1500000\nuser_usec 1\n", "memory.stat": "anon 4096\nfile 9\n",
		"io.stat": "999:9 rbytes=60 wbytes=40 rios=1\n8:0 rbytes=300 wbytes=400 rios=9\n",
	})
	net := folder(t, map[string]string{"tx_bytes": "10\n", "rx_bytes": "20\n"})
	want := counts{cpu: 1.5, mem: 4096, disk: 600, in: 10, out: 20}
	for version, dir := range []string{first, second} {
		g := gauge{cpu: dir, mem: dir, io: dir, device: "999:9", shared: "8:0", interfaceDir: net}
		if got := g.read(); got != want {
			t.Errorf("version %d: %+v, want %+v", version+1, got, want)
		}
	}
}

func TestSampleOf(t *testing.T) {
	got := sampleOf([]counts{{cpu: 1, disk: 10, in: 5, out: 5}}, []counts{{cpu: 2, mem: 7, disk: 30, in: 6, out: 9}}, 2, 4)
	if got.At != 4 || got.Node[0] != (use{CPU: 0.5, Mem: 7, Disk: 10, In: 0.5, Out: 2}) {
		t.Errorf("%+v", got)
	}
}
