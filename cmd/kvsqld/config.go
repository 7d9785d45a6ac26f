package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// configure fills the flags that the command line left alone from the
// environment and the configuration file.
func configure(cmd *cobra.Command) error {
	file := map[string]string{}
	name, _ := cmd.Flags().GetString("config")
	if name == "" {
		name = os.Getenv("KVSQLD_CONFIG")
	}
	if name != "" {
		var err error
		if file, err = readConfig(name); err != nil {
			return err
		}
	}
	var first error
	used := map[string]bool{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		used[f.Name] = true
		if f.Changed || first != nil {
			return
		}
		v, ok := os.LookupEnv("KVSQLD_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")))
		from := "environment"
		if !ok {
			v, ok = file[f.Name]
			from = name
		}
		if !ok {
			return
		}
		if err := cmd.Flags().Set(f.Name, v); err != nil {
			first = fmt.Errorf("%s: --%s: %w", from, f.Name, err)
		}
	})
	return first
}

// readConfig reads lines "flag = value"; # starts a comment.
func readConfig(name string) (map[string]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string]string{}
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		k, v, ok := strings.Cut(line, "=")
		if !ok {
			return nil, fmt.Errorf("%s:%d: expected flag = value", name, n)
		}
		out[strings.TrimSpace(k)] = strings.Trim(strings.TrimSpace(v), `"`)
	}
	return out, sc.Err()
}

// parseSize reads a number of bytes: 64MB, 1GB, 512kB, 4096.
func parseSize(s string) (int64, error) {
	units := []struct {
		suffix string
		bytes  int64
	}{{"TB", 1 << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}, {"KB", 1 << 10}, {"B", 1}}
	num, mul := strings.TrimSpace(s), int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(num, u.suffix); ok {
			num, mul = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(num, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/mul {
		return 0, fmt.Errorf("%q is no size (examples: 64MB, 1GB)", s)
	}
	return n * mul, nil
}

// oneLine puts an error on one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
