package serve

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"armature/cmd/armature/secret"
	"armature/cmd/armature/terminal"
	"armature/core/backup"
	"armature/core/sites/archive"
)

// backupFlags are the settings of serve about backups by schedule.
type backupFlags struct {
	to         string
	every      backup.Every
	keep       string
	passphrase string
}

func (b *backupFlags) flags(flags *pflag.FlagSet) {
	b.every = backup.Every(backup.DefaultEvery)
	flags.StringVar(&b.to, "backup-to", "", "folder, or s3://BUCKET/PREFIX?endpoint=URL, that takes an archive of every site by\nschedule; credentials of a bucket are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	flags.Var(&b.every, "backup-every", "how often an archive of each site is made, or never; the site setting backup\nsays otherwise for one")
	flags.StringVar(&b.keep, "backup-keep", backup.DefaultPolicy.String(), "how many archives of a site stay: the last ones, and the newest of each of so many\nhours, days, weeks, months, years")
	flags.StringVar(&b.passphrase, "backup-passphrase-file", "", "file with the passphrase of the archives; without it "+secret.BackupVariable)
}

// schedule is what the flags say. The passphrase is read for each archive, so that
// it can be changed while the server runs.
func (b *backupFlags) schedule() (*archive.Schedule, error) {
	keep, err := backup.ParsePolicy(b.keep)
	if err != nil {
		return nil, fmt.Errorf("--backup-keep: %w", err)
	}
	h := &archive.Schedule{
		Schedule: backup.Schedule{Every: b.every.Duration(), Keep: keep}, To: b.to,
		Passphrase: func() (string, error) { return secret.GivenForBackup(b.passphrase) },
	}
	h.Credentials.AccessKey, h.Credentials.SecretKey = os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	if err := h.Check(); err != nil {
		return nil, terminal.Misuse("--backup-to: %w", err)
	}
	if b.to == "" {
		return h, nil // sites may have places of their own
	}
	phrase, err := h.Passphrase()
	if err == nil && phrase == "" {
		err = terminal.Misuse("--backup-to: archives are sealed under a passphrase: set %s or --backup-passphrase-file", secret.BackupVariable)
	}
	return h, err
}
