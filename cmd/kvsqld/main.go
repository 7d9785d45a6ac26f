// Kvsqld is a SQL database server that speaks PostgreSQL's protocol and keeps
// its tables as key-value files.
//
// Only this command knows files, environment and flags: the packages below get
// Options. Every flag can be set by an environment variable (--max-connections
// is KVSQLD_MAX_CONNECTIONS) and by a line of the file named by --config; the
// command line wins over the environment, and that over the file.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := newRootCmd().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "kvsqld: "+oneLine(err))
		os.Exit(1)
	}
}

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:           "kvsqld",
		Short:         "A SQL database server with PostgreSQL's interface over key-value files",
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return configure(cmd)
		},
	}
	root.PersistentFlags().String("data", "./kvsqld-data", "data directory")
	root.PersistentFlags().String("config", "", "configuration file: lines of flag = value")
	root.AddCommand(newServeCmd(), newVersionCmd())
	root.AddCommand(commands()...)
	return root
}
