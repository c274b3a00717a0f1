// Package dashboard serves a page that shows jobs while they run and afterwards: their progress, which attempts ran when
// on which nodes, the resources that they used, and what was predicted.
//
// It belongs to a command that only reads, like berth progress: jobs come from the coordinator or from their folders,
// attempts from the runs' journals. It changes nothing, and has no state that the coordinator needs.
//
// Each page receives one stream of events. The first event is a whole document; each later one has only the differences
// from the one before (diff). A timeline is reduced to a bounded number of cells here, so that neither documents nor
// differences grow with the number of tasks.
//
// It listens on the loopback interface, which other users of the machine can reach too. So every request must carry a
// cookie that only the printed address sets (guard). The files of the page are in assets; none comes from elsewhere.
package dashboard
