package ec2

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"berth/internal/core/catalogue"
	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/driver"
	"berth/internal/driver/ssh"
)

// Name is the backend's name, as in --on.
const Name = "ec2"

// Defaults for a machine that the catalogue does not describe: the newest image of the provider's own Linux for x86-64, and its user.
const (
	defaultImage = "resolve:ssm:/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"
	defaultUser  = "ec2-user"
)

// Backend is the backend of rented machines.
type Backend struct{}

// Name returns "ec2".
func (Backend) Name() string { return Name }

// Detect returns false: berth rents machines only if the user asks for it.
func (Backend) Detect([]string) bool { return false }

// Observe finds out the resources and prices of the requested machines. It rents nothing.
func (Backend) Observe(ctx context.Context, env []string, at job.Time, r *job.Request) (seen driver.Observation, err error) {
	rent := &r.Remote.Rent
	if len(rent.Machines) == 0 {
		return seen, job.ConfigError("--on "+Name, "no machines to rent are named", "name them with --machines m1.m=3 --catalogue types.toml, or have them chosen: berth plan bag --front --run")
	}
	r.Remote.Command = cmp.Or(job.Getenv(env, ssh.CommandVar), r.Remote.Command)
	if err := fill(rent); err != nil {
		return seen, err
	}
	c, err := connect(ctx, env, rent.Region)
	if err != nil {
		return seen, err
	}
	rent.Region = c.region
	if err := ask(ctx, c, rent); err != nil {
		return seen, err
	}
	if rent.Budget > 0 && rent.Account == "" {
		rent.Account = driver.Secret()
	}
	return observation(at, rent)
}

// fill completes the request with the catalogue, or with defaults for the named types.
func fill(rent *job.Rent) error {
	var known []job.Rented
	if rent.Catalogue != "" {
		data, err := os.ReadFile(rent.Catalogue)
		if err != nil {
			return job.InputError("--catalogue", "the file cannot be read", "").Because(err)
		}
		c, err := catalogue.Read(rent.Catalogue, data, catalogue.Task{Seconds: 1})
		if err != nil {
			return err
		}
		known, rent.Region, rent.Patience, rent.Catalogue = c.Rented, c.Region, c.Patience, ""
	}
	for i := range rent.Machines {
		m := &rent.Machines[i]
		switch at := slices.IndexFunc(known, func(k job.Rented) bool { return k.Name == m.Name }); {
		case at >= 0:
			n := m.Count
			*m = known[at]
			m.Count = n
		case m.Instance != "": // an earlier call completed it
		case len(known) > 0:
			var names []string
			for _, k := range known {
				names = append(names, k.Name)
			}
			return job.ArgumentError("--machines", fmt.Sprintf("the catalogue has no type %q", m.Name), "known: "+strings.Join(names, ", "))
		default:
			m.Instance, m.Unit, m.Minimum = strings.TrimSuffix(m.Name, job.SpotEnd), 1, 60
		}
		if rent.Deadline > 0 {
			m.More = max(0, m.Limit-m.Count)
		}
		if m.Image == "" {
			m.Image, m.User = defaultImage, cmp.Or(m.User, defaultUser)
		}
	}
	return nil
}

// ask asks the provider for the resources of the types, and for spot prices that are not given. This API does not tell the prices on demand.
func ask(ctx context.Context, c cloud, rent *job.Rent) error {
	names := []string{}
	for _, m := range rent.Machines {
		if !slices.Contains(names, m.Instance) {
			names = append(names, m.Instance)
		}
	}
	has, err := c.learn(ctx, names)
	if err != nil {
		return err
	}
	for i := range rent.Machines {
		m := &rent.Machines[i]
		said := has[m.Instance]
		m.Has.CPUs, m.Has.Mem = cmp.Or(m.Has.CPUs, said.CPUs), cmp.Or(m.Has.Mem, said.Mem)
		if m.Has.GPUs == 0 {
			m.Has.GPUs, m.Has.GPUType = said.GPUs, said.GPUType
		}
		if m.Spot() && m.Price == 0 {
			if m.Price, err = c.spotPrice(ctx, m.Instance); err != nil {
				return err
			}
		}
		if m.Price == 0 && rent.Budget > 0 {
			return job.ArgumentError("--budget", "the price of "+m.Name+" is unknown", "write it into a catalogue: --catalogue types.toml")
		}
		if least := bill(*m, 2*margin); rent.Budget > 0 && least > rent.Budget {
			return job.ArgumentError("--budget", fmt.Sprintf("one machine of type %s costs at least %s, but the budget is %s", m.Name, job.Money(least), job.Money(rent.Budget)), "raise it, or name another type")
		}
	}
	return nil
}

// observation returns the machines as free nodes, with a note of their price.
func observation(at job.Time, rent *job.Rent) (driver.Observation, error) {
	s := driver.Observation{Snapshot: cluster.Snapshot{Driver: Name, At: at}, NoSharedFiles: true}
	most, hourly, unpriced := 0, 0.0, false
	for _, m := range rent.Machines {
		for n := range m.Count {
			s.Snapshot.Nodes = append(s.Snapshot.Nodes, cluster.Node{Name: fmt.Sprintf("%s-%d", m.Name, n+1), Capacity: m.Has, Free: m.Has})
		}
		if m.Has.CPUs > most {
			most, s.NodeType = m.Has.CPUs, predict.NodeType(m.Instance, m.Has.CPUs)
		}
		hourly += float64(m.Count) * m.Price
		unpriced = unpriced || m.Price == 0
	}
	if !unpriced {
		s.Notes = append(s.Notes, fmt.Sprintf("%d machines are rented, for %s an hour in total", rent.Count(), job.Money(hourly)))
	}
	return s, nil
}
