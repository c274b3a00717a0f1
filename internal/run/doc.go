// Package run takes a job from what the user asked for to a folder that a
// coordinator can take on, and tells of runs from their folders alone: the steps
// that commands share, with a coordinator or without.
package run
