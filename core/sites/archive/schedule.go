package archive

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"armature/core/backup"
	"armature/core/file"
	"armature/core/file/backend"
	"armature/core/file/s3"
	"armature/core/site"
	"armature/core/sites/registry"
	"armature/core/tenant"
)

// Schedule is how the archives of all sites are made by schedule, where a site's
// configuration does not say otherwise under "backup".
type Schedule struct {
	backup.Schedule

	// To is the folder, or the bucket as s3://BUCKET/PREFIX?endpoint=URL, in which
	// the archives are kept; empty: only those of sites that name a place are made.
	To string
	// Credentials are those of a bucket in To.
	Credentials struct{ AccessKey, SecretKey string }
	// Passphrase is what archives are sealed under. It is asked for each one.
	Passphrase func() (string, error)
	// Meter is told what came of each attempt; nil: nobody is.
	Meter Meter
}

// Meter counts.
type Meter interface {
	// Ended counts an attempt: the site, the state that is in its newest archive, how
	// long it took, the size of the archive, and what went wrong.
	Ended(name string, done time.Time, took time.Duration, bytes int64, err error)
	// Known notes when the newest archive of a site was made, and whether the last
	// attempt failed, wherever that was.
	Known(name string, done time.Time, failed bool)
	// Forget forgets a site.
	Forget(name string)
}

// of is how often archives of a site are made; ok is false where none are. A
// place of its own is not used while the site is paused: it is that of the original,
// which keeps archives of the same name there.
func (s *Schedule) of(c *site.Config) (_ backup.Schedule, ownPlace, ok bool, err error) {
	set, err := registry.BackupSettings(c)
	if err != nil {
		return backup.Schedule{}, false, false, err
	}
	schedule := set.Over(s.Schedule)
	ownPlace = set.Folder != "" || set.Bucket != nil
	return schedule, ownPlace, schedule.Every > 0 && (ownPlace || s.To != ""), nil
}

// openPlace opens where the archives of a site go, and tells in which folder they are
// made: data, unless they are put where they can be moved to.
func (s *Schedule) openPlace(t *tenant.Tenant, data string) (_ backup.Place, spool string, end func() error, err error) {
	set, err := registry.BackupSettings(t.Site.Config())
	if err != nil {
		return backup.Place{}, "", nil, err
	}
	p := backup.Place{Folder: t.Home().Folder, Site: t.Site.Name}
	folder, bucket := set.Folder, s3.Options{}
	switch to := s.To; {
	case set.Bucket != nil:
		bucket, _, err = s3.Parse(set.Bucket)
	case folder == "" && strings.HasPrefix(to, s3.Scheme):
		bucket, err = s3.ParseURL(to)
		bucket.AccessKey, bucket.SecretKey = s.Credentials.AccessKey, s.Credentials.SecretKey
	case folder == "":
		folder = to
	}
	if err != nil {
		return p, "", nil, err
	}
	var opened backend.Storage
	if folder == "" {
		if bucket.Prefix != "" && !strings.HasSuffix(bucket.Prefix, "/") {
			bucket.Prefix += "/"
		}
		opened, spool = s3.Open(bucket), data
	} else if opened, err = file.OpenDisk(folder); err != nil {
		return p, "", nil, err
	} else {
		spool = folder // what lies there is moved
	}
	p.Storage = opened
	return p, spool, opened.Close, nil
}

// Check refuses a place that there cannot be.
func (s *Schedule) Check() error {
	if !strings.HasPrefix(s.To, s3.Scheme) {
		return nil
	}
	_, err := s3.ParseURL(s.To)
	var wrong *url.Error
	if errors.As(err, &wrong) {
		return wrong.Err // the URL itself may hold a secret
	}
	return err
}

var errNoPassphrase = errors.New("there is no passphrase to seal backups under: set ARMATURE_BACKUP_PASSPHRASE, or --backup-passphrase-file")

func (s *Schedule) passphrase() (string, error) {
	if s.Passphrase == nil {
		return "", errNoPassphrase
	}
	text, err := s.Passphrase()
	if err == nil && text == "" {
		err = errNoPassphrase
	}
	return text, err
}
