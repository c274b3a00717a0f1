// Package engine is berth's one loop: an input and the time go in, records and actions come out.
//
// The engine decides everything that happens to jobs, tasks and allocations, and does none of it. A live coordinator and the simulator both do the same:
// hand inputs to Step, make its records durable, then carry out its actions.
//
// # State
//
// The engine's state changes in one place, apply, by one record at a time. Step turns an input into records (each applied as it is made), then settles
// what follows from them: jobs that are done or have failed too often, allocations to ask for or to give back, tasks to start. What follows is drawn
// from the state alone, never from the input that led to it. So the state is the fold of the journal; a coordinator that died is brought back by Replay;
// and Recover makes good whatever was cut short, down to a step of which only some records were written.
//
// Jobs that are over can be taken out of memory (Dismiss), as if their journals had never been given, and be given again.
//
// Not part of the state is what is open between engine and workers: grants that were asked for, attempts that are being killed, which node was told of
// which map output; nor are plans that are on the way. A worker that joins (NodeUp) says what it has, and asks anew for what it wants; plans are asked
// for again.
//
// # Jobs and tasks
//
// A job is queued until its first attempt starts, then running. When all its tasks are done or failed, a bag has ended; a MapReduce job is finalizing
// until its output as a whole is committed. A job that is cancelled, has failed too often or ran into a broken machine is stopping until the last of its
// attempts is over. Any job that ended without being done can be resumed: what is done stays done.
//
// A job that comes after others (job.Work.After) is queued and in no pool until they are done: it asks for nothing and starts nothing. It fails when one
// of them ends otherwise. What became of one that is not in memory the action Seek asks.
//
// A task is ready, running, done or failed. An attempt that fails counts; one that is lost with its worker does not, but for a task that loses its
// workers again and again. The output of a map is held by its node: when it is lost while a reduce needs it, the map is run again. A task has one live
// attempt, or further ones (duplicates) where the first is too slow: the first to be done does the task, and the others are killed (duplicates.go, watch.go).
//
// An attempt may put its output into place only with a grant. It stands until the attempt is over, so no two attempts of a task ever have one. A node
// that does not answer is waited for (Config.NodeTimeout) before its attempts are given up; that must be longer than workers without a coordinator keep
// their grants.
//
// # Allocations
//
// The allocations that serve the same jobs, and those jobs, are a pool: on a batch system all that were asked for with equal options, whatever their
// size and time; on one machine all of one shape. One that is idle is given back after its idle timeout, and at once if it never began or another may
// wait for its room.
//
// Each job asks for its own: what its plan said at first (job.Work), and what later plans say. The action Plan asks for one when no allocation could
// take the job's next task in the time it has, and when enough tasks are done that the first plan wanted to see. Plans that come to nothing are asked
// for again; allocations that do so again and again fail the job. An allocation of one machine has no end (job.Shape.Endless), and its plan does not
// change: where none of the pool serves a job, the engine asks for what the job came with, on behalf of all jobs of the pool.
//
// Nothing begins on a node whose allocation ends before it is expected to be done (sched.Span): by what the run has measured, else by the plan; what is
// unknown begins while there is any time. A reduce that shuffles is killed when it is too late for it to sort and reduce. What is lost as an allocation
// ends counts neither against a task nor a node, but shows that the task takes longer than that. What nobody can use any more is given back; so is what
// waits when all tasks that are left run already.
//
// Map outputs on a shared file system (NodeJoined.Outputs) outlive their nodes: reduces are told of the folder, and read them in place. When no job
// needs what an allocation that is over has left, or may need it after a resume, it is cleared. Cleared answers; until that is on record a new
// coordinator gives back and clears again, so drivers must take both for allocations they do not know.
//
// # Scheduling
//
// What starts next is decided by package sched (sched.Policy, sched.Selector), and carried out here. A candidate stands for all ready tasks of a job and
// kind, so a completion costs the same with a thousand tasks queued and a million, with one job waiting and thousands.
//
// A job's rank is a function of its state and of the size of its pool, found anew whenever something of the job changes (enqueue), and for all jobs when
// the pool has doubled or halved (resize). So a replay gives the same line. What a job asks of a batch system is no matter of the order of jobs:
// allocations of a pool serve whoever goes first, and what serves nobody is given back.
//
// The package touches no clock, file, network, logger, goroutine or random source.
package engine
