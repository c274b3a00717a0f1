// Package files has the files of a task on a machine that sees the job's folder: what it prints, what it leaves in a
// folder of its own, their commit, and their sync to the disk. Bag has those of one attempt of a bag's task, for the
// worker that runs it, or for a task elsewhere whose files arrive from its worker (package transfer).
//
// What is not committed lies beside its place under a hidden name (Output, Folder), or in an unnamed file where many
// tasks print into one file (Capture, package collect). The package does not decide which attempt may commit.
package files
