package ec2

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"berth/internal/catalogue"
	"berth/internal/cluster"
	"berth/internal/driver"
	"berth/internal/driver/ssh"
	"berth/internal/job"
	"berth/internal/predict"
)

// Name is what --on calls machines that are rented from EC2.
const Name = "ec2"

// What a machine is where the catalogue says nothing: the newest of the provider's own Linux, for x86-64, and who logs in there.
const (
	defaultImage = "resolve:ssm:/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"
	defaultUser  = "ec2-user"
)

// Backend is rented machines as a backend.
type Backend struct{}

var _ driver.Backend = Backend{}

// Name returns "ec2".
func (Backend) Name() string { return Name }

// Detect returns false: nobody rents machines without being told to.
func (Backend) Detect([]string) bool { return false }

// Observe finds out what the machines are that are asked for. Nothing is rented.
func (Backend) Observe(ctx context.Context, env []string, at job.Time, r *job.Request) (driver.Observation, error) {
	rent := &r.Remote.Rent
	if len(rent.Machines) == 0 {
		return driver.Observation{}, &job.Error{Class: job.User, Code: job.CodeConfig, Where: "--on " + Name, What: "no machines to rent are named",
			Do: "name them with --machines m1.m=3 --catalogue types.toml, or have them chosen: berth plan bag --front --run"}
	}
	if said := first(env, ssh.CommandVar); said != "" || r.Remote.Command == "" {
		r.Remote.Command = said
	}
	if err := fill(rent); err != nil {
		return driver.Observation{}, err
	}
	c, err := connect(ctx, env, rent.Region)
	if err != nil {
		return driver.Observation{}, err
	}
	rent.Region = c.region
	if err := ask(ctx, c, rent); err != nil {
		return driver.Observation{}, err
	}
	if rent.Budget > 0 && rent.Account == "" {
		rent.Account = driver.Secret()
	}
	return sight(at, rent)
}

// fill completes what is asked for by the catalogue, or else by the names alone.
func fill(rent *job.Rent) error {
	known := []job.Rented{}
	if rent.Catalogue != "" {
		data, err := os.ReadFile(rent.Catalogue)
		if err != nil {
			return &job.Error{Class: job.User, Code: job.CodeNoInput, Where: "--catalogue", What: "the file cannot be read", Err: err}
		}
		c, err := catalogue.Read(rent.Catalogue, data, catalogue.Task{Seconds: 1})
		if err != nil {
			return err
		}
		known, rent.Region, rent.Patience, rent.Catalogue = c.Rented, c.Region, c.Patience, ""
	}
	names := []string{}
	for _, k := range known {
		names = append(names, k.Name)
	}
	for i := range rent.Machines {
		m := &rent.Machines[i]
		switch at := slices.Index(names, m.Name); {
		case at >= 0:
			n := m.Count
			*m = known[at]
			m.Count = n
		case m.Instance != "": // it was found out before
		case len(known) > 0:
			return job.ArgumentError("--machines", fmt.Sprintf("the catalogue has no type %q", m.Name), "known: "+strings.Join(names, ", "))
		default:
			m.Instance, m.Unit, m.Minimum = strings.TrimSuffix(m.Name, job.SpotEnd), 1, 60
		}
		if rent.Deadline > 0 {
			m.More = max(0, m.Limit-m.Count)
		}
		if m.Image == "" {
			m.Image = defaultImage
			if m.User == "" {
				m.User = defaultUser
			}
		}
	}
	return nil
}

// ask asks the provider what the types have, and what they cost at the spot price where nobody says so. The price on demand it does not tell by this API.
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
		if m.Has.CPUs == 0 {
			m.Has.CPUs = said.CPUs
		}
		if m.Has.Mem == 0 {
			m.Has.Mem = said.Mem
		}
		if m.Spot() && m.Price == 0 {
			if m.Price, err = c.spotPrice(ctx, m.Instance); err != nil {
				return err
			}
		}
		if m.Price == 0 && rent.Budget > 0 {
			return job.ArgumentError("--budget", "the price of "+m.Name+" is not known", "write it into a catalogue: --catalogue types.toml")
		}
		if least := bill(*m, 2*margin); rent.Budget > 0 && least > rent.Budget {
			return job.ArgumentError("--budget", fmt.Sprintf("one machine of type %s costs %.2f at least, and the budget is %.2f", m.Name, least, rent.Budget), "raise it, or name another type")
		}
	}
	return nil
}

// sight returns the machines as they would be.
func sight(at job.Time, rent *job.Rent) (driver.Observation, error) {
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
		s.Notes = append(s.Notes, fmt.Sprintf("%d machines are rented, %.2f an hour together", rent.Count(), hourly))
	}
	return s, nil
}
