package query

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/ec2query"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// version of the API.
const version = "2016-11-15"

// Client calls the actions of one region.
type Client struct {
	region   string
	endpoint string
	keys     aws.CredentialsProvider
	http     aws.HTTPClient
	retryer  aws.Retryer
	signer   *v4.Signer
	ahead    atomic.Int64 // time.Duration by which the provider's clock is ahead of this machine's, if that matters
}

// New returns a client with these settings. They must name a region, and have keys.
func New(ctx context.Context, c aws.Config) (*Client, error) {
	endpoint, err := endpointOf(ctx, c)
	if err != nil {
		return nil, err
	}
	o := sts.NewFromConfig(c).Options()
	return &Client{region: c.Region, endpoint: endpoint, keys: c.Credentials, http: o.HTTPClient, retryer: o.Retryer, signer: v4.NewSigner()}, nil
}

// Call calls an action and decodes the answer into a struct. It repeats calls that fail for reasons that may pass, as the settings
// say. An error that the provider answers is a smithy.APIError.
func (c *Client) Call(ctx context.Context, action string, parameters url.Values, answer any) error {
	form := url.Values{"Action": {action}, "Version": {version}}
	maps.Copy(form, parameters)
	body := form.Encode()
	if err := c.repeat(ctx, func() error { return c.attempt(ctx, body, answer) }); err != nil {
		return &smithy.OperationError{ServiceID: service, OperationName: action, Err: err}
	}
	return nil
}

// attempt makes one call.
func (c *Client) attempt(ctx context.Context, body string, answer any) error {
	r, err := c.request(ctx, body)
	if err != nil {
		return err
	}
	got, err := c.http.Do(r)
	switch {
	case err != nil && ctx.Err() != nil:
		return &smithy.CanceledError{Err: ctx.Err()}
	case err != nil:
		return &smithyhttp.RequestSendError{Err: err}
	}
	defer got.Body.Close() // only read
	if got.StatusCode < 200 || got.StatusCode >= 300 {
		return c.checkClock(refusal(got), got.Header.Get("Date"))
	}
	if err := xml.NewDecoder(got.Body).Decode(answer); err != nil && !errors.Is(err, io.EOF) {
		return &smithy.DeserializationError{Err: err}
	}
	return nil
}

// request returns a signed request.
func (c *Client) request(ctx context.Context, body string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("User-Agent", "berth")
	keys, err := c.keys.Retrieve(ctx)
	if err != nil {
		return nil, &v4.SigningError{Err: err}
	}
	hash := sha256.Sum256([]byte(body))
	now := time.Now().Add(time.Duration(c.ahead.Load()))
	if err := c.signer.SignHTTP(ctx, keys, r, hex.EncodeToString(hash[:]), "ec2", c.region, now); err != nil {
		return nil, &v4.SigningError{Err: err}
	}
	return r, nil
}

// refusal returns the error of an answer that is not a success.
func refusal(got *http.Response) error {
	e := &awshttp.ResponseError{ResponseError: &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: got}}}
	said, err := ec2query.GetErrorResponseComponents(got.Body)
	if err != nil {
		e.Err = err
		return e
	}
	if said.Code == "" {
		said.Code = "UnknownError"
	}
	e.RequestID, e.Err = said.RequestID, &smithy.GenericAPIError{Code: said.Code, Message: said.Message}
	return e
}
