package explain

// The sentences of berth explain, in the order in which they appear.
const (
	Finalizing   Sentence = "all tasks are done; the output is being moved to its final folder"
	Stopping     Sentence = "it is being stopped: %s"
	AfterJobs    Sentence = "it begins when %s"
	BagRests     Sentence = "all of its tasks are over; it is open, and waits for more (berth add %s) until it is closed (berth close %s)"
	TasksBlocked Sentence = "%s for other tasks of the bag to be done"
	TasksRun     Sentence = "%s of %s %s: %s"
	TasksOnNode  Sentence = "%s on %s"

	// An allocation, and what is known of one that waits.
	AllocWaits     Sentence = "it waits for allocation %s: %s with %s each%s, requested from %s %s ago%s%s"
	AllocFor       Sentence = " for %s"
	AllocReason    Sentence = "; %s"
	AllocExpected  Sentence = "; expected in %s"
	NoNodeYet      Sentence = "allocation %s began %s ago; none of its nodes is ready%s"
	AllocPaused    Sentence = "allocation %s: %s, for %s so far; its tasks go on when it does"
	AllocEnds      Sentence = "allocation %s ends in %s%s"
	AllocGivenBack Sentence = "; it may be given back once %s, which requested it, is done"

	// The plan for tasks that no allocation serves.
	PlanPending  Sentence = "the remaining tasks are being planned: %s"
	PlanFailed   Sentence = "the remaining tasks could not be planned; the next try is in %s: %s"
	PlanLater    Sentence = "the remaining tasks are planned in %s: %s"
	PlanNever    Sentence = "no further allocation is requested until a running task is done: %s"
	PlanMeasured Sentence = "%s; the remaining tasks are planned once %s are done and measured"
	PlanSoon     Sentence = "its first tasks have just come; nodes are requested in a moment, together with those for the tasks that follow"
	PlanNone     Sentence = "the last plan: %s"
	PlanRefused  Sentence = "no further allocation is requested: allocation %s was refused: %s"
	Unproductive Sentence = "the last %s allocations ended without any task done (%s)"
	NeverBegan   Sentence = "the last %s allocations in a row ended before a worker of theirs started (%s)"

	// Nodes that are away or avoided.
	NodeAway      Sentence = "%s has not answered for %s (%s); berth waits %s more for its %s and %s of this job"
	NodeSuspected Sentence = "%s gets no attempts for %s more: attempts failed or were lost there and not on other nodes"
	LastLost      Sentence = "an attempt was lost and its task starts again: %s"
	NeedsChanged  Sentence = "memory and time of tasks: %s"
	NodeSlow      Sentence = "no duplicate starts on %s for %s more, because attempts there were too slow"

	// Attempts that wait for their next phase.
	SortWaits  Sentence = "%s on %s for %s to sort and reduce; it has %s free"
	PhaseWaits Sentence = "%s %s on %s%s"

	// An attempt that is slower than others: when it ends, why it is slow, and what is done about it.
	SlowTask      Sentence = "%s %s on %s %s: %s; %s"
	EndsNever     Sentence = "is not expected to end"
	EndsUnknown   Sentence = "is slow"
	EndsIn        Sentence = "is expected to end in %s%s"
	EndsLater     Sentence = ", %s later than a new attempt"
	DuplicateRuns Sentence = "%s of its task run, and the first to finish is committed"
	NoGain        Sentence = "a new attempt would not end sooner"
	NotAllowed    Sentence = "no second attempt starts, because the task's attempts may write the same files " +
		"(allow it with --duplicates-ok, --outputs or --stragglers abort)"
	Aborted         Sentence = "it is killed, and a new attempt starts on another node"
	DuplicateStarts Sentence = "a duplicate starts as soon as a fast node has a free slot"
	UrgentWaits     Sentence = "%s for a slot on another node, because an attempt was too slow"

	// Tasks that are ready and do not start.
	Throttled     Sentence = "%s: at most %s may run at once"
	SlowStart     Sentence = "%s until %s of %s maps are done; %s are"
	OutputsSought Sentence = "it searches the nodes that join for %s from before the resume"
	RoomWaits     Sentence = "%s for %s: %s%s"
	RoomEach      Sentence = "%s each"
	RoomShuffle   Sentence = "%s each to shuffle in"
	RoomKept      Sentence = "; %s on each node is reserved for %s"
	NodeReturned  Sentence = "%s is being given back: the job that requested it is done"
	NodeTooShort  Sentence = "%s has %s left, which is too short for one"
	NodeShuffles  Sentence = "%s has %s free and %s of at most %s shuffling"
	NodeLacks     Sentence = "on %s %s"
	NodeSmall     Sentence = "%s has %s in all, which is not what one needs"
	OtherNeeds    Sentence = "%s that need something else"
	NodeFailed    Sentence = "on %s they have failed, and another node can run them"
	NodeFree      Sentence = "%s has %s free"

	// Jobs whose tasks start first.
	EarlierJobs Sentence = "before it in line: %s"
	JobsFirst   Sentence = "%s with %s %s first: %s"
)
