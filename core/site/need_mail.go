package site

import "strings"

// needMail are the switches that do nothing without letters.
var needMail = []string{"sign_up", "login_with_code"}

// NeedMail are the settings of a configuration that are on and need letters, where it has
// no mail server to send them.
func NeedMail(c *Config) (on []string) {
	if server, ok := c.Get("mail"); ok && string(server) != "null" {
		return nil
	}
	for _, key := range needMail {
		value, _ := c.Get(key)
		if text := strings.TrimSpace(string(value)); text == "true" || text == "1" {
			on = append(on, key)
		}
	}
	return on
}
