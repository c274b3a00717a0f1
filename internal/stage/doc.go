// Package stage runs a job in three stages, split, operation and merge (NO², Wu et al., IEEE TC 2015, section 6): what each
// task of a stage runs, and the folder through which the stages hand on their parts.
//
// Each stage is a bag, and comes after the one before (job.Spec.After). The user writes a script for each, or leaves it
// out: then the split cuts the input by lines (of a folder each file is a part), the operation copies, and the merge
// appends the results in their order. A script of ours runs around that of the user: whatever a task leaves gets its
// place by one rename when it is whole, so two attempts of one task do no harm to each other.
//
// The package starts nothing.
package stage
