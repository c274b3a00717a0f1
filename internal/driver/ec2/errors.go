package ec2

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/smithy-go"

	"berth/internal/core/job"
)

// code returns the provider's code of an error, or "" for an error from elsewhere.
func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// The provider's codes for a lack of machines, which may pass, for limits of the account, and for too many calls.
var (
	scarce    = []string{"InsufficientInstanceCapacity", "InsufficientHostCapacity", "InsufficientCapacity", "InsufficientFreeAddressesInSubnet", "SpotMaxPriceTooLow", "Unsupported"}
	beyond    = []string{"InstanceLimitExceeded", "VcpuLimitExceeded", "MaxSpotInstanceCountExceeded", "MaxSpotFleetRequestCountExceeded", "VolumeLimitExceeded"}
	throttled = []string{"RequestLimitExceeded", "Throttling", "ThrottlingException", "TooManyRequestsException"}
)

// classed returns a *job.Error for an error of the API, or nil for nil. doing is what the call was to do. Errors of class User need the user's action.
func classed(doing string, err error) error {
	if err == nil {
		return nil
	}
	e := job.IOError(job.Transient, "ec2", "cannot "+doing, err)
	word := code(err)
	var api smithy.APIError
	known := errors.As(err, &api)
	has := func(texts ...string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(word, text) })
	}
	says := ""
	switch {
	case errors.Is(err, context.Canceled):
	case slices.Contains(scarce, word):
		says, e.Do = ": the provider has no such machine available now", "name another type, or try again later"
	case slices.Contains(beyond, word):
		e.Class, says = job.User, ": the account's quota is used up"
		e.Do = "rent fewer machines, end others (berth machines list), or ask the provider for a higher quota"
	case slices.Contains(throttled, word):
		says = ": the provider accepts no more calls now"
	case known && has("Unauthorized", "AuthFailure", "InvalidClientTokenId", "Token"):
		e.Class, e.Do = job.User, "make the provider's own command line work on this machine: it needs keys in ~/.aws or in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and the right to run, tag, describe and terminate instances"
	case known && (api.ErrorFault() == smithy.FaultClient || !has("Internal", "Unavailable")):
		e.Class = job.User
	case strings.Contains(err.Error(), "failed to refresh cached credentials"), strings.Contains(err.Error(), "no EC2 IMDS role found"):
		e.Class, says = job.User, ": this machine has no keys of the provider"
		e.Do = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, as for the provider's own command line"
	}
	e.What += says
	return e
}
