// Package transfer moves files of jobs between the user's machine and hosts that do not see its file systems.
//
// Server runs on the user's machine, in the process that holds the worker of one host (driver/ssh). It decides by the
// run's folder what a task may read and write: the host names a job, a task and an attempt, and the server trusts no
// path that it sends. Client and Cache run on the host, in the worker. They talk HTTP/1.1 over streams of the connection
// that carries the worker, so that net/http handles ranges, lengths and idle connections.
//
//	GET    /jobs/J/tasks/T/needs                        files that the task needs: names, modes, SHA-256 (Item)
//	GET    /jobs/J/tasks/T/ranges/R?at=…&n=…            part of the file of a range of a map's split, in blocks
//	GET    /jobs/J/contents/SHA256                      content of such a file, or a range of it
//	PUT    /jobs/J/tasks/T/attempts/N/outputs?name=…    output of the attempt, into a hidden file or _temporary
//	POST   /jobs/J/tasks/T/attempts/N/commit            commits the outputs by renaming them
//	DELETE /jobs/J/tasks/T/attempts/N                   removes the attempt's uncommitted outputs
//	DELETE /jobs/J/tasks/T/attempts/N/others?last=L     removes those of the task's other attempts, up to number L
//	POST   /sync                                        answers when committed outputs are on the disk
//
// On both sides a file is either complete or absent. The package does not decide which attempt commits (the engine
// does) nor when a transfer takes place.
package transfer
