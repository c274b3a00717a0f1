package ec2

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/smithy-go"

	"berth/internal/core/job"
	"berth/internal/driver"
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
	scarce    = strings.Fields("InsufficientInstanceCapacity InsufficientHostCapacity InsufficientCapacity InsufficientFreeAddressesInSubnet SpotMaxPriceTooLow Unsupported")
	beyond    = strings.Fields("InstanceLimitExceeded VcpuLimitExceeded MaxSpotInstanceCountExceeded MaxSpotFleetRequestCountExceeded VolumeLimitExceeded")
	throttled = strings.Fields("RequestLimitExceeded Throttling ThrottlingException TooManyRequestsException")
)

var (
	ofKeys     = driver.Says("Unauthorized|AuthFailure|Token")
	ofProvider = driver.Says("Internal|Unavailable")
	noKeys     = driver.Says("failed to refresh cached credentials|no EC2 IMDS role found")
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
	case known && ofKeys(word):
		e.Class, e.Do = job.User, "make the provider's own command line work on this machine: it needs keys in ~/.aws or in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and the right to run, tag, describe and terminate instances"
	case known && (api.ErrorFault() == smithy.FaultClient || !ofProvider(word)):
		e.Class = job.User
	case noKeys(err.Error()):
		e.Class, says = job.User, ": this machine has no keys of the provider"
		e.Do = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, as for the provider's own command line"
	}
	e.What += says
	return e
}
