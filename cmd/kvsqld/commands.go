package main

import "github.com/spf13/cobra"

// commands lists the commands beside serve and version.
func commands() []*cobra.Command {
	return []*cobra.Command{newLoadCmd(), newImportCmd(), newCatalogCmd(), newInspectCmd(), newBackupCmd(), newRestoreCmd(), newCheckCmd()}
}
