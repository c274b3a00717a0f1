// Package report folds a job's records into what people and programs are told
// about it: how far it has come, how long its phases took, what failed, what was
// predicted beside what came true.
//
// A Job takes one record at a time, in constant time and with 8 bytes kept for each
// task, so the same fold serves the live coordinator and a command that reads a
// journal with no coordinator running. What is true only now (the progress of
// running attempts) is handed in apart and touches rates and expectations only.
//
// The package reads no clock and no journal: entries and the present time are
// given. Its views are the JSON that commands print; docs/json.md lists their keys.
package report
