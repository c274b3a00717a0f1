package query

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
)

// service is the name of EC2 in settings and errors.
const service = "EC2"

// domain is where the regions are whose names begin with a prefix; dual also has addresses of IPv6.
type domain struct{ prefix, plain, dual string }

// domains are all domains. The first that fits counts.
var domains = []domain{
	{"cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn"},
	{"eusc-", "amazonaws.eu", "api.amazonwebservices.eu"},
	{"us-iso-", "c2s.ic.gov", "api.aws.ic.gov"},
	{"us-isob-", "sc2s.sgov.gov", "api.aws.scloud"},
	{"us-isof-", "csp.hci.ic.gov", "api.aws.hci.ic.gov"},
	{"eu-isoe-", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"},
	{"", "amazonaws.com", "api.aws"},
}

// endpointOf returns the address of the API: a configured one, or that of the region.
func endpointOf(ctx context.Context, c aws.Config) (string, error) {
	dual := aws.DualStackEndpointStateEnabled == setting(c, func(s dualStack) (aws.DualStackEndpointState, bool, error) {
		return s.GetUseDualStackEndpoint(ctx)
	})
	fips := aws.FIPSEndpointStateEnabled == setting(c, func(s fipsOnly) (aws.FIPSEndpointState, bool, error) {
		return s.GetUseFIPSEndpoint(ctx)
	})
	at := configured(ctx, c)
	switch {
	case at != "" && (dual || fips):
		return "", fmt.Errorf("the settings name the address %s, and demand one with FIPS or of both kinds of IP", at)
	case at != "":
		return strings.TrimSuffix(at, "/") + "/", nil
	case c.Region == "" || strings.Trim(c.Region, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		return "", fmt.Errorf("%q is not the name of a region", c.Region)
	}
	host, under := "ec2", domainOf(c.Region)
	if fips && (dual || !strings.HasPrefix(c.Region, "us-gov-")) { // the plain address of the latter keeps to FIPS
		host = "ec2-fips"
	}
	if dual {
		return "https://" + host + "." + c.Region + "." + under.dual + "/", nil
	}
	return "https://" + host + "." + c.Region + "." + under.plain + "/", nil
}

// domainOf returns the domain of a region.
func domainOf(region string) domain {
	for _, d := range domains {
		if strings.HasPrefix(region, d.prefix) {
			return d
		}
	}
	panic("the last prefix fits every region")
}

// configured returns the address of the API in the settings, or "". An address for EC2 has precedence over one for all services.
func configured(ctx context.Context, c aws.Config) string {
	all := aws.ToString(c.BaseEndpoint)
	_, given := os.LookupEnv("AWS_ENDPOINT_URL")
	if _, own := os.LookupEnv("AWS_ENDPOINT_URL_EC2"); given && !own {
		return all
	}
	if ignored, _, _ := config.GetIgnoreConfiguredEndpoints(ctx, c.ConfigSources); ignored {
		return all
	}
	own := setting(c, func(s endpoints) (string, bool, error) { return s.GetServiceBaseEndpoint(ctx, service) })
	return cmp.Or(own, all)
}

// What a source of settings (the environment, the file of settings, options of the program) can say about addresses.
type (
	endpoints interface {
		GetServiceBaseEndpoint(ctx context.Context, id string) (string, bool, error)
	}
	dualStack interface {
		GetUseDualStackEndpoint(ctx context.Context) (aws.DualStackEndpointState, bool, error)
	}
	fipsOnly interface {
		GetUseFIPSEndpoint(ctx context.Context) (aws.FIPSEndpointState, bool, error)
	}
)

// setting returns the value of the first source that has the setting.
func setting[Source, T any](c aws.Config, get func(Source) (T, bool, error)) (none T) {
	for _, source := range c.ConfigSources {
		if s, is := source.(Source); is {
			if value, found, err := get(s); found && err == nil {
				return value
			}
		}
	}
	return none
}
