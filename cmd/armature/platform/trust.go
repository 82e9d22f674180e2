package platform

import (
	"fmt"
	"strconv"
	"strings"

	"armature/cmd/armature/installation"
	"armature/cmd/armature/terminal"
	"armature/plugins/manifest"
	"armature/plugins/publisher"
)

// Trust reads what the operator says of plugins: whose are taken, and what they
// get that lie in folders.
func (o *Options) Trust(in *installation.Installation) error {
	for text := range strings.SplitSeq(in.Publishers, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		key, err := publisher.Key(text)
		if err != nil {
			return fmt.Errorf("--plugin-publishers: %w", err)
		}
		o.publishers = append(o.publishers, key)
	}
	var err error
	if o.folderLimits, err = parseLimits(in.FolderLimits); err != nil {
		return fmt.Errorf("--plugin-folder-limits: %w", err)
	}
	return nil
}

// parseLimits reads limits such as cpu_ms=1000,memory=67108864.
func parseLimits(text string) (l manifest.Limits, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return l, terminal.Misuse("%q: expected a limit and a whole number, such as cpu_ms=1000", part)
		}
		field := l.Field(name)
		if field == nil {
			return l, terminal.Misuse("there is no limit %q; there are %s", name, strings.Join(manifest.LimitNames(), ", "))
		}
		*field = n
	}
	return l, nil
}
