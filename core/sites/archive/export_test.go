package archive

import "context"

// Round makes the archives that are due now, as Run does again and again.
func (s *Scheduler) Round(ctx context.Context) { s.round(ctx) }
