package ec2

import (
	"cmp"
	"time"

	"berth/internal/core/job"
)

// instance is the provider's description of a machine.
type instance struct {
	ID       string    `xml:"instanceId"`
	State    string    `xml:"instanceState>name"`  // pending, running, shutting-down, terminated, stopping, stopped
	Reason   string    `xml:"stateReason>message"` // of the state, or ""
	Public   string    `xml:"ipAddress"`
	Private  string    `xml:"privateIpAddress"`
	Type     string    `xml:"instanceType"`
	Launched time.Time `xml:"launchTime"`
	Index    int       `xml:"amiLaunchIndex"` // in the order that rented it
	Tags     []tag     `xml:"tagSet>item"`
}

// tag is a tag of a machine.
type tag struct {
	Key   string `xml:"key"`
	Value string `xml:"value"`
}

// lives reports whether the machine may still cost money.
func (i instance) lives() bool { return i.State == "pending" || i.State == "running" }

// address returns where the machine can be reached, or "" if that is nowhere yet.
func (i instance) address() string { return cmp.Or(i.Public, i.Private) }

func (i instance) since() job.Time { return job.TimeOf(i.Launched) }

// tag returns the value of a tag, or "".
func (i instance) tag(key string) string {
	for _, t := range i.Tags {
		if t.Key == key {
			return t.Value
		}
	}
	return ""
}

// The answers of the API, with the elements that berth reads.
type (
	pageAnswer struct {
		Instances []instance `xml:"reservationSet>item>instancesSet>item"`
		Next      string     `xml:"nextToken"`
	}
	rentAnswer struct {
		Instances []instance `xml:"instancesSet>item"`
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
