package ratelimit

import (
	"encoding/json"
	"strings"
	"time"

	"armature/core/fault"
)

// The keys of a site's configuration this package reads.
const (
	keyRateLimit  = "rate_limit"
	keyBudgets    = "budgets"
	keyCallLimits = "call_limits"
)

const (
	// maxSeconds keeps limits and windows far from where a Duration overflows.
	maxSeconds = 366 * 24 * 3600
	// minWindow is what Retry-After can say at least.
	minWindow = 1
	// minLimit is the unit of counters: less would be a limit of nothing.
	minLimit = 1e-6

	defaultCalls       = 5
	defaultCallSeconds = 86400
	maxCalls           = 1e9
)

// Settings is what this package reads of a configuration; *site.Config is one.
type Settings interface {
	Get(key string) (value json.RawMessage, ok bool)
	Location() *time.Location
}

// Check refuses a configuration whose limits are wrong with a ValidationError
// that names the key.
func Check(config Settings) error {
	_, err := newPlan("", config)
	return err
}

// plan is what a configuration says, ready for use.
type plan struct {
	site    *budget // nil: unlimited, as are the next ones
	user    *budget
	client  *budget
	agents  *budget
	methods patterns[*budget]
	plugins map[string]*budget // by name; "*" is for those that are not named
	calls   patterns[callLimit]
}

// idle reports whether no request can meet a limit.
func (p *plan) idle() bool {
	return p.site == nil && p.user == nil && p.client == nil && p.agents == nil && p.methods.empty() && p.calls.empty()
}

func newPlan(name string, config Settings) (*plan, error) {
	p := &plan{}
	r := reader{site: name, zone: config.Location()}
	for _, part := range []struct {
		key  string
		read func(*plan, value) error
	}{
		{keyRateLimit, r.rateLimit},
		{keyBudgets, r.budgets},
		{keyCallLimits, r.callLimits},
	} {
		text, ok := config.Get(part.key)
		v := value{name: part.key, text: text}
		if !ok || v.null() {
			continue
		}
		if err := part.read(p, v); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// reader turns the values of a configuration into parts of a plan.
type reader struct {
	site string
	zone *time.Location
}

func (r reader) rateLimit(p *plan, v value) (err error) {
	p.site, err = r.budget(v, "site")
	return err
}

// budget reads {limit, window}, both in seconds.
func (r reader) budget(v value, kind string) (*budget, error) {
	fields, err := v.object("limit", "window")
	if err != nil {
		return nil, err
	}
	limit, err := fields["limit"].seconds(minLimit)
	if err != nil {
		return nil, err
	}
	window, err := fields["window"].seconds(minWindow)
	if err != nil {
		return nil, err
	}
	return newBudget(r.site, kind, limit, window, r.zone), nil
}

func (r reader) budgets(p *plan, v value) error {
	fields, err := v.object("user?", "client?", "agents?", "methods?", "plugins?")
	if err != nil {
		return err
	}
	if f, ok := fields["user"]; ok {
		if p.user, err = r.budget(f, "user"); err != nil {
			return err
		}
	}
	if f, ok := fields["client"]; ok {
		if p.client, err = r.budget(f, "client"); err != nil {
			return err
		}
	}
	if f, ok := fields["agents"]; ok {
		if p.agents, err = r.budget(f, "agent"); err != nil {
			return err
		}
	}
	if f, ok := fields["methods"]; ok {
		if err := r.methodBudgets(p, f); err != nil {
			return err
		}
	}
	if f, ok := fields["plugins"]; ok {
		return r.pluginBudgets(p, f)
	}
	return nil
}

func (r reader) methodBudgets(p *plan, v value) error {
	return v.each(func(pattern string, f value) error {
		if err := checkPattern(f, pattern); err != nil {
			return err
		}
		b, err := r.budget(f, "method|"+pattern)
		if err != nil {
			return err
		}
		p.methods.add(pattern, b)
		return nil
	})
}

// pluginBudgets reads budgets by plugin; that of "*" is every other plugin's, each
// for itself.
func (r reader) pluginBudgets(p *plan, v value) error {
	p.plugins = make(map[string]*budget)
	return v.each(func(name string, f value) error {
		if name == "" {
			return f.wrong("needs the name of a plugin, or *")
		}
		b, err := r.budget(f, "plugin")
		if err != nil {
			return err
		}
		p.plugins[name] = b
		return nil
	})
}

// callLimits reads call limits by method: {limit, seconds, ip, user, argument,
// verbs}.
func (r reader) callLimits(p *plan, v value) error {
	return v.each(func(pattern string, f value) error {
		if err := checkPattern(f, pattern); err != nil {
			return err
		}
		c, err := f.callLimit()
		if err != nil {
			return err
		}
		p.calls.add(pattern, c)
		return nil
	})
}

func (v value) callLimit() (c callLimit, err error) {
	fields, err := v.object("limit?", "seconds?", "ip?", "user?", "argument?", "verbs?")
	if err != nil {
		return c, err
	}
	if c.Limit, err = fields["limit"].count(defaultCalls); err != nil {
		return c, err
	}
	c.Period = defaultCallSeconds * time.Second
	if f, ok := fields["seconds"]; ok {
		if c.Period, err = f.seconds(minWindow); err != nil {
			return c, err
		}
	}
	if c.user, err = fields["user"].truth(false); err != nil {
		return c, err
	}
	if c.argument, err = fields["argument"].word(); err != nil {
		return c, err
	}
	// Calls have to be somebody's: where nothing is said, an address's.
	if c.ip, err = fields["ip"].truth(!c.user && c.argument == ""); err != nil {
		return c, err
	}
	if !c.ip && !c.user && c.argument == "" {
		return c, v.wrong("needs one of ip, user and argument to count by")
	}
	c.verbs, err = fields["verbs"].words()
	for i, verb := range c.verbs {
		c.verbs[i] = strings.ToUpper(verb)
	}
	return c, err
}

// checkPattern refuses what is neither a dotted path nor the beginning of some,
// "prefix.*".
func checkPattern(v value, pattern string) error {
	path := strings.TrimSuffix(pattern, ".*")
	for part := range strings.SplitSeq(path, ".") {
		if part == "" || strings.ContainsAny(part, "* /|") {
			return fault.Invalid("", "%s: %q is neither the dotted path of a method nor prefix.*", v.parent(), pattern)
		}
	}
	return nil
}
