package site

import (
	"github.com/spf13/cobra"

	"armature/core/sites"
)

func (g *group) pauseCommand() *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use:   "pause NAME",
		Short: "Keep a site from sending anything",
		Long: "Keep a site from sending anything: no letter leaves it, and no request of its plugins and Connected\n" +
			"Apps. Running servers go by it within a second; the site answers as before. A copy that comes out of\n" +
			"an archive begins like this.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return g.pause(cmd, args[0], why) },
	}
	cmd.Flags().StringVar(&why, "reason", "paused by an operator", "what site doctor and the log say")
	return cmd
}

func (g *group) resumeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "resume NAME",
		Short: "Let a site send again what it has to",
		Long: "Let a site send again what it has to: one that was paused, or that is a copy out of an archive. Make\n" +
			"sure that its original does not go on: both would send the same letters, and of two that renew the\n" +
			"token of a Connected App one loses it.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return g.pause(cmd, args[0], "") },
	}
}

// pause pauses a site for a reason, or with none lets it go on.
func (g *group) pause(cmd *cobra.Command, name, why string) error {
	set, err := g.NewSet(sites.Config{})
	if err != nil {
		return err
	}
	defer set.CloseAll()
	news, err := set.Pause(cmd.Context(), name, why)
	if err != nil {
		return err
	}
	said := map[string]any{"name": name, "paused": why != "", "changed": news}
	switch {
	case !news && why == "":
		return g.Say(said, "site %s was not paused", name)
	case !news:
		return g.Say(said, "site %s is paused already", name)
	case why == "":
		return g.Say(said, "site %s sends again what it has to", name)
	}
	return g.Say(said, "nothing is sent from site %s until site resume", name)
}
