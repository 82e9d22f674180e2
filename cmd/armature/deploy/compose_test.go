package deploy

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// TestCompose reads compose.yaml as compose does, which refuses what it does not know.
func TestCompose(t *testing.T) {
	load := func(env ...string) (*types.Project, error) {
		o, err := cli.NewProjectOptions([]string{filepath.Join(top, "examples", "deploy", "compose.yaml")}, cli.WithEnv(env))
		if err != nil {
			t.Fatal(err)
		}
		return o.LoadProject(t.Context())
	}
	for _, env := range []string{"SECRET_KEY=k", "DATABASE_PASSWORD=p", ""} {
		if _, err := load(strings.Fields(env)...); err == nil {
			t.Errorf("it starts with %q alone", env)
		}
	}
	p, err := load("SECRET_KEY=k", "DATABASE_PASSWORD=p")
	if err != nil {
		t.Fatal(err)
	}
	server, database := p.Services["armature"], p.Services["database"]
	if _, err := filepath.Rel(server.Build.Context, filepath.Join(server.Build.Context, server.Build.Dockerfile)); err != nil {
		t.Error(err)
	}
	read(t, filepath.Base(server.Build.Dockerfile))
	u, err := url.Parse(*server.Environment["ARMATURE_DATABASE"])
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	if u.Hostname() != database.Name || u.User.Username() != *database.Environment["POSTGRES_USER"] || password != *database.Environment["POSTGRES_PASSWORD"] || password != "p" {
		t.Errorf("the server asks %s, the database is %v", u, database.Environment)
	}
	if len(server.Ports) != 1 || server.Ports[0].HostIP != "127.0.0.1" || server.Ports[0].Target != 8000 || len(database.Ports) != 0 {
		t.Errorf("open are %v and %v", server.Ports, database.Ports)
	}
	image := read(t, "Dockerfile")
	if !strings.Contains(image, "EXPOSE 8000") || !strings.Contains(image, "VOLUME "+server.Volumes[0].Target) {
		t.Errorf("the image has another port or folder than %v", server.Volumes)
	}
	for _, s := range p.Services {
		for _, v := range s.Volumes {
			if _, ok := p.Volumes[v.Source]; !ok {
				t.Errorf("what %s keeps in %s is not kept", s.Name, v.Target)
			}
		}
	}
	if !server.ReadOnly || !slices.Contains(server.CapDrop, "ALL") {
		t.Error("the server may do more than it needs")
	}
	if grace := time.Duration(*server.StopGracePeriod); grace < 50*time.Second {
		t.Errorf("it has %v to end", grace)
	}
}
