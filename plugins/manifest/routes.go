package manifest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"armature/core/apps/app"
)

// completeRoutes writes the methods of routes in full and compiles the patterns. It refuses
// routes of a method that is not listed, or that their verb may not call.
func (m *Manifest) completeRoutes() error {
	if len(m.Routes) == 0 {
		return nil
	}
	routes := make(map[string]string, len(m.Routes))
	for route, name := range m.Routes {
		if name != "" && !strings.HasPrefix(name, m.Name+".") {
			name = m.Name + "." + name
		}
		routes[route] = name
	}
	pages, err := app.Parse(routes)
	var of *app.RouteError
	if errors.As(err, &of) {
		return wrong(routeField(of.Route), "%s", of.Text)
	}
	for _, route := range slices.Sorted(maps.Keys(routes)) {
		if err := m.answers(route, routes[route]); err != nil {
			return err
		}
	}
	m.Routes, m.pages = routes, pages
	return nil
}

func (m *Manifest) answers(route, path string) error {
	i := slices.IndexFunc(m.Methods, func(x Method) bool { return x.Path == path })
	if i < 0 {
		return wrong(routeField(route), "expected the name of a method that is listed under methods, found %q", path)
	}
	verb := app.Verb(route)
	if verbs := m.Methods[i].Verbs; verbs != nil && !slices.Contains(verbs, verb) {
		return wrong(routeField(route), "the method %s is not called by %s: add it to its verbs", path, verb)
	}
	return nil
}

func routeField(route string) string { return fmt.Sprintf("routes[%q]", route) }
