package auth

import (
	"context"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
)

const (
	// retentionSetting is how many days an activity is kept.
	retentionSetting = "activity_log_retention_days"
	defaultRetention = 90
	// maxBatch is how many rows are cleared away in one transaction.
	maxBatch = 200
)

// Sweep clears away what is past its time: sessions, failures, links to reset a
// password, remembered browsers, codes by mail, answered questions for passkeys, keys that
// ended long ago, and activities older than the site keeps them. Several servers may do
// it at once.
func (s *Service) Sweep(ctx context.Context) error {
	for _, sweep := range []func(context.Context, document.Tx) error{
		s.sweepSessions, s.failures.sweep, s.resets.wishes.sweep, s.sweepResets, s.factors.wrong.sweep, s.sweepBrowsers, s.sweepChallenges, s.sweepSignUps, s.sweepLoginCodes, s.sweepKeys, s.sweepAddressChanges,
	} {
		if err := s.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error { return sweep(ctx, tx) }); err != nil {
			return err
		}
	}
	for {
		gone, err := s.sweepActivities(ctx)
		if err != nil || gone < maxBatch {
			return err
		}
	}
}

// sweepActivities clears one batch away and returns how many there were.
func (s *Service) sweepActivities(ctx context.Context) (gone int, err error) {
	dt := s.catalog.Schema().DocType(activityName)
	if dt == nil {
		return 0, nil
	}
	kept := time.Duration(min(s.number(retentionSetting, defaultRetention), 36500)) * 24 * time.Hour
	old := &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "name"),
		Where: doctype.Compare{
			Operand: doctype.Operand{Field: dt.Field("creation")}, Op: query.Lt,
			Value: doctype.FormatDatetime(s.now().Add(-kept)),
		},
		Length: maxBatch,
	}
	err = s.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		gone, err = s.sweepRows(ctx, tx, old)
		return err
	})
	return gone, err
}
