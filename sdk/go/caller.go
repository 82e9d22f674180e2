package armature

import (
	"slices"

	"armature/sdk/go/internal/raw"
)

// User is who is acting.
type User struct {
	Name     string // the user's id; "Guest" without credentials
	FullName string
	Roles    []string
}

// Has reports whether the user has the role.
func (u User) Has(role string) bool { return slices.Contains(u.Roles, role) }

// Caller returns the user on whose behalf the method runs.
func Caller() (User, error) {
	var d Doc
	if err := finish(raw.CallerGet, request(`{`), &d); err != nil {
		return User{}, err
	}
	u := User{Name: d.String("user"), FullName: d.String("full_name")}
	roles, _ := d["roles"].([]any)
	for _, role := range roles {
		if name, ok := role.(string); ok {
			u.Roles = append(u.Roles, name)
		}
	}
	return u, nil
}
