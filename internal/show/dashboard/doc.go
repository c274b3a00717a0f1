// Package dashboard serves a page that shows jobs while they run and after: how far they are, who ran what when, what they
// took of their nodes, and what was predicted.
//
// It belongs to a command that only looks, as berth progress does: jobs come from the coordinator or from their folders, attempts from
// the runs' journals. It changes nothing, and it holds nothing that the coordinator needs.
//
// A page has one stream of events. The first is a whole document; each later one says only where the document differs from the one
// before (diff). Timelines are brought down to a bounded number of cells here, so that neither documents nor differences grow
// with the number of tasks.
//
// It listens on the loopback interface, where other users of the machine can reach it too: every request must carry a cookie that only
// the printed address gives (guard). The files of the page are in assets; none comes from elsewhere.
package dashboard
