package ec2

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"berth/internal/core/job"
	"berth/internal/driver/ec2/query"
	"berth/internal/sys/gpus"
)

// Tags of rented machines.
const (
	tagOwner   = "berth:owner"      // the state folder's name
	tagAlloc   = "berth:allocation" // the owner's allocation
	tagOrder   = "berth:order"      // the call that rented it (order)
	tagPurpose = "berth:job"        // name of the first job for which it was rented
	tagType    = "berth:type"       // the user's name of the type
	tagPrice   = "berth:price"      // price of an hour, unit and minimum in seconds, separated by blanks
	tagStopped = "berth:stopped"    // the user has ended it and wants no other in its place
)

// callTime is the longest time for one call of the API with all its retries.
const callTime = 2 * time.Minute

// cloud is a client for one region of the provider.
type cloud struct {
	api    *query.Client
	region string
}

// connect returns a client for a region. Keys, profile and endpoint are in the environment, as for the provider's command line. An empty region is
// the one that the environment names.
func connect(ctx context.Context, env []string, region string) (cloud, error) {
	get := func(name string) string { return job.Getenv(env, name) }
	c, err := config.LoadDefaultConfig(ctx, func(o *config.LoadOptions) error {
		o.Retryer = func() aws.Retryer {
			return retry.NewAdaptiveMode(func(o *retry.AdaptiveModeOptions) {
				o.StandardOptions = append(o.StandardOptions, func(s *retry.StandardOptions) { s.MaxAttempts = 6 })
			})
		}
		o.Region = cmp.Or(region, get("AWS_REGION"), get("AWS_DEFAULT_REGION"))
		o.BaseEndpoint = cmp.Or(get("AWS_ENDPOINT_URL_EC2"), get("AWS_ENDPOINT_URL"))
		if id := get("AWS_ACCESS_KEY_ID"); id != "" {
			o.Credentials = credentials.NewStaticCredentialsProvider(id, get("AWS_SECRET_ACCESS_KEY"), get("AWS_SESSION_TOKEN"))
		} else {
			o.SharedConfigProfile = get("AWS_PROFILE")
		}
		if file := get("AWS_CONFIG_FILE"); file != "" {
			o.SharedConfigFiles = []string{file}
		}
		if file := get("AWS_SHARED_CREDENTIALS_FILE"); file != "" {
			o.SharedCredentialsFiles = []string{file}
		}
		return nil
	})
	if err != nil {
		return cloud{}, classed("read the configuration", err)
	}
	if c.Region == "" {
		return cloud{}, job.ConfigError("--on "+Name, "no region is named", `write region = "eu-central-1" into the catalogue, or set AWS_REGION`)
	}
	api, err := query.New(ctx, c)
	if err != nil {
		return cloud{}, job.ConfigError("--on "+Name, "the provider's address is unknown", "correct the region, or the settings").Because(err)
	}
	return cloud{api: api, region: c.Region}, nil
}

// call calls an action, which may take callTime. doing is what the call is to do, for errors.
func (c cloud) call(ctx context.Context, doing, action string, form url.Values, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return classed(doing, c.api.Call(ctx, action, form, answer))
}

// find returns the machines with these tags. An empty value matches any value.
func (c cloud) find(ctx context.Context, tags map[string]string) (all []instance, err error) {
	form := url.Values{"MaxResults": {"1000"}}
	for i, key := range slices.Sorted(maps.Keys(tags)) {
		filter, name, value := fmt.Sprintf("Filter.%d.", i+1), "tag:"+key, tags[key]
		if value == "" {
			name, value = "tag-key", key
		}
		form.Set(filter+"Name", name)
		form.Set(filter+"Value.1", value)
	}
	for {
		var page pageAnswer
		if err := c.call(ctx, "list rented machines", "DescribeInstances", form, &page); err != nil {
			return nil, err
		}
		if all = append(all, page.Instances...); page.Next == "" {
			return all, nil
		}
		form.Set("NextToken", page.Next)
	}
}

// rent rents as many machines as the order says, or fewer but at least one if the order accepts that. Because of the order's token,
// repeating a call rents nothing more.
func (c cloud) rent(ctx context.Context, o order, m job.Rented, tags map[string]string, userData string) ([]instance, error) {
	most := len(o.Ranks)
	least := most
	if o.Few {
		least = 1
	}
	form := url.Values{"MinCount": {strconv.Itoa(least)}, "MaxCount": {strconv.Itoa(most)}, "ClientToken": {o.Token},
		"ImageId": {m.Image}, "InstanceType": {m.Instance},
		"InstanceInitiatedShutdownBehavior": {"terminate"},
		"UserData":                          {base64.StdEncoding.EncodeToString([]byte(userData))},
		"MetadataOptions.HttpTokens":        {"required"},
	}
	list(form, "SecurityGroupId", m.Groups)
	if m.Subnet != "" {
		form.Set("SubnetId", m.Subnet)
	}
	tagged := []string{"instance", "volume"}
	if m.Spot() {
		form.Set("InstanceMarketOptions.MarketType", "spot")
		form.Set("InstanceMarketOptions.SpotOptions.SpotInstanceType", "one-time")
		form.Set("InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior", "terminate")
		tagged = append(tagged, "spot-instances-request")
	}
	for i, what := range tagged {
		specification := fmt.Sprintf("TagSpecification.%d.", i+1)
		form.Set(specification+"ResourceType", what)
		addTags(form, specification, tags)
	}
	var out rentAnswer
	err := c.call(ctx, "rent "+m.Name, "RunInstances", form, &out)
	return out.Instances, err
}

// list adds a list of values to a form.
func list(form url.Values, name string, values []string) {
	for i, v := range values {
		form.Set(fmt.Sprintf("%s.%d", name, i+1), v)
	}
}

// addTags adds tags to a form; before is what their names begin with.
func addTags(form url.Values, before string, tags map[string]string) {
	for i, key := range slices.Sorted(maps.Keys(tags)) {
		one := fmt.Sprintf("%sTag.%d.", before, i+1)
		form.Set(one+"Key", key)
		form.Set(one+"Value", tags[key])
	}
}

// end ends machines. Machines that have ended already are no error.
func (c cloud) end(ctx context.Context, ids []string) error {
	form := url.Values{}
	list(form, "InstanceId", ids)
	err := c.call(ctx, "end rented machines", "TerminateInstances", form, &struct{}{})
	if code(err) != "InvalidInstanceID.NotFound" {
		return err
	}
	if len(ids) > 1 { // one of them is unknown, and the call has ended none
		for _, id := range ids {
			if err := c.end(ctx, []string{id}); err != nil {
				return err
			}
		}
	}
	return nil
}

// stop ends machines that are not to be replaced.
func (c cloud) stop(ctx context.Context, ids []string) error {
	form := url.Values{}
	list(form, "ResourceId", ids)
	addTags(form, "", map[string]string{tagStopped: "yes"})
	if err := c.call(ctx, "mark machines as stopped", "CreateTags", form, &struct{}{}); err != nil {
		return err
	}
	return c.end(ctx, ids)
}

// learn returns the resources of types of machines.
func (c cloud) learn(ctx context.Context, names []string) (map[string]job.Resources, error) {
	form := url.Values{}
	list(form, "InstanceType", names)
	var out typesAnswer
	if err := c.call(ctx, "describe the types "+strings.Join(names, ", "), "DescribeInstanceTypes", form, &out); err != nil {
		return nil, err
	}
	has := map[string]job.Resources{}
	for _, t := range out.Types {
		r := job.Resources{CPUs: t.CPUs, Mem: t.MiB << 20}
		if len(t.GPUs) > 0 { // no type has GPUs of several models
			r.GPUs, r.GPUType = t.GPUs[0].Count, gpus.TypeOf(t.GPUs[0].Name)
		}
		has[t.Name] = r
	}
	return has, nil
}

// spotPrice returns the highest present spot price for a type among the region's zones, or 0 if the provider tells none.
func (c cloud) spotPrice(ctx context.Context, name string) (float64, error) {
	form := url.Values{"InstanceType.1": {name}, "ProductDescription.1": {"Linux/UNIX"}, "StartTime": {time.Now().UTC().Format(time.RFC3339)}}
	var out priceAnswer
	if err := c.call(ctx, "find the spot price of "+name, "DescribeSpotPriceHistory", form, &out); err != nil {
		return 0, err
	}
	most := 0.0
	for _, p := range out.Prices {
		price, err := strconv.ParseFloat(p, 64)
		if err != nil {
			return 0, fmt.Errorf("spot price of %s: %w", name, err)
		}
		most = max(most, price)
	}
	return most, nil
}
