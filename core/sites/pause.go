package sites

import (
	"context"
	"fmt"
)

// Pause notes that nothing is to be sent from a site, and why, or with "" that it may
// again. Servers go by it within a second. It reports whether that was news.
func (s *Set) Pause(ctx context.Context, name, why string) (news bool, err error) {
	t, err := s.Open(ctx, name)
	if err != nil {
		return false, err
	}
	if news, err = t.Pause(ctx, why); err != nil {
		return false, fmt.Errorf("pause site %s: %w", name, err)
	}
	return news, nil
}
