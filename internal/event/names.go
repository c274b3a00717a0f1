package event

import "fmt"

// kindNames are the names of the kinds for people.
var kindNames = [...]string{
	KindJobSubmitted:   "job-submitted",
	KindJobResumed:     "job-resumed",
	KindJobStopping:    "job-stopping",
	KindJobFinalizing:  "job-finalizing",
	KindJobEnded:       "job-ended",
	KindAttemptStarted: "attempt-started",
	KindPhaseEntered:   "phase-entered",
	KindLeaveGranted:   "leave-granted",
	KindCommitGranted:  "commit-granted",
	KindAttemptEnded:   "attempt-ended",
	KindOutputLost:     "output-lost",
	KindNodeJoined:     "node-joined",
	KindNodeLost:       "node-lost",
	KindAllocRequested: "alloc-requested",
	KindAllocEnded:     "alloc-ended",
	KindAllocBegan:     "alloc-began",
	KindJobPlanned:     "job-planned",
	KindAllocCleared:   "alloc-cleared",
	KindOutputHeld:     "output-held",
}

// String returns the kind's name, "attempt-ended".
func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return fmt.Sprintf("kind-%d", uint8(k))
}
