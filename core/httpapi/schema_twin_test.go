package httpapi_test

import (
	"fmt"
	"testing"

	"armature/core/sites/sitetest"
)

// TestDocTypesOfOtherProcesses: a DocType that another process has just made is there
// for whoever comes here next, whichever way.
func TestDocTypesOfOtherProcesses(t *testing.T) {
	ask := []func(c *sitetest.Client, name string) *sitetest.Reply{
		func(c *sitetest.Client, name string) *sitetest.Reply { return c.Get("/api/resource/" + name) },
		func(c *sitetest.Client, name string) *sitetest.Reply { return c.Get("/api/resource/" + name + "/one") },
		func(c *sitetest.Client, name string) *sitetest.Reply {
			return c.Delete("/api/resource/" + name + "/one")
		},
		func(c *sitetest.Client, name string) *sitetest.Reply {
			return c.Get("/api/method/framework.client.get_list", "doctype", name)
		},
		func(c *sitetest.Client, name string) *sitetest.Reply {
			return c.Get("/api/method/framework.client.get_count", "doctype", name)
		},
		func(c *sitetest.Client, name string) *sitetest.Reply {
			return c.Post("/api/method/framework.client.delete", obj{"doctype": name, "name": "one"})
		},
		func(c *sitetest.Client, name string) *sitetest.Reply {
			return c.Post("/api/method/framework.client.insert", obj{"doc": obj{"doctype": name, "name": "two", "title": "x"}})
		},
	}
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		twin := s.Twin(t)
		for i, ask := range ask {
			name := fmt.Sprint("New", i)
			newDocType(t, s.Admin, name, []obj{{"fieldname": "title", "fieldtype": "Data"}}, obj{"autoname": "Prompt"})
			s.Admin.Post("/api/resource/"+name, obj{"name": "one", "title": "it"}).OK(t)
			if got := ask(twin.Admin, name); got.Status/100 != 2 {
				t.Errorf("way %d: %d %s", i, got.Status, got.Body)
			}
		}
	})
}
