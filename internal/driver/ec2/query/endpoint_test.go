package query

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
)

// TestEndpoint checks the address of the API for each kind of region and for each way to set it. The addresses are those of the
// provider's own library.
func TestEndpoint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	const text = `
[default]
services = mine
[services mine]
ec2 =
  endpoint_url = http://file.example/api
[profile all]
endpoint_url = http://all.example
[profile ignored]
endpoint_url = http://all.example
ignore_configured_endpoint_urls = true
[profile strict]
use_dualstack_endpoint = true
use_fips_endpoint = true
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const fips, dual, inFile = "AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT", "AWS_CONFIG_FILE"
	for _, c := range []struct {
		region, base string
		env          map[string]string
		want         string
	}{
		{region: "eu-central-1", want: "https://ec2.eu-central-1.amazonaws.com/"},
		{region: "cn-north-1", want: "https://ec2.cn-north-1.amazonaws.com.cn/"},
		{region: "us-iso-east-1", want: "https://ec2.us-iso-east-1.c2s.ic.gov/"},
		{region: "us-isob-east-1", want: "https://ec2.us-isob-east-1.sc2s.sgov.gov/"},
		{region: "us-isof-south-1", want: "https://ec2.us-isof-south-1.csp.hci.ic.gov/"},
		{region: "eu-isoe-west-1", want: "https://ec2.eu-isoe-west-1.cloud.adc-e.uk/"},
		{region: "eusc-de-east-1", want: "https://ec2.eusc-de-east-1.amazonaws.eu/"},
		{region: "us-gov-west-1", want: "https://ec2.us-gov-west-1.amazonaws.com/"},
		{region: "us-gov-west-1", env: map[string]string{fips: "true"}, want: "https://ec2.us-gov-west-1.amazonaws.com/"},
		{region: "us-gov-west-1", env: map[string]string{fips: "true", dual: "true"}, want: "https://ec2-fips.us-gov-west-1.api.aws/"},
		{region: "us-east-1", env: map[string]string{fips: "true"}, want: "https://ec2-fips.us-east-1.amazonaws.com/"},
		{region: "us-east-1", env: map[string]string{dual: "true"}, want: "https://ec2.us-east-1.api.aws/"},
		{region: "cn-north-1", env: map[string]string{dual: "true"}, want: "https://ec2.cn-north-1.api.amazonwebservices.com.cn/"},
		{region: "eu-central-1", base: "http://127.0.0.1:5000", want: "http://127.0.0.1:5000/"},
		{region: "eu-central-1", env: map[string]string{"AWS_ENDPOINT_URL": "http://all.example"}, want: "http://all.example/"},
		{region: "eu-central-1", env: map[string]string{"AWS_ENDPOINT_URL_EC2": "http://own.example/", "AWS_ENDPOINT_URL": "http://x"},
			want: "http://own.example/"},
		{region: "eu-central-1", env: map[string]string{inFile: file}, want: "http://file.example/api/"},
		{region: "eu-central-1", env: map[string]string{inFile: file, "AWS_PROFILE": "all"}, want: "http://all.example/"},
		{region: "eu-central-1", env: map[string]string{inFile: file, "AWS_PROFILE": "ignored"}, want: "https://ec2.eu-central-1.amazonaws.com/"},
		{region: "eu-west-1", env: map[string]string{inFile: file, "AWS_PROFILE": "strict"}, want: "https://ec2-fips.eu-west-1.api.aws/"},
		{region: "eu-west-1", env: map[string]string{inFile: file, fips: "true"}},
		{region: "no region"},
	} {
		t.Run(c.region, func(t *testing.T) {
			t.Setenv(inFile, os.DevNull)
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			settings, err := config.LoadDefaultConfig(t.Context(), config.WithRegion(c.region))
			if err != nil {
				t.Fatal(err)
			}
			if c.base != "" {
				settings.BaseEndpoint = aws.String(c.base)
			}
			if got, err := endpointOf(t.Context(), settings); got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("with %v it is %q, %v, want %q", c.env, got, err, c.want)
			}
		})
	}
}
