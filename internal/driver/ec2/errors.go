package ec2

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/smithy-go"

	"berth/internal/job"
)

// code returns the provider's word for an error, empty where it comes from elsewhere.
func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// Words of the provider for what may be otherwise in a while, and for what the account does not allow.
var (
	scarce    = []string{"InsufficientInstanceCapacity", "InsufficientHostCapacity", "InsufficientCapacity", "InsufficientFreeAddressesInSubnet", "SpotMaxPriceTooLow", "Unsupported"}
	beyond    = []string{"InstanceLimitExceeded", "VcpuLimitExceeded", "MaxSpotInstanceCountExceeded", "MaxSpotFleetRequestCountExceeded", "VolumeLimitExceeded"}
	throttled = []string{"RequestLimitExceeded", "Throttling", "ThrottlingException", "TooManyRequestsException"}
)

// classed returns a *job.Error of what the API answered to an attempt to do something, nil for nil. Those of class User do not go away by themselves.
func classed(doing string, err error) error {
	if err == nil {
		return nil
	}
	e := &job.Error{Class: job.Transient, Code: job.CodeIO, Where: "ec2", What: "cannot " + doing, Err: err}
	word := code(err)
	var api smithy.APIError
	known := errors.As(err, &api)
	switch {
	case errors.Is(err, context.Canceled):
	case slices.Contains(scarce, word):
		e.What = "cannot " + doing + ": the provider has no such machine to give now"
		e.Do = "name another type, or try again later"
	case slices.Contains(beyond, word):
		e.Class, e.What = job.User, "cannot "+doing+": the account's quota is used up"
		e.Do = "rent fewer, end others (berth machines list), or have the provider raise the quota"
	case slices.Contains(throttled, word):
		e.What = "cannot " + doing + ": the provider answers no more calls now"
	case known && (strings.Contains(word, "Unauthorized") || strings.Contains(word, "AuthFailure") || strings.Contains(word, "InvalidClientTokenId") || strings.Contains(word, "Token")):
		e.Class, e.Do = job.User, "see to it that the provider's own command line works from here: keys in ~/.aws or in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and the right to run, tag, describe and terminate instances"
	case known && api.ErrorFault() == smithy.FaultClient, known && !strings.Contains(word, "Internal") && !strings.Contains(word, "Unavailable"):
		e.Class = job.User
	case strings.Contains(err.Error(), "failed to refresh cached credentials"), strings.Contains(err.Error(), "no EC2 IMDS role found"):
		e.Class, e.What = job.User, "cannot "+doing+": no keys of the provider are known here"
		e.Do = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, as for the provider's own command line"
	}
	return e
}
