package ec2

import (
	"cmp"
	"time"

	"berth/internal/core/job"
)

// instance is the provider's description of a machine.
type instance struct {
	ID      string
	State   string // pending, running, shutting-down, terminated, stopping, stopped
	Reason  string // of the state, or ""
	Address string // at which it can be reached, or "" if it has none yet
	Type    string
	Since   job.Time
	Index   int // in the order that rented it
	Tags    map[string]string
}

// lives reports whether the machine may still cost money.
func (i instance) lives() bool { return i.State == "pending" || i.State == "running" }

// The answers of the API, with the elements that berth reads.
type (
	pageAnswer struct {
		Instances []machineAnswer `xml:"reservationSet>item>instancesSet>item"`
		Next      string          `xml:"nextToken"`
	}
	rentAnswer struct {
		Instances []machineAnswer `xml:"instancesSet>item"`
	}
	machineAnswer struct {
		ID      string    `xml:"instanceId"`
		State   string    `xml:"instanceState>name"`
		Reason  string    `xml:"stateReason>message"`
		Public  string    `xml:"ipAddress"`
		Private string    `xml:"privateIpAddress"`
		Type    string    `xml:"instanceType"`
		Since   time.Time `xml:"launchTime"`
		Index   int       `xml:"amiLaunchIndex"`
		Tags    []struct {
			Key   string `xml:"key"`
			Value string `xml:"value"`
		} `xml:"tagSet>item"`
	}
	typesAnswer struct {
		Types []struct {
			Name string `xml:"instanceType"`
			CPUs int    `xml:"vCpuInfo>defaultVCpus"`
			MiB  int64  `xml:"memoryInfo>sizeInMiB"`
			GPUs []struct {
				Count int    `xml:"count"`
				Name  string `xml:"name"`
			} `xml:"gpuInfo>gpus>item"`
		} `xml:"instanceTypeSet>item"`
	}
	priceAnswer struct {
		Prices []string `xml:"spotPriceHistorySet>item>spotPrice"`
	}
)

func (d machineAnswer) instance() instance {
	i := instance{ID: d.ID, State: d.State, Reason: d.Reason, Address: cmp.Or(d.Public, d.Private), Type: d.Type,
		Since: job.Time(d.Since.UnixNano()), Index: d.Index, Tags: map[string]string{}}
	for _, t := range d.Tags {
		i.Tags[t.Key] = t.Value
	}
	return i
}
