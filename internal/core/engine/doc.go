// Package engine is the decision loop of berth: it receives inputs with their times and returns records and actions.
//
// The engine decides everything that happens to jobs, tasks and allocations, and carries out nothing. A live
// coordinator and the simulator use it alike: they give inputs to Step, make its records durable, and then carry out
// its actions.
//
//	e := engine.New(engine.Config{})
//	out, err := e.Step(now, step.Submit{Work: work})
//	write(out.Records)
//	for _, action := range out.Actions {
//		step.Perform(action, performer)
//	}
//
// # State
//
// One function changes the engine's state, apply, by one record at a time. Step turns an input into records, each
// applied as it is made, and then emits the consequences: jobs that are done or have failed, allocations to request or
// to give back, tasks to start. The consequences depend only on the state, never on the input that led to it. So the
// state is the fold of the journal. After the death of a coordinator, Replay restores the state and Recover completes
// whatever was interrupted, down to a step of which only some records were written.
//
// Dismiss removes a job that is over from memory, as if its journal had never been given. The journal can be given again.
//
// What is open between engine and workers is not part of the state: grants that were asked for, attempts that are being
// killed, which node knows which map output, plans under way. A worker that joins (NodeUp) reports what it has, and
// asks again for what it needs; plans are requested again.
//
// # Jobs and tasks
//
// A job is queued until its first attempt starts, then running. When all its tasks are done or failed, a bag has ended;
// a MapReduce job is finalizing until its output as a whole is committed. A job that is cancelled, has failed too often
// or met a broken machine is stopping until the last of its attempts has ended. A job that ended without being done can
// be resumed; tasks that are done stay done.
//
// A job that comes after others (job.Work.After) is queued and in no pool until they are done: it requests nothing and
// starts nothing. It fails if one of them ends otherwise. The action Seek asks for the state of those that are not in
// memory.
//
// A task is ready, running, done or failed. An attempt that fails counts; one that is lost with its worker does not,
// unless the task loses its workers again and again. The output of a map is held by its node. If it is lost while a
// reduce needs it, the map runs again. A task has one running attempt, or also duplicates if the first is too slow: the
// first to be done does the task, and the others are killed (duplicates.go, watch.go).
//
// An attempt may commit its output only with a grant, which lasts until the attempt has ended. So no two attempts of a
// task ever have one. The engine waits for a node that does not answer (Config.NodeTimeout) before it gives up the
// node's attempts; that must be longer than workers without a coordinator keep their grants.
//
// # Allocations
//
// A pool consists of the allocations that serve the same jobs, and of those jobs. On a batch system its allocations
// were requested with equal options, whatever their size and time; on one machine they have one shape. An idle
// allocation is given back after its idle timeout, or at once if it never began or another may wait for its nodes.
//
// Each job requests its own allocations: those of its first plan (job.Work) and of later plans. The engine emits the
// action Plan when no allocation has the room and the time for the job's next task, when an allocation was lost that the
// last plan counted on (losses.go), and when as many tasks are done as the first plan wanted to measure. A plan that leaves tasks unserved is
// repeated: at once if it could not know of them, else after five seconds without what is there, and then later. A job fails after several
// unproductive allocations. An allocation of one machine has no end (job.Shape.Endless), and its plan does not change: if no
// allocation of the pool serves a job, the engine requests that of the job's plan, for all jobs of the pool.
//
// Nothing starts on a node if it is expected to end after the node's allocation (sched.Span), by the measurements of
// the run or else by the plan. A task of unknown duration starts while any time is left. A shuffling reduce is killed
// when it is too late for it to sort and reduce. What is lost at the end of an allocation counts neither against a task
// nor against a node, but shows that the task takes longer than that. Allocations that nobody can use any more are
// given back, also while they wait.
//
// Map outputs on a shared file system (NodeJoined.Outputs) outlive their nodes: reduces learn of the folder and read
// them in place. When no job needs the remains of an ended allocation, or may need them after a resume, it is cleared.
// Until Cleared is on record, a new coordinator releases and clears the allocation again, so drivers must accept both
// for allocations that they do not know.
//
// # Scheduling
//
// Package sched decides what starts next (sched.Pool.Decisions), and the engine carries it out. A candidate
// stands for all ready tasks of a job and kind, so the cost of a completion does not grow with the number of queued
// tasks or waiting jobs.
//
// The rank of a job depends on its state and on the size of its pool. It is computed again whenever the job changes
// (enqueue), and for all jobs when the pool has doubled or halved (resize). So a replay gives the same order. The order
// of jobs does not affect what a job requests from a batch system: allocations of a pool serve the job that comes
// first, and those that serve none are given back.
//
// The package uses no clock, file, network, logger, goroutine or random source.
package engine
