// Package secret finds passwords and passphrases: typed, in a file, or in the
// environment. They are no arguments: those show in the list of processes and in the
// shell's history.
package secret

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"armature/cmd/armature/settings"
)

// BackupVariable holds the passphrase of backups.
const BackupVariable = settings.Prefix + "BACKUP_PASSPHRASE"

const BackupHelp = "The passphrase comes from " + BackupVariable + ", the first line of --passphrase-file,\nor standard input."

// Find finds a passphrase: in a file, in a variable of the environment, or
// from whoever types it. It is no argument: those show in the list of processes and
// in the shell's history.
func Find(in io.Reader, variable, file, prompt string) (string, error) {
	phrase, err := Given(variable, file)
	if err == nil && phrase == "" {
		phrase, err = Read(in, prompt)
	}
	if err == nil && phrase == "" {
		err = fmt.Errorf("the passphrase is empty: set %s", variable)
	}
	return phrase, err
}

// GivenForBackup is the one that nobody has to be asked for; empty: there is none.
func GivenForBackup(file string) (string, error) { return Given(BackupVariable, file) }

func Given(variable, file string) (string, error) {
	if file == "" {
		return os.Getenv(variable), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("passphrase: %w", err)
	}
	phrase, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSuffix(phrase, "\r"), nil
}

// Read reads one line: an argument would show in the list of processes
// and in the shell's history.
func Read(in io.Reader, prompt string) (string, error) {
	if f, ok := in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			fmt.Fprint(os.Stderr, prompt)
		}
	}
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}
