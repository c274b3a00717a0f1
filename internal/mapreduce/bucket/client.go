package bucket

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"berth/internal/core/job"
)

// made contains the clients of the process by their settings. They keep credentials and connections.
var made struct {
	mu      sync.Mutex
	clients map[settings]*s3.Client
}

// settings are the settings for S3 in the environment of a job. The SDK looks for those that are empty.
type settings struct{ id, secret, token, profile, region, endpoint string }

type settingsKey struct{}

// With returns a context for the objects of a job with this environment (NAME=VALUE). Its AWS_… variables have precedence over the settings of this machine, as the process
// that reads for a job may have been started earlier with another environment.
func With(ctx context.Context, env []string) context.Context {
	get := func(name string) string { return job.Getenv(env, name) }
	return context.WithValue(ctx, settingsKey{}, settings{id: get("AWS_ACCESS_KEY_ID"), secret: get("AWS_SECRET_ACCESS_KEY"), token: get("AWS_SESSION_TOKEN"),
		profile: get("AWS_PROFILE"), region: cmp.Or(get("AWS_REGION"), get("AWS_DEFAULT_REGION")), endpoint: cmp.Or(get("AWS_ENDPOINT_URL_S3"), get("AWS_ENDPOINT_URL"))})
}

// options returns the settings as options of the SDK.
func (s settings) options() []func(*config.LoadOptions) error {
	options := []func(*config.LoadOptions) error{config.WithRegion(s.region), config.WithSharedConfigProfile(s.profile), config.WithBaseEndpoint(s.endpoint)}
	if s.id != "" && s.secret != "" {
		options = append(options, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(s.id, s.secret, s.token)))
	}
	return options
}

// place is the name of an object, or a prefix of names, and the client with which it is reached.
type place struct {
	*s3.Client
	name        string
	bucket, key string
}

// at returns the place of a name for the settings of ctx.
func at(ctx context.Context, name string) (p place, err error) {
	p.name = name
	p.bucket, p.key = job.CutObject(name)
	made.mu.Lock()
	defer made.mu.Unlock()
	set, _ := ctx.Value(settingsKey{}).(settings)
	if p.Client = made.clients[set]; p.Client != nil {
		return p, nil
	}
	cfg, err := config.LoadDefaultConfig(ctx, set.options()...)
	switch {
	case err != nil:
		return p, setupError(name, "the settings for S3 cannot be read", err, "correct them")
	case cfg.Region == "":
		return p, setupError(name, "no region is set for S3", nil, "set AWS_REGION, or region in ~/.aws/config")
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return p, setupError(name, "there are no credentials for S3", err, "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE, or give the machine a role")
	}
	p.Client = s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.UsePathStyle = o.BaseEndpoint != nil // other servers than Amazon's rarely have a host name for each bucket
		o.DisableLogOutputChecksumValidationSkipped = true
	})
	if made.clients == nil {
		made.clients = map[settings]*s3.Client{}
	}
	made.clients[set] = p.Client
	return p, nil
}

func setupError(name, what string, err error, do string) error {
	return job.ConfigError(name, what, do).Because(err)
}

// answer returns the code and the message of the server in an error, if there are any.
func answer(err error) (code, message string) {
	if api := smithy.APIError(nil); errors.As(err, &api) {
		return api.ErrorCode(), api.ErrorMessage()
	}
	return "", ""
}

// failure returns the error of a request for an object. Its class says whether another attempt can help.
func failure(name, what string, err error) error {
	if err == nil || errors.As(err, new(*job.Error)) {
		return err
	}
	e := job.IOError(job.Transient, name, what, err)
	code, message := answer(err)
	if code == "" {
		return e
	}
	e.Err = errors.New(code + ": " + message)
	switch code {
	case "NoSuchBucket":
		e.Class, e.Do = job.User, "check the name of the bucket"
	case "NoSuchKey", "NotFound":
		e.Class, e.Err, e.Do = job.User, fs.ErrNotExist, "check the name, or submit the job again if the object was there when the job was planned"
	case "InvalidRange":
		e.Class, e.Do = job.User, "submit the job again when nothing writes to the object any more"
	case "AccessDenied", "Forbidden", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken":
		e.Class, e.Do = job.User, "use credentials that may do this"
	case "PermanentRedirect", "AuthorizationHeaderMalformed", "MovedPermanently":
		e.Class, e.Do = job.User, "set AWS_REGION to the region of the bucket"
	}
	return e
}
