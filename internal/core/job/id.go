package job

import (
	"fmt"
	"math"
	"strings"

	"berth/internal/core/pattern"
)

// ID names a job: its kind and a number that is unique for the user, "bag-17".
type ID string

// NodeID names a node of an allocation, "a3/0": the allocation and the node's rank in it.
// A worker that is started again for the same rank has the same NodeID and the same scratch folder.
type NodeID string

// AllocID names an allocation: "a3".
type AllocID string

// Node returns the id of the allocation's node of that rank, counted from 0.
func (a AllocID) Node(rank int) NodeID { return NodeID(fmt.Sprintf("%s/%d", a, rank)) }

// Alloc returns the allocation that the node belongs to.
func (n NodeID) Alloc() AllocID {
	alloc, _, _ := strings.Cut(string(n), "/")
	return AllocID(alloc)
}

// Attempt identifies one execution of a task.
type Attempt struct {
	Job  ID  `msgpack:"j"`
	Task int `msgpack:"t"` // index in the job's task table, from 0; reduces come after the maps
	N    int `msgpack:"n"` // 1 for the first attempt
}

// Check returns an error for numbers out of range.
func (a Attempt) Check() error {
	if a.Task < 0 || a.N < 0 || a.Task > math.MaxInt32 || a.N > math.MaxInt32 {
		return fmt.Errorf("impossible attempt %v", a)
	}
	return nil
}

// IsZero reports whether it is no attempt.
func (a Attempt) IsZero() bool { return a == Attempt{} }

// String returns "bag-17/3#1": job, task index, attempt.
func (a Attempt) String() string { return fmt.Sprintf("%s/%d#%d", a.Job, a.Task, a.N) }

var jobID = pattern.Lazy(`^(bag|mr)-[1-9][0-9]{0,9}$`)

// ParseID parses a job's id. Ids are names of folders, so it rejects everything but "bag-N" and "mr-N".
// where is the argument that an error names.
func ParseID(where, s string) (ID, error) {
	if !jobID().MatchString(s) {
		return "", ArgumentError(where, fmt.Sprintf("%q is not the id of a job", s), "jobs are called bag-17 or mr-18; berth status lists them")
	}
	return ID(s), nil
}

// TaskName names a MapReduce task for people and files: "m-00012" for a map,
// "r-00003" for the reduce of partition 3.
func TaskName(kind TaskKind, index int) string {
	return fmt.Sprintf("%c-%05d", kind.String()[0], index)
}
