// Package stage makes the bags of a job in three stages: split, operation and merge (NO², Wu et al., IEEE TC 2015,
// section 6). Each stage is a bag that comes after the stage before (job.Spec.After). The package says what the tasks of
// each stage run, and makes the folder through which the stages pass their parts on.
//
// The user writes a script for each stage, or omits it. The defaults: the split cuts the input by lines, or uses each file
// of a folder as a part; the operation copies its part; the merge appends the results in order. A script of berth runs
// around that of the user. It renames what a task leaves into place when the task is done, so two attempts of a task
// cannot disturb each other.
//
//	plan := stage.Plan{Input: in, Output: out, Folder: folder, Scripts: scripts}
//	err := plan.Check(cores)
//	entries := plan.Fill(spec, stage.Split, dir)
//	err = plan.Write()
//
// The package starts no program.
package stage
