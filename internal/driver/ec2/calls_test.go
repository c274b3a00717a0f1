package ec2

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"berth/internal/core/job"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/calls.txt anew")

// recorder is a server of EC2's API that notes each request and gives canned answers.
type recorder struct {
	text    strings.Builder
	answers map[string][]string // the next answers to an action
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	form, _ := url.ParseQuery(string(body))
	fmt.Fprintf(&r.text, "%s %s %s\n", req.Method, req.URL.Path, req.Header.Get("Content-Type"))
	for _, key := range slices.Sorted(maps.Keys(form)) {
		value := form.Get(key)
		if key == "StartTime" {
			value = "(now)"
		}
		fmt.Fprintf(&r.text, "  %s=%s\n", key, value)
	}
	action := form.Get("Action")
	if left := r.answers[action]; len(left) > 0 {
		_, _ = io.WriteString(w, left[0])
		r.answers[action] = left[1:]
	}
}

// answers are in the form of the examples in the reference of EC2's API.
var answers = map[string][]string{
	"DescribeInstances": {
		`<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r1</requestId><reservationSet><item>
  <reservationId>r-1</reservationId><instancesSet><item><instanceId>i-1</instanceId>
  <instanceState><code>16</code><name>running</name></instanceState><ipAddress>198.51.100.7</ipAddress>
  <privateIpAddress>10.0.0.7</privateIpAddress><instanceType>t3.small</instanceType>
  <amiLaunchIndex>1</amiLaunchIndex><launchTime>2026-01-02T03:04:05.000Z</launchTime>
  <tagSet><item><key>berth:owner</key><value>me</value></item>
  <item><key>berth:order</key><value>o1</value></item></tagSet>
  </item></instancesSet></item></reservationSet><nextToken>next</nextToken></DescribeInstancesResponse>`,
		`<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><reservationSet><item>
  <instancesSet><item><instanceId>i-2</instanceId>
  <instanceState><code>48</code><name>terminated</name></instanceState><stateReason><code>Server.SpotInstanceTermination</code>
  <message>Spot instance termination</message></stateReason><privateIpAddress>10.0.0.8</privateIpAddress></item>
  </instancesSet></item></reservationSet></DescribeInstancesResponse>`,
		`<DescribeInstancesResponse/>`,
	},
	"RunInstances": {`<RunInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><instancesSet>
  <item><instanceId>i-3</instanceId>
  <instanceState><code>0</code><name>pending</name></instanceState></item></instancesSet></RunInstancesResponse>`,
		`<RunInstancesResponse/>`},
	"TerminateInstances": {`<TerminateInstancesResponse/>`},
	"CreateTags":         {`<CreateTagsResponse><return>true</return></CreateTagsResponse>`},
	"DescribeInstanceTypes": {`<DescribeInstanceTypesResponse><instanceTypeSet><item><instanceType>t3.small</instanceType>
  <vCpuInfo><defaultVCpus>2</defaultVCpus><defaultCores>1</defaultCores></vCpuInfo>
  <memoryInfo><sizeInMiB>2048</sizeInMiB></memoryInfo></item>
  <item><instanceType>odd</instanceType></item>
  <item><instanceType>p4d.24xlarge</instanceType><gpuInfo><gpus><item><count>8</count><manufacturer>NVIDIA</manufacturer>
  <memoryInfo><sizeInMiB>40960</sizeInMiB></memoryInfo><name>A100</name></item></gpus></gpuInfo></item></instanceTypeSet></DescribeInstanceTypesResponse>`},
	"DescribeSpotPriceHistory": {`<DescribeSpotPriceHistoryResponse><spotPriceHistorySet>
  <item><spotPrice>0.004</spotPrice></item><item><spotPrice>0.0051</spotPrice></item>
  </spotPriceHistorySet></DescribeSpotPriceHistoryResponse>`},
}

// TestCalls compares all requests to the provider, and what is read from its answers, with testdata/calls.txt. The file was written
// with the provider's own library.
func TestCalls(t *testing.T) {
	r := &recorder{answers: maps.Clone(answers)}
	server := httptest.NewServer(r)
	defer server.Close()
	env := []string{"AWS_ENDPOINT_URL=" + server.URL, "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret"}
	c, err := connect(t.Context(), env, "eu-central-1")
	if err != nil {
		t.Fatal(err)
	}
	told := func(v any, err error) { fmt.Fprintf(&r.text, "-> %+v, %v\n\n", v, err) }
	told(c.find(t.Context(), map[string]string{tagOwner: "me & you"}))
	told(c.find(t.Context(), map[string]string{tagAlloc: ""}))
	small := job.Rented{Name: "small", Instance: "t3.small", Image: "ami-1"}
	told(c.rent(t.Context(), order{Token: "o1", Ranks: []int{0, 1}, Few: true}, small, map[string]string{tagOrder: "o1"}, "#cloud-config\n"))
	spot := job.Rented{Name: "small:spot", Instance: "t3.small", Image: "ami-1", Groups: []string{"sg-1", "sg-2"}, Subnet: "subnet-1"}
	told(c.rent(t.Context(), order{Token: "o2", Ranks: []int{0, 1}}, spot, map[string]string{tagPrice: "0.1 1 60"}, "é"))
	told(nil, c.stop(t.Context(), []string{"i-1", "i-2"}))
	told(c.learn(t.Context(), []string{"t3.small", "odd"}))
	told(c.spotPrice(t.Context(), "t3.small"))
	const path = "testdata/calls.txt"
	if *rewrite {
		if err := os.WriteFile(path, []byte(r.text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if r.text.String() != string(want) {
		t.Errorf("the calls are\n%s\nwant\n%s", r.text.String(), want)
	}
}
