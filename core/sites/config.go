package sites

import (
	"armature/core/egress"
	"armature/core/fault"
	"armature/core/file/backend"
	"armature/core/ratelimit"
	"armature/core/site"
)

// checkConfig refuses a configuration for what only those know who read it.
func checkConfig(c *site.Config) error {
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
