package query

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
)

// repeat makes attempts until one succeeds, or fails for good. The retryer says which errors may pass, how long to wait, and,
// from all calls of the client, whether the provider accepts more of them.
func (c *Client) repeat(ctx context.Context, attempt func() error) error {
	repay := func(error) error { return nil } // gives the retryer its token for the last repetition back
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		sent, err := c.retryer.GetAttemptToken(ctx)
		if err != nil {
			return err
		}
		err = attempt()
		if wrong := errors.Join(repay(err), sent(err)); wrong != nil && err != nil {
			return errors.Join(err, wrong)
		}
		if err == nil || !c.retryer.IsErrorRetryable(err) {
			return err
		}
		if most := c.retryer.MaxAttempts(); most > 0 && n >= most {
			return &retry.MaxAttemptsError{Attempt: n, Err: err}
		}
		var refused error
		if repay, refused = c.retryer.GetRetryToken(ctx, err); refused != nil {
			return errors.Join(err, refused)
		}
		wait, refused := c.retryer.RetryDelay(n, err)
		if refused != nil {
			return errors.Join(err, refused)
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// pause waits, unless the context ends before.
func pause(ctx context.Context, wait time.Duration) error {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return &aws.RequestCanceledError{Err: ctx.Err()}
	}
}

// mostSkew is the difference of two clocks from which on it explains why a signature was refused.
const mostSkew = 4 * time.Minute

// unsigned are the codes of errors that a wrong clock of this machine can cause.
var unsigned = []string{"AuthFailure", "RequestTimeTooSkewed", "SignatureDoesNotMatch", "InvalidSignatureException",
	"AccessDeniedException"}

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
