package shuffle

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/mapreduce/extsort"
	"berth/internal/mapreduce/hadoop"
)

// silent is told of progress.
type silent struct{}

func (silent) In(int64, int64)  {}
func (silent) Out(int64, int64) {}
func (silent) Memory(int64)     {}
func (silent) Total(int64)      {}

// least is a supply of the least means.
type least struct{}

func (least) Take() extsort.Means { return extsort.Means{} }
func (least) Give(extsort.Means)  {}

// adopted puts a map output into the store.
func adopted(t *testing.T, o *Store, a job.Attempt) string {
	t.Helper()
	space, err := extsort.NewSpace(t.Context(), extsort.Config{Dir: t.TempDir(), Partitions: 2, Order: hadoop.ByteOrder, Supply: least{}, MaxRecord: extsort.RecordLimit(0), Progress: silent{}})
	if err != nil {
		t.Fatal(err)
	}
	defer space.Release()
	sorter := space.NewSorter(extsort.Records{Format: hadoop.NewLineFormat("", 1), Partition: func([]byte) int { return 1 }})
	defer sorter.Close()
	_, werr := sorter.Write([]byte("key\tvalue\n"))
	if err := errors.Join(werr, sorter.Finish()); err != nil {
		t.Fatal(err)
	}
	if err := o.Adopt(a, sorter.Files()[0].Path()); err != nil {
		t.Fatal(err)
	}
	path, err := o.path(a)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOutputsHeld(t *testing.T) {
	dir := t.TempDir()
	o, err := OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	kept := []job.Attempt{{Job: "mapreduce-1", Task: 0, N: 1}, {Job: "mapreduce-1", Task: 12, N: 3}, {Job: "mapreduce-2", Task: 0, N: 2}}
	for _, a := range kept {
		adopted(t, o, a)
	}
	cut := adopted(t, o, job.Attempt{Job: "mapreduce-1", Task: 5, N: 1})
	if err := os.Truncate(cut, 30); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mapreduce-1", "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := OpenStore(dir) // by the worker that replaces it
	if err != nil {
		t.Fatal(err)
	}
	if held := again.Held(); !slices.Equal(held, kept) {
		t.Errorf("held %v, want %v", held, kept)
	}
	if _, err := os.Stat(cut); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the damaged one stays: %v", err)
	}
	if err := errors.Join(again.Drop("mapreduce-2"), again.Remove(kept[0]), again.Remove(kept[0])); err != nil {
		t.Fatal(err)
	}
	if held := again.Held(); !slices.Equal(held, kept[1:2]) {
		t.Errorf("after dropping, held %v", held)
	}
}

func TestOutputsNames(t *testing.T) {
	o, err := OpenStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []job.Attempt{
		{Job: ""}, {Job: ".."}, {Job: "../x"}, {Job: "a/b"}, {Job: ".hidden"}, {Job: "a\x00"}, {Job: job.ID(strings.Repeat("a", 200))},
		{Job: "a", Task: -1}, {Job: "a", N: -1},
	} {
		if _, err := o.Open(a, 0); err == nil || errors.Is(err, ErrNotHeld) {
			t.Errorf("%q: %v", a, err)
		}
		if err := o.Adopt(a, "x"); err == nil {
			t.Errorf("%q adopted", a)
		}
	}
	if err := o.Drop("../.."); err == nil {
		t.Error("dropped a folder elsewhere")
	}
}

func TestServe(t *testing.T) {
	o, err := OpenStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := job.Attempt{Job: "mapreduce-1", Task: 3, N: 2}
	path := adopted(t, o, a)
	server := httptest.NewTLSServer(o.Handler())
	defer server.Close()
	fetch := func(a job.Attempt, partition int) (Segment, error) {
		return fetch(context.Background(), server.Client(), Location{Attempt: a, Addr: server.Listener.Addr().String()}, partition)
	}
	local, err := o.Open(a, 1)
	if err != nil {
		t.Fatal(err)
	}
	seg, err := fetch(a, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(seg.Body)
	if err := errors.Join(err, seg.Body.Close()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := data[local.Offset : local.Offset+local.Length]; string(got) != string(want) || seg.Length != local.Length {
		t.Errorf("got %q, want %q", got, want)
	}
	if seg, err := fetch(a, 0); err != nil || seg.Length != 0 {
		t.Errorf("empty segment: %+v, %v", seg, err)
	}
	if _, err := fetch(job.Attempt{Job: "mapreduce-1", Task: 3, N: 1}, 1); !errors.Is(err, ErrNotHeld) {
		t.Errorf("not held: %v", err)
	}
	if _, err := fetch(job.Attempt{Job: "../x", Task: 3, N: 1}, 1); err == nil {
		t.Error("fetched from elsewhere")
	}
	if _, err := fetch(a, 2); err == nil {
		t.Error("fetched a partition that is not there")
	}
	data[len(data)-1] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := fetch(a, 1); !errors.Is(err, extsort.ErrDamaged) {
		t.Errorf("damaged index: %v", err)
	}
	for _, path := range []string{"/v1/segment/a/b/1/1", "/v1/segment/a/1/1"} {
		resp, err := server.Client().Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode < 400 || resp.StatusCode >= 500 {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
}
