package pump_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"armature/core/document"
	"armature/core/identity"
	"armature/core/jobs/pump"
	"armature/core/method"
	"armature/core/query"
	"armature/core/sites"
	"armature/core/sites/datafolder"
	"armature/core/sites/sitetest"
	"armature/core/tenant"
)

var kills = flag.Int("kills", 10, "how often a process is killed under load")

const (
	victim     = "ARMATURE_PUMP_VICTIM" // says what a process that is killed works on
	victimSite = "killed.example.com"
)

// Processes that are killed while they enqueue and run jobs lose none that was
// committed, and none has its effects twice.
func TestKilled(t *testing.T) {
	for name, database := range map[string]func(testing.TB) string{"SQLite": func(testing.TB) string { return "" }, "PostgreSQL": sitetest.Postgres} {
		t.Run(name, func(t *testing.T) {
			var c sites.Config
			set, layout := sitetest.NewSet(t, func(config *sites.Config) {
				if url := database(t); url != "" {
					sitetest.OnDatabase(t, config, url)
				}
				c = *config
			})
			sitetest.Create(t, set, victimSite)
			set.Close(victimSite)
			for set.Tenant(victimSite) != nil {
				time.Sleep(time.Millisecond)
			}
			work := strings.Join([]string{layout.Data, c.Database, c.Registry}, "\n")
			for range *kills {
				ready, end := startVictim(t, work, "forever")
				<-ready
				time.Sleep(time.Duration(50+rand.IntN(500)) * time.Millisecond) // under load
				end()
			}
			ready, _ := startVictim(t, work, "drain")
			for range ready { // it closes its output when it has ended
			}
			on := sitetest.Open(t, set, victimSite)
			asked, ran := described(t, on, "asked "), described(t, on, "ran ")
			if len(asked) == 0 || !slices.Equal(asked, ran) {
				t.Errorf("%d jobs were asked for, %d have run: lost or twice %v", len(asked), len(ran), differ(asked, ran))
			}
			t.Logf("%d jobs, %d kills", len(asked), *kills)
		})
	}
}

func differ(a, b []string) (list []string) {
	count := map[string]int{}
	for _, s := range a {
		count[s]++
	}
	for _, s := range b {
		count[s]--
	}
	for s, n := range count {
		if n != 0 {
			list = append(list, fmt.Sprint(s, ":", n))
		}
	}
	return list
}

// described are what follows a prefix in the descriptions of the site's ToDos, sorted.
func described(t *testing.T, on *tenant.Tenant, prefix string) (list []string) {
	t.Helper()
	q, err := query.Parse(func(name string) any {
		return map[string]any{"fields": `["description"]`, "limit_page_length": "0"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	err = on.Store.Read(t.Context(), func(tx document.Tx) error {
		rows, err := on.Documents.As(identity.Root(), tx).AppendList(t.Context(), nil, "ToDo", q)
		for _, part := range strings.Split(string(rows), `"`) {
			if rest, is := strings.CutPrefix(part, prefix); is {
				list = append(list, rest)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// startVictim starts a process of this test; each line it writes comes from ready.
func startVictim(t *testing.T, work, mode string) (ready <-chan string, end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestVictim$", "-test.timeout", "5m")
	cmd.Env = append(os.Environ(), victim+"="+work+"\n"+mode)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	killed := false
	end = func() {
		if !killed {
			killed = true
			_ = cmd.Process.Kill() // it may have ended
			_ = cmd.Wait()
		}
	}
	t.Cleanup(end)
	return lines, end
}

// TestVictim is the process that is killed, where TestKilled runs it.
func TestVictim(t *testing.T) {
	work := strings.Split(os.Getenv(victim), "\n")
	if len(work) != 4 {
		return
	}
	c := sitetest.Config(t, datafolder.Layout{Data: work[0]})
	c.Database, c.Registry = work[1], work[2]
	c.Methods = [][]*method.Method{{{Path: "test.ran", Tier: method.Named, Func: func(ctx context.Context, call *method.Call) (any, error) {
		return nil, note(ctx, call.Documents, call.Caller, call.Tx, "ran "+call.Args.Text("n"))
	}}}}
	var set *sites.Set
	p := pump.New(config(&c, func() *sites.Set { return set }))
	c.Jobs = p
	set = sites.NewSet(c)
	defer set.CloseAll()
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	on := sitetest.Open(t, set, victimSite)
	fmt.Println("ready")
	if work[3] == "drain" {
		for {
			n, err := on.Jobs.Count(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	for i := range 100 { // or it would ask for more than it runs
		id := fmt.Sprintf("%d-%d", os.Getpid(), i)
		err := on.Store.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
			if err := note(t.Context(), on.Documents, identity.Root(), tx, "asked "+id); err != nil {
				return err
			}
			_, err := on.Jobs.Enqueue(t.Context(), tx, method.Deferred{Path: "test.ran", Args: args(map[string]any{"n": id}), Caller: identity.Root()})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	select {}
}

func note(ctx context.Context, documents *document.Service, as *identity.Caller, tx document.Tx, text string) error {
	_, err := documents.As(as, tx).Insert(ctx, "ToDo", map[string]any{"description": text})
	return err
}
