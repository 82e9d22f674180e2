package auth

import (
	"context"
	"encoding/hex"

	"armature/core/document"
)

// Guess runs try, which checks the secret of somebody called name, unless too
// many checks of it from the same address have failed lately (TooManyRequests).
// An error that failed says is a wrong secret counts against the two together:
// whoever guesses at somebody's secret locks out nobody at another address. The
// settings are those of failed logins.
func (s *Service) Guess(ctx context.Context, what, name string, from Remote, try func() error, failed func(error) bool) error {
	culprit := hex.EncodeToString(s.secret.MAC(what, name+" "+network(from.Address)))
	if err := s.checkLocked(ctx, [2]string{culprit, culprit}); err != nil {
		return err
	}
	err := try()
	if err == nil || !failed(err) {
		return err
	}
	// Who hangs up before the answer has failed all the same.
	ctx = context.WithoutCancel(ctx)
	if countErr := s.writeAgain(ctx, func(tx document.Tx) error {
		if err := s.failures.add(ctx, tx, culprit); err != nil {
			return err
		}
		return s.failures.sweep(ctx, tx)
	}); countErr != nil {
		return countErr
	}
	return err
}
