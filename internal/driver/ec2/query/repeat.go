package query

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
)

// repeat makes attempts until one succeeds, or fails for good. The retryer says which errors may pass, how long to wait, and,
// from all calls of the client, whether the provider accepts more of them.
func (c *Client) repeat(ctx context.Context, attempt func() error) error {
	same := func(request any) any { return request }
	once := middleware.FinalizeHandlerFunc(func(context.Context, middleware.FinalizeInput) (out middleware.FinalizeOutput, of middleware.Metadata, err error) {
		return out, of, attempt()
	})
	_, _, err := retry.NewAttemptMiddleware(c.retryer, same).HandleFinalize(ctx, middleware.FinalizeInput{}, once)
	return err
}

// mostSkew is the difference of two clocks from which on it explains why a signature was refused.
const mostSkew = 4 * time.Minute

// unsigned are the codes of errors that a wrong clock of this machine can cause.
var unsigned = strings.Fields(`AuthFailure RequestTimeTooSkewed SignatureDoesNotMatch InvalidSignatureException
		AccessDeniedException`)

// skewed is an error that a wrong clock explains. Another attempt corrects the time of its signature.
type skewed struct{ error }

func (e skewed) Unwrap() error        { return e.error }
func (e skewed) RetryableError() bool { return true }

// checkClock marks an error as one that may pass if a wrong clock of this machine explains it, and notes the difference for later
// signatures. date is the time at the provider.
func (c *Client) checkClock(err error, date string) error {
	var said smithy.APIError
	there, unread := http.ParseTime(date)
	if unread != nil || !errors.As(err, &said) || !slices.Contains(unsigned, said.ErrorCode()) {
		return err
	}
	ahead := time.Until(there)
	if (ahead - time.Duration(c.ahead.Swap(int64(ahead)))).Abs() <= mostSkew {
		return err
	}
	return skewed{err}
}
