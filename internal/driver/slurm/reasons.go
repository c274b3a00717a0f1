package slurm

import (
	"berth/internal/driver"
	"strings"
)

// reasons explains why jobs wait, by Slurm's names of reasons. Messages use the texts as in "it waits: …".
const reasons driver.Table = `
None = Slurm has not considered it yet
Priority = jobs of higher priority start first
Resources = its nodes are not free yet
Dependency = it depends on another job
DependencyNeverSatisfied = it depends on a job that failed
JobHeldUser = its user holds it (scontrol release lets it start)
JobHeldAdmin = it is held by an administrator
BeginTime = its earliest start is not reached
JobArrayTaskLimit = its array runs as many tasks as its limit allows
Reservation = its reservation has not started
ReqNodeNotAvail = nodes that it needs are not available
PartitionDown = its partition is down
PartitionInactive = its partition accepts no jobs
PartitionNodeLimit = it requests more nodes than its partition allows, or than are up
PartitionConfig = it requests more than its partition allows
PartitionTimeLimit = it requests a longer wall time than its partition allows
Licenses = licenses that it needs are in use
Cleaning = its processes of an earlier start are being removed
Prolog = its nodes are being prepared
BadConstraints = no node can ever provide what it requests
InvalidAccount = its account is not valid
InvalidQOS = its QOS is not valid
QOSNotAllowed = its QOS may not use the partition
AccountNotAllowed = its account may not use the partition
ReservationDeleted = its reservation was deleted
ReservationInvalid = its reservation is not valid
MaxMemPerLimit = it requests more memory than is allowed
AssocMaxJobsLimit = you run as many jobs as your account allows
QOSMaxJobsPerUserLimit = you run as many jobs as the QOS allows
QOSMaxNodePerUserLimit = you use as many nodes as the QOS allows
QOSMaxCpuPerUserLimit = you use as many CPUs as the QOS allows
QOSMaxMemoryPerUser = you use as much memory as the QOS allows
AssocGrpCpuLimit = your account uses as many CPUs as it is allowed
AssocGrpNodeLimit = your account uses as many nodes as it is allowed
AssocGrpJobsLimit = your account runs as many jobs as it is allowed
AssocGrpCPUMinutesLimit = your account has used up its CPU time
AssocGrpBillingMinutes = your account has used up its budget
QOSGrpCpuLimit = the QOS uses as many CPUs as it is allowed
QOSGrpNodeLimit = the QOS uses as many nodes as it is allowed
QOSMaxNodePerJobLimit = it requests more nodes than the QOS allows
QOSMaxCpuPerJobLimit = it requests more CPUs than the QOS allows
QOSMaxWallDurationPerJobLimit = it requests a longer wall time than the QOS allows
QOSMinCpuNotSatisfied = it requests fewer CPUs than the QOS wants
AssocMaxNodePerJobLimit = it requests more nodes than your account allows
AssocMaxCpuPerJobLimit = it requests more CPUs than your account allows
AssocMaxWallDurationPerJobLimit = it requests a longer wall time than your account allows
NodeDown = a node that it needs is down
`

// reasonName returns the name at the beginning of a reason. Some reasons have details after the name:
// "ReqNodeNotAvail, UnavailableNodes:n[1-8]".
func reasonName(reason string) string {
	name, _, _ := strings.Cut(reason, ",")
	return strings.TrimSpace(name)
}

// reasonWords explains a reason. It adds Slurm's own text if that has details or the reason is unknown.
func reasonWords(reason string) string {
	words := reasons.Of(reasonName(reason))
	switch {
	case words == "":
		return "Slurm says: " + reason
	case strings.Contains(reason, ","):
		return words + " (" + reason + ")"
	}
	return words
}

// neverStarts reports whether a pending job with this reason waits for something that will not come, so that it
// is to be given up: it requests more than a job may have.
func neverStarts(reason string) bool {
	return never(reasonName(reason))
}

var never = driver.Says(`^(PartitionTimeLimit|BadConstraints|Invalid(Account|QOS)|(QOS|Account)NotAllowed|Reservation(Deleted|Invalid)|` +
	`DependencyNeverSatisfied|MaxMemPerLimit|(QOS|Assoc)Max.*PerJob(Limit)?)$`)
