package query

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// service is the name of EC2 in settings and errors.
const service = "EC2"

// endpointOf returns the address of the API: a configured one, or that of the region. Where the regions of each partition are, the library tells
// with its packages of services only. It links that of STS, which gives keys, and whose addresses differ from those of EC2 by the name alone.
func endpointOf(ctx context.Context, c aws.Config) (string, error) {
	kind := sts.NewFromConfig(c).Options().EndpointOptions
	of := sts.EndpointParameters{Region: &c.Region,
		UseDualStack: aws.Bool(kind.UseDualStackEndpoint == aws.DualStackEndpointStateEnabled),
		UseFIPS:      aws.Bool(kind.UseFIPSEndpoint == aws.FIPSEndpointStateEnabled)}
	from, to := "//sts", "//ec2"
	if at := configured(ctx, c); at != "" {
		of.Endpoint, from = &at, to
	}
	if strings.Trim(c.Region, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return "", fmt.Errorf("%q is not the name of a region", c.Region)
	}
	found, err := sts.NewDefaultEndpointResolverV2().ResolveEndpoint(ctx, of)
	if err != nil {
		return "", err
	}
	return strings.Replace(strings.TrimSuffix(found.URI.String(), "/")+"/", from, to, 1), nil
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
	own := ""
	for _, source := range c.ConfigSources {
		if s, is := source.(interface {
			GetServiceBaseEndpoint(ctx context.Context, id string) (string, bool, error)
		}); is && own == "" {
			own, _, _ = s.GetServiceBaseEndpoint(ctx, service)
		}
	}
	return cmp.Or(own, all)
}
