package slurm

import (
	"cmp"
	"context"
	"strings"

	"berth/internal/core/cluster"
)

// Fields of sacctmgr. Slurm hands an account's Max… limits down to its users. Grp… limits apply to each level separately.
const (
	assocFields   = "format=DefaultAccount,Account,Partition,DefaultQOS,MaxWall,MaxTRES,GrpTRES"
	accountFields = "format=Account,ParentName,GrpTRES"
	qosFields     = "format=Name,Flags,MaxWall,MaxTRES,GrpTRES,MaxTRESPU,MaxTRESPA,MinTRES"
)

// limits asks accounting for the user's limits. It returns nil if no limits are enforced or accounting does not answer. Then Slurm's
// messages say it when a job waits or is refused.
func (s *System) limits(ctx context.Context, user string) *cluster.Accounting {
	c, err := s.config(ctx)
	if err != nil || !c.limits {
		return nil
	}
	const show = "sacctmgr --noheader --parsable2 show "
	said, errs := s.Each(ctx, show+"user "+user+" withassoc where cluster="+c.cluster+" "+assocFields,
		show+"assoc where cluster="+c.cluster+" user= "+accountFields, show+"qos "+qosFields)
	if errs[0] != nil || errs[2] != nil { // the second may fail
		return nil
	}
	return parseLimits(said[0], said[1], said[2])
}

// defaultQOS is the QOS of jobs that name none and whose association has no default (DefaultQOS).
const defaultQOS = "normal"

// parseLimits reads the output of sacctmgr: the user's associations, the accounts above them, and the QOS.
func parseLimits(user, accounts, qos string) *cluster.Accounting {
	a, above := &cluster.Accounting{}, map[string][]string{} // parent and GrpTRES of each account
	for _, f := range barred(accounts, 3) {
		above[f[0]] = f[1:]
		a.Accounts = append(a.Accounts, cluster.Account{Name: f[0], Parent: f[1], Nodes: tresCount(f[2], "node"), CPUs: tresCount(f[2], "cpu"), GPUs: tresCount(f[2], gpuTRES)})
	}
	for _, f := range barred(user, 7) {
		as := cluster.Association{Account: f[1], Partition: f[2], Default: f[0] == f[1], QOS: cmp.Or(f[3], defaultQOS), Bounds: bounds(f[4], f[5], f[6])}
		for name, levels := f[1], 0; above[name] != nil && levels <= len(above); name, levels = above[name][0], levels+1 {
			lower(&as.Bounds, ofGroup, above[name][1])
		}
		a.Associations = append(a.Associations, as)
	}
	for _, f := range barred(qos, 8) {
		q := cluster.QOS{Name: f[0], Over: strings.Contains(f[1], "OverPartQOS"), Bounds: bounds(f[2], f[3], f[4]), MinCPUs: tresCount(f[7], "cpu")}
		for _, tres := range f[5:7] {
			lower(&q.Bounds, ofUser, tres)
		}
		a.QOS = append(a.QOS, q)
	}
	return a
}

// barred splits lines into fields at "|". It skips lines that do not have n fields.
func barred(out string, n int) (rows [][]string) {
	for line := range strings.Lines(out) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), "|"); len(f) == n {
			rows = append(rows, f)
		}
	}
	return rows
}

// bounds reads MaxWall, MaxTRES and GrpTRES.
func bounds(wall, job, group string) (b cluster.Bounds) {
	b[cluster.WallTime] = int64(parseLimit(wall))
	lower(&b, ofJob, job)
	lower(&b, ofGroup, group)
	return b
}

// bounded has the bounds on each trackable resource: on that of a job, of an account or QOS, and of a user.
var bounded = map[string][3]cluster.Bound{
	"node":  {cluster.JobNodes, cluster.GroupNodes, cluster.UserNodes},
	"cpu":   {cluster.JobCPUs, cluster.GroupCPUs, cluster.UserCPUs},
	gpuTRES: {cluster.JobGPUs, cluster.GroupGPUs, cluster.UserGPUs},
}

const (
	ofJob = iota
	ofGroup
	ofUser
)

// lower lowers the bounds on what a job, a group or a user has to those in a list of trackable resources.
func lower(b *cluster.Bounds, of int, list string) {
	for name, bounds := range bounded {
		if n, at := tresCount(list, name), bounds[of]; n > 0 && (b[at] == 0 || n < b[at]) {
			b[at] = n
		}
	}
}

// gpuTRES is the trackable resource of GPUs of all types. Limits on single types are not read.
const gpuTRES = "gres/gpu"

// tresCount returns the count of one resource in a list of trackable resources such as "cpu=2,node=1", or 0 if it is not in the list.
func tresCount(list, name string) int64 {
	return int64(parseCount(tres(list, name)))
}
