package slurm

import (
	"strings"
)

// reasons are why jobs wait, by Slurm's names, in plain words ("it waits: …").
var reasons = map[string]string{
	"None":                            "not looked at yet",
	"Priority":                        "jobs of higher priority come first",
	"Resources":                       "its nodes are not free yet",
	"Dependency":                      "it depends on another job",
	"DependencyNeverSatisfied":        "it depends on a job that failed",
	"JobHeldUser":                     "it was held by its user (scontrol release lets it go on)",
	"JobHeldAdmin":                    "it is held by an administrator",
	"BeginTime":                       "its begin time is not reached",
	"JobArrayTaskLimit":               "its array runs as many tasks as it may",
	"Reservation":                     "its reservation has not begun",
	"ReqNodeNotAvail":                 "nodes that it needs are not available",
	"PartitionDown":                   "its partition is down",
	"PartitionInactive":               "its partition takes no jobs",
	"PartitionNodeLimit":              "it asks for more nodes than its partition gives, or than are up",
	"PartitionConfig":                 "it asks for more than its partition gives",
	"PartitionTimeLimit":              "it asks for more time than its partition gives",
	"Licenses":                        "licenses that it needs are taken",
	"Cleaning":                        "what it left from an earlier start is being cleaned up",
	"Prolog":                          "its nodes are being prepared",
	"BadConstraints":                  "no node can ever give what it asks for",
	"InvalidAccount":                  "its account is not valid",
	"InvalidQOS":                      "its QOS is not valid",
	"QOSNotAllowed":                   "its QOS may not use the partition",
	"AccountNotAllowed":               "its account may not use the partition",
	"ReservationDeleted":              "its reservation was deleted",
	"ReservationInvalid":              "its reservation is not valid",
	"MaxMemPerLimit":                  "it asks for more memory than is allowed",
	"AssocMaxJobsLimit":               "you run as many jobs as your account allows",
	"QOSMaxJobsPerUserLimit":          "you run as many jobs as the QOS allows",
	"QOSMaxNodePerUserLimit":          "you use as many nodes as the QOS allows",
	"QOSMaxCpuPerUserLimit":           "you use as many CPUs as the QOS allows",
	"QOSMaxMemoryPerUser":             "you use as much memory as the QOS allows",
	"AssocGrpCpuLimit":                "your account uses as many CPUs as it may",
	"AssocGrpNodeLimit":               "your account uses as many nodes as it may",
	"AssocGrpJobsLimit":               "your account runs as many jobs as it may",
	"AssocGrpCPUMinutesLimit":         "your account has used up its CPU time",
	"AssocGrpBillingMinutes":          "your account has used up its budget",
	"QOSGrpCpuLimit":                  "the QOS uses as many CPUs as it may",
	"QOSGrpNodeLimit":                 "the QOS uses as many nodes as it may",
	"QOSMaxNodePerJobLimit":           "the QOS allows a job less nodes",
	"QOSMaxCpuPerJobLimit":            "the QOS allows a job less CPUs",
	"QOSMaxWallDurationPerJobLimit":   "the QOS allows a job less time",
	"AssocMaxNodePerJobLimit":         "your account allows a job less nodes",
	"AssocMaxCpuPerJobLimit":          "your account allows a job less CPUs",
	"AssocMaxWallDurationPerJobLimit": "your account allows a job less time",
	"NodeDown":                        "a node that it needs is down",
}

// reasonName returns the name that a reason begins with: some have details behind it,
// "ReqNodeNotAvail, UnavailableNodes:n[1-8]".
func reasonName(reason string) string {
	name, _, _ := strings.Cut(reason, ",")
	return strings.TrimSpace(name)
}

// reasonWords returns a reason in plain words, with Slurm's own where it says more or there are no others.
func reasonWords(reason string) string {
	words, known := reasons[reasonName(reason)]
	switch {
	case !known:
		return "Slurm says: " + reason
	case strings.Contains(reason, ","):
		return words + " (" + reason + ")"
	}
	return words
}

// neverStarts reports whether a pending job with that reason waits for what time does not
// bring, so that it is to be given up: it asks for more than a job may have.
func neverStarts(reason string) bool {
	name := reasonName(reason)
	switch name {
	case "PartitionTimeLimit", "BadConstraints", "InvalidAccount", "InvalidQOS", "QOSNotAllowed", "AccountNotAllowed",
		"ReservationDeleted", "ReservationInvalid", "DependencyNeverSatisfied", "MaxMemPerLimit":
		return true
	}
	return strings.HasPrefix(name, "QOSMax") && (strings.HasSuffix(name, "PerJobLimit") || strings.HasSuffix(name, "PerJob")) ||
		strings.HasPrefix(name, "AssocMax") && (strings.HasSuffix(name, "PerJobLimit") || strings.HasSuffix(name, "PerJob"))
}
