package auth

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"armature/core/auth/passkey"
	"armature/core/fault"
)

// partySetting is the domain that browsers bind the site's passkeys to, where it shall
// be another than that of the site's address.
const partySetting = "passkey_domain"

// noPasskeys is why a site has no passkeys at an address.
func noPasskeys(format string, args ...any) error { return fault.Invalid("", format, args...) }

// party is the site as browsers bind passkeys to it. origin is that of the page which
// asks; it counts on this device alone, where nothing is configured: who makes a request
// chooses its host. The id is the setting passkey_domain; or that of the first passkey
// of the site for as long as the site is there or below it, so that a site which moves
// from example.org to www.example.org keeps its keys; or the host of the site's address.
// Errors: Validation where there can be no passkeys.
func (s *Service) party(ctx context.Context, name, origin string) (passkey.Party, error) {
	p := passkey.Party{Name: name}
	configured := s.origins()
	if len(configured) == 0 {
		u, err := url.Parse(origin)
		if err != nil || !passkey.Local(strings.ToLower(u.Hostname())) {
			return p, noPasskeys("The site's configuration does not say where the site is: passkeys need its host_name")
		}
		p.ID, p.Origins = strings.ToLower(u.Hostname()), []string{origin}
		return p, nil
	}
	u, err := url.Parse(configured[0])
	if err != nil {
		return p, noPasskeys("The address of the site cannot be read")
	}
	host := strings.ToLower(u.Hostname())
	if p.ID = strings.ToLower(s.text(partySetting)); p.ID == "" {
		here, err := s.passkeysOnSite(ctx)
		if err != nil {
			return p, err
		}
		if p.ID = host; passkey.Serves(here.party, configured[0]) {
			p.ID = here.party
		}
	}
	for _, o := range configured {
		if passkey.Serves(p.ID, o) && !slices.Contains(p.Origins, o) {
			p.Origins = append(p.Origins, o)
		}
	}
	if len(p.Origins) == 0 {
		return p, noPasskeys("Passkeys need https and a host name at or below %s", p.ID)
	}
	return p, nil
}

// Lost is passkeys that cannot be used at the address the site has now.
type Lost struct {
	Party string // the domain they are bound to
	Count int
}

// LostPasskeys finds the passkeys that are bound to another domain than the site has.
func (s *Service) LostPasskeys(ctx context.Context) (lost []Lost, err error) {
	if len(s.origins()) == 0 {
		return nil, nil
	}
	now, err := s.party(ctx, "", "")
	if err != nil && fault.KindOf(err) != fault.Validation {
		return nil, err
	}
	counts, err := s.passkeyCounts(ctx)
	for party, n := range counts {
		if party != now.ID && !passkey.Local(party) || len(now.Origins) == 0 {
			lost = append(lost, Lost{party, n})
		}
	}
	slices.SortFunc(lost, func(a, b Lost) int { return strings.Compare(a.Party, b.Party) })
	return lost, err
}
