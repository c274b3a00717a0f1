package rundir

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/core/predict/memory"
	"berth/internal/sys/statedir"
)

const (
	// sizeGrains is the number of steps in which the sizes of inputs double by which memory is chosen.
	sizeGrains = 4
	// measureSizes bounds the time for measuring the inputs of a bag's tasks. The size of the others is unknown.
	measureSizes = 5 * time.Second
)

// chooseMemory notes the memory of the largest node that tasks of a bag could have and, with --mem auto, chooses the memory of the tasks: by what
// earlier tasks of the application used with inputs of their size, else as much as a node has for each core. It returns the needs of tasks that are
// not those of the bag, whose memory is that of the task with the most, and adds a note for the user.
func (at *backend) chooseMemory(ctx context.Context, h statedir.Home, spec *job.Spec, entries []job.Entry) (l job.NeedsList) {
	b := spec.Bag
	if b == nil {
		return l
	}
	var perCore int64
	partition := spec.Request.Partition
	if q := at.Snapshot.Queue; q != nil && partition == "" {
		partition = q.DefaultPartition()
	}
	b.NodeMem, perCore = nodeMemory(&at.Snapshot, partition)
	if !b.AutoMem {
		return l
	}
	var past memory.History
	if prof, _, _ := profile(ctx, h, spec, nil, at.NodeType); prof != nil { // the plan warns of a store that cannot be read
		for _, s := range prof.Measures.Get(predict.BagTask).LastMemory() {
			past.Learn(s)
		}
	}
	_, known := past.Limit(0)
	limit := func(size int64) int64 {
		bytes, _ := past.Limit(size)
		if !known {
			bytes = perCore * int64(max(1, b.Need.CPUs))
		}
		for _, most := range []int64{b.MaxMem, b.NodeMem} {
			if most > 0 {
				bytes = min(bytes, most)
			}
		}
		return bytes
	}
	sizes := inputSizes(spec.Dir, entries)
	least := limit(0)
	if len(sizes) > 0 {
		least = limit(sizes[0])
	}
	b.Need.Mem = least
	for _, size := range sizes {
		least, b.Need.Mem = min(least, limit(size)), max(b.Need.Mem, limit(size))
	}
	for _, size := range sizes {
		own := job.Needs{Mem: limit(size), MaxMem: b.MaxMem, AutoMem: true, Size: size}
		if size == 0 && own.Mem == b.Need.Mem {
			own = job.Needs{}
		}
		l.Add(own)
	}
	text := job.FormatRange(job.FormatSize(least), job.FormatSize(b.Need.Mem), func(s string) string { return s })
	why := ", until some are done and show how much they use"
	if known {
		why = ", by what earlier ones used"
	}
	at.Notes = append(at.Notes, "memory of a task: "+text+why)
	return l
}

// nodeMemory returns the memory of the largest node of the partition, and the least that a node has for each core; 0: not known. Nodes that are down
// count only if all are.
func nodeMemory(snap *cluster.Snapshot, partition string) (most, perCore int64) {
	for _, withDown := range []bool{false, true} {
		for i := range snap.Nodes {
			n := &snap.Nodes[i]
			if n.Down != "" && !withDown || !inPartition(snap.Queue, partition, i) || n.Capacity.CPUs == 0 || n.Capacity.Mem == 0 {
				continue
			}
			most = max(most, n.Capacity.Mem)
			if each := n.Capacity.Mem / int64(n.Capacity.CPUs); perCore == 0 || each < perCore {
				perCore = each
			}
		}
		if most > 0 {
			break
		}
	}
	return most, perCore
}

// inPartition reports whether the node with that index is in one of the partitions, which are separated by commas; empty: any.
func inPartition(q *cluster.Queue, partition string, node int) bool {
	if q == nil || partition == "" {
		return true
	}
	return slices.ContainsFunc(q.Partitions, func(p cluster.Partition) bool {
		return slices.Contains(strings.Split(partition, ","), p.Name) && slices.Contains(p.Nodes, node)
	})
}

// inputSizes returns the size of each task's input, rounded up: of the files that its entry names. 0: there are none, or it is not known.
func inputSizes(dir string, entries []job.Entry) []int64 {
	sizes, begun := make([]int64, len(entries)), time.Now()
	for i, e := range entries {
		if i%64 == 0 && time.Since(begun) > measureSizes {
			break
		}
		sizes[i] = InputSize(dir, e)
	}
	return sizes
}

// InputSize returns the size of the files in that folder that words name, in bytes, rounded up; 0: they name none.
func InputSize(dir string, words []string) (sum int64) {
	for _, column := range words {
		size, is := fileSize(dir, column)
		if sum += size; is || !strings.ContainsAny(column, " \t") {
			continue
		}
		for _, word := range strings.Fields(column) { // the entry is a command
			size, _ := fileSize(dir, word)
			sum += size
		}
	}
	return job.Steps(sum, sizeGrains)
}

// fileSize returns the size of a regular file, and whether the name is one of it.
func fileSize(dir, name string) (size int64, is bool) {
	if name == "" {
		return 0, false
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	st, err := os.Stat(name) // fails for a name that none can be
	if err != nil || !st.Mode().IsRegular() {
		return 0, false
	}
	return st.Size(), true
}
