package ec2

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"berth/internal/core/job"
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
	api    *ec2.Client
	region string
}

// connect returns a client for a region. Keys, profile and endpoint are in the environment, as for the provider's command line. An empty region is
// the one that the environment names.
func connect(ctx context.Context, env []string, region string) (cloud, error) {
	options := []func(*config.LoadOptions) error{config.WithRetryer(func() aws.Retryer {
		return retry.NewAdaptiveMode(func(o *retry.AdaptiveModeOptions) {
			o.StandardOptions = append(o.StandardOptions, func(s *retry.StandardOptions) { s.MaxAttempts = 6 })
		})
	})}
	if region == "" {
		region = first(env, "AWS_REGION", "AWS_DEFAULT_REGION")
	}
	if region != "" {
		options = append(options, config.WithRegion(region))
	}
	if id := first(env, "AWS_ACCESS_KEY_ID"); id != "" {
		keys := credentials.NewStaticCredentialsProvider(id, first(env, "AWS_SECRET_ACCESS_KEY"), first(env, "AWS_SESSION_TOKEN"))
		options = append(options, config.WithCredentialsProvider(keys))
	} else if profile := first(env, "AWS_PROFILE"); profile != "" {
		options = append(options, config.WithSharedConfigProfile(profile))
	}
	if file := first(env, "AWS_CONFIG_FILE"); file != "" {
		options = append(options, config.WithSharedConfigFiles([]string{file}))
	}
	if file := first(env, "AWS_SHARED_CREDENTIALS_FILE"); file != "" {
		options = append(options, config.WithSharedCredentialsFiles([]string{file}))
	}
	if at := first(env, "AWS_ENDPOINT_URL_EC2", "AWS_ENDPOINT_URL"); at != "" {
		options = append(options, config.WithBaseEndpoint(at))
	}
	c, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return cloud{}, classed("read the configuration", err)
	}
	if c.Region == "" {
		return cloud{}, &job.Error{Class: job.User, Code: job.CodeConfig, Where: "--on " + Name, What: "no region is named", Do: `write region = "eu-central-1" into the catalogue, or set AWS_REGION`}
	}
	return cloud{api: ec2.NewFromConfig(c), region: c.Region}, nil
}

// first returns the value of the first of these variables that an environment has.
func first(env []string, names ...string) string {
	for _, name := range names {
		for _, kv := range env {
			if value, is := strings.CutPrefix(kv, name+"="); is && value != "" {
				return value
			}
		}
	}
	return ""
}

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

// find returns the machines with these tags. An empty value matches any value.
func (c cloud) find(ctx context.Context, tags map[string]string) ([]instance, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	in := &ec2.DescribeInstancesInput{MaxResults: aws.Int32(1000)}
	for key, value := range tags {
		if value == "" {
			in.Filters = append(in.Filters, types.Filter{Name: aws.String("tag-key"), Values: []string{key}})
		} else {
			in.Filters = append(in.Filters, types.Filter{Name: aws.String("tag:" + key), Values: []string{value}})
		}
	}
	var all []instance
	for pages := ec2.NewDescribeInstancesPaginator(c.api, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, classed("list rented machines", err)
		}
		for _, r := range page.Reservations {
			for _, i := range r.Instances {
				all = append(all, instanceOf(i))
			}
		}
	}
	return all, nil
}

func instanceOf(i types.Instance) instance {
	one := instance{ID: aws.ToString(i.InstanceId), Address: aws.ToString(i.PublicIpAddress), Type: string(i.InstanceType), Index: int(aws.ToInt32(i.AmiLaunchIndex)),
		Since: job.Time(aws.ToTime(i.LaunchTime).UnixNano()), Tags: map[string]string{}}
	if one.Address == "" {
		one.Address = aws.ToString(i.PrivateIpAddress)
	}
	if i.State != nil {
		one.State = string(i.State.Name)
	}
	if i.StateReason != nil {
		one.Reason = aws.ToString(i.StateReason.Message)
	}
	for _, t := range i.Tags {
		one.Tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return one
}

// rent rents as many machines as the order says, or fewer but at least one if the order accepts that. Because of the order's token, repeating a call rents nothing more.
func (c cloud) rent(ctx context.Context, o order, m job.Rented, tags map[string]string, userData string) ([]instance, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	most := int32(len(o.Ranks)) //nolint:gosec // bounded by parse
	least := most
	if o.Few {
		least = 1
	}
	in := &ec2.RunInstancesInput{
		MinCount: aws.Int32(least), MaxCount: aws.Int32(most), ClientToken: aws.String(o.Token),
		ImageId: aws.String(m.Image), InstanceType: types.InstanceType(m.Instance),
		InstanceInitiatedShutdownBehavior: types.ShutdownBehaviorTerminate,
		UserData:                          aws.String(base64.StdEncoding.EncodeToString([]byte(userData))),
		MetadataOptions:                   &types.InstanceMetadataOptionsRequest{HttpTokens: types.HttpTokensStateRequired},
		TagSpecifications:                 []types.TagSpecification{tagged(types.ResourceTypeInstance, tags), tagged(types.ResourceTypeVolume, tags)},
		SecurityGroupIds:                  m.Groups,
	}
	if m.Subnet != "" {
		in.SubnetId = aws.String(m.Subnet)
	}
	if m.Spot() {
		in.InstanceMarketOptions = &types.InstanceMarketOptionsRequest{MarketType: types.MarketTypeSpot, SpotOptions: &types.SpotMarketOptions{
			SpotInstanceType: types.SpotInstanceTypeOneTime, InstanceInterruptionBehavior: types.InstanceInterruptionBehaviorTerminate}}
		in.TagSpecifications = append(in.TagSpecifications, tagged(types.ResourceTypeSpotInstancesRequest, tags))
	}
	out, err := c.api.RunInstances(ctx, in)
	if err != nil {
		return nil, classed("rent "+m.Name, err)
	}
	var all []instance
	for _, i := range out.Instances {
		all = append(all, instanceOf(i))
	}
	return all, nil
}

func tagged(what types.ResourceType, tags map[string]string) types.TagSpecification {
	s := types.TagSpecification{ResourceType: what}
	for key, value := range tags {
		s.Tags = append(s.Tags, types.Tag{Key: aws.String(key), Value: aws.String(value)})
	}
	return s
}

// end ends machines. Machines that have ended already are no error.
func (c cloud) end(ctx context.Context, ids []string) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	_, err := c.api.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: ids})
	if code(err) == "InvalidInstanceID.NotFound" && len(ids) > 1 { // one of them is unknown, and the call has ended none
		for _, id := range ids {
			if err := c.end(ctx, []string{id}); err != nil {
				return err
			}
		}
		return nil
	}
	if code(err) == "InvalidInstanceID.NotFound" {
		return nil
	}
	return classed("end rented machines", err)
}

// stop ends machines that are not to be replaced.
func (c cloud) stop(ctx context.Context, ids []string) error {
	tag := types.Tag{Key: aws.String(tagStopped), Value: aws.String("yes")}
	if _, err := c.api.CreateTags(ctx, &ec2.CreateTagsInput{Resources: ids, Tags: []types.Tag{tag}}); err != nil {
		return classed("mark machines as stopped", err)
	}
	return c.end(ctx, ids)
}

// learn returns the resources of types of machines.
func (c cloud) learn(ctx context.Context, names []string) (map[string]job.Resources, error) {
	in := &ec2.DescribeInstanceTypesInput{}
	for _, n := range names {
		in.InstanceTypes = append(in.InstanceTypes, types.InstanceType(n))
	}
	out, err := c.api.DescribeInstanceTypes(ctx, in)
	if err != nil {
		return nil, classed("describe the types "+strings.Join(names, ", "), err)
	}
	has := map[string]job.Resources{}
	for _, t := range out.InstanceTypes {
		var r job.Resources
		if t.VCpuInfo != nil {
			r.CPUs = int(aws.ToInt32(t.VCpuInfo.DefaultVCpus))
		}
		if t.MemoryInfo != nil {
			r.Mem = aws.ToInt64(t.MemoryInfo.SizeInMiB) << 20
		}
		has[string(t.InstanceType)] = r
	}
	return has, nil
}

// spotPrice returns the highest present spot price for a type among the region's zones, or 0 if the provider tells none.
func (c cloud) spotPrice(ctx context.Context, name string) (float64, error) {
	out, err := c.api.DescribeSpotPriceHistory(ctx, &ec2.DescribeSpotPriceHistoryInput{InstanceTypes: []types.InstanceType{types.InstanceType(name)},
		ProductDescriptions: []string{"Linux/UNIX"}, StartTime: aws.Time(time.Now())})
	if err != nil {
		return 0, classed("find the spot price of "+name, err)
	}
	most := 0.0
	for _, p := range out.SpotPriceHistory {
		price, err := strconv.ParseFloat(aws.ToString(p.SpotPrice), 64)
		if err != nil {
			return 0, fmt.Errorf("spot price of %s: %w", name, err)
		}
		most = max(most, price)
	}
	return most, nil
}
