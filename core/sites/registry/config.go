package registry

import (
	"fmt"
	"path/filepath"

	"armature/core/backup"
	"armature/core/egress"
	"armature/core/fault"
	"armature/core/file/backend"
	"armature/core/file/s3"
	"armature/core/ratelimit"
	"armature/core/site"
)

// ParseConfig is site.ParseConfig with the checks of those who read the
// configuration.
func ParseConfig(text []byte) (*site.Config, error) {
	c, err := site.ParseConfig(text)
	if err == nil {
		err = CheckConfig(c)
	}
	return c, err
}

// CheckConfig refuses a configuration for what only those know who read it.
func CheckConfig(c *site.Config) error {
	if err := ratelimit.Check(c); err != nil {
		return err
	}
	if err := backend.Check(c); err != nil {
		return fault.Wrap(fault.Validation, "", err, "site configuration: %s", err)
	}
	if err := checkBackups(c); err != nil {
		return fault.Wrap(fault.Validation, "", err, "site configuration: %s", err)
	}
	if _, err := egress.ParseHosts(c.PrivateHosts()...); err != nil {
		return fault.Wrap(fault.Validation, "", err, "site configuration: allowed_private_hosts: %s", fault.From(err).Message)
	}
	return nil
}

// backupSetting is the site setting about backups.
const backupSetting = "backup"

// checkBackups refuses what a configuration says of backups where it cannot be done.
func checkBackups(c *site.Config) error {
	set, err := BackupSettings(c)
	if err == nil && set.Bucket != nil {
		_, _, err = s3.Parse(set.Bucket)
	}
	if err == nil && set.Folder != "" && !filepath.IsAbs(set.Folder) {
		err = fmt.Errorf("backup: the folder %q is no absolute path", set.Folder)
	}
	return err
}

// BackupSettings are what a site's configuration says of its archives.
func BackupSettings(c *site.Config) (backup.Settings, error) {
	raw, _ := c.Get(backupSetting)
	return backup.ParseSettings(raw)
}
