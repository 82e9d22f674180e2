package sites

import "context"

// BackupRounds makes what KeepBackups runs again and again, to be run by hand.
func (s *Set) BackupRounds() func(context.Context) { return newBackups(s).round }
