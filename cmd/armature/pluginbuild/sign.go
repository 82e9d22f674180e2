package pluginbuild

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"armature/cmd/armature/outfile"
	"armature/cmd/armature/secret"
	"armature/cmd/armature/settings"
	"armature/plugins/bundle"
	"armature/plugins/publisher"
)

// signingVariable holds the passphrase of the key that plugins are signed with.
const signingVariable = settings.Prefix + "SIGNING_PASSPHRASE"

const signingHelp = "The passphrase comes from " + signingVariable + ", the first line of --passphrase-file,\nor standard input."

func (g *group) keygenCommand() *cobra.Command {
	var file, passphrase string
	var open bool
	cmd := &cobra.Command{
		Use:   "keygen [FILE]",
		Short: "Make the key that plugins are signed with",
		Long: "Make the key that plugins are signed with, as minisign does: FILE is the secret key, readable for\n" +
			"its owner alone and sealed under a passphrase, FILE with .pub for .key the public one, which is shown to whoever\n" +
			"is to trust it. Files that are there are never overwritten.\n" + signingHelp,
		Example: "  armature plugin keygen acme.key",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file = "publisher.key"; len(args) == 1 {
				file = args[0]
			}
			public := strings.TrimSuffix(file, ".key") + ".pub"
			for _, path := range []string{file, public} {
				if err := outfile.Free(path); err != nil {
					return err
				}
			}
			phrase := ""
			if !open {
				var err error
				if phrase, err = secret.Find(cmd.InOrStdin(), signingVariable, passphrase, "Passphrase for the new key: "); err != nil {
					return err
				}
			}
			return g.keygen(file, public, phrase)
		},
	}
	cmd.Flags().BoolVar(&open, "no-passphrase", false, "do not seal the secret key: whoever reads the file can sign")
	cmd.Flags().StringVar(&passphrase, "passphrase-file", "", "file with the passphrase")
	return cmd
}

func (g *group) keygen(file, public, passphrase string) error {
	private, key, err := publisher.Generate(passphrase)
	if err != nil {
		return err
	}
	if err := outfile.Create(file, private, 0o600); err != nil {
		return err
	}
	if err := outfile.Create(public, key, 0o644); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	text, err := publisher.Key(string(key))
	if err != nil {
		return err
	}
	return g.Say(map[string]any{"secret": file, "public": public, "publisher": text}, "%s\nthe secret key is in %s, the public one in %s", text, file, public)
}

func (g *group) signCommand() *cobra.Command {
	var key, output, passphrase string
	cmd := &cobra.Command{
		Use:   "sign FILE",
		Short: "Sign a plugin",
		Long: "Sign a plugin with the key of `plugin keygen` or of minisign. The signature is over its name, its\n" +
			"version and all that it is made of, and lies in the file itself. A directory and a script are\n" +
			"written as the one file that they are installed as.\n" + signingHelp,
		Example: "  armature plugin sign shop.wasm --key acme.key",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				output = args[0]
				if info, err := os.Stat(args[0]); err != nil {
					return err
				} else if info.IsDir() || bundle.IsScript(args[0]) {
					clean := filepath.Clean(args[0])
					output = strings.TrimSuffix(clean, filepath.Ext(clean)) + ".wasm"
					if info.IsDir() {
						output = clean + ".wasm"
					}
				}
			}
			private, err := g.signingKey(cmd.InOrStdin(), key, passphrase)
			if err != nil {
				return err
			}
			whole, err := bundle.Whole(args[0])
			if err != nil {
				return err
			}
			signed, err := bundle.Sign(whole, private)
			if err != nil {
				return err
			}
			b, err := bundle.Parse(signed)
			if err != nil {
				return err
			}
			if err := b.Signature.Err(); err != nil {
				return err
			}
			if err := outfile.Replace(output, signed); err != nil {
				return err
			}
			return g.Say(map[string]any{"name": b.Manifest.Name, "version": b.Manifest.Version, "file": output, "hash": b.Hash, "publisher": b.Signature.Key},
				"signed %s %s: %s\npublisher %s", b.Manifest.Name, b.Manifest.Version, output, b.Signature.Key)
		},
	}
	cmd.Flags().StringVar(&key, "key", "publisher.key", "file with the secret key")
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write; without it FILE itself")
	cmd.Flags().StringVar(&passphrase, "passphrase-file", "", "file with the passphrase")
	return cmd
}

// signingKey reads a secret key, which nobody but its owner may be able to read.
func (g *group) signingKey(in io.Reader, path, passphrase string) (publisher.Secret, error) {
	info, err := os.Stat(path)
	if err != nil {
		return publisher.Secret{}, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return publisher.Secret{}, fmt.Errorf("%s can be read by others than its owner: chmod 600 it, and think of who may have", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return publisher.Secret{}, err
	}
	phrase := ""
	if publisher.Encrypted(text) {
		if phrase, err = secret.Find(in, signingVariable, passphrase, "Passphrase of the key: "); err != nil {
			return publisher.Secret{}, err
		}
	}
	private, err := publisher.Open(text, phrase)
	if err != nil {
		return publisher.Secret{}, fmt.Errorf("%s: %w", path, err)
	}
	return private, nil
}
