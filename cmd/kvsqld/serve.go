package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"kvsqld/executor/session"
	"kvsqld/storage"
	"kvsqld/storage/txn"
	"kvsqld/wire"
)

func newServeCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Args:  cobra.NoArgs,
		RunE:  runServe,
	}
	f := c.Flags()
	f.String("listen", "127.0.0.1:5433", "address and port to listen on")
	f.String("unix-socket", "", "directory for a Unix-domain socket, .s.PGSQL.PORT; who may enter it may connect (empty: none)")
	f.String("store", "bolt", "storage engine: bolt, or mem for data that ends with the process")
	f.String("auth", "auto", "auto (no password on loopback, SCRAM elsewhere), trust, scram or password")
	f.String("tls-cert", "", "certificate file; with --tls-key clients may use TLS")
	f.String("tls-key", "", "private key file")
	f.Int("max-connections", 100, "connections at a time")
	f.String("work-mem", "64MB", "memory an operator may use before it spills to temporary files")
	f.String("max-statement-memory", "1GB", "memory of one statement, beyond which it fails (0: no limit)")
	f.String("max-memory", "auto", "memory of all statements and uncommitted changes together (0: no limit, auto: half of the machine's); a transaction whose changes take an eighth of it moves them to temporary files")
	f.String("temp-dir", "", "directory for temporary files (default: the system's)")
	f.String("temp-file-limit", "auto", "what one statement, and the changes of one transaction, may have in temporary files, the default of temp_file_limit (0: no limit, auto: half of what is free there at the start)")
	f.String("server-files", "", "directory whose files superusers, and members of pg_read_server_files and pg_write_server_files, may COPY; empty: none")
	f.Int("max-parallel", runtime.NumCPU(), "goroutines that one scan may use")
	f.Duration("old-snapshot-threshold", 0, "age, in whole minutes, from which a snapshot that hinders the reuse of space is ended (SQLSTATE 72000); 0: never")
	f.Duration("grace", 10*time.Second, "time that running statements get at shutdown")
	f.String("log-level", "info", "debug, info, warn or error")
	f.String("log-format", "text", "text or json")
	f.String("cpu-profile", "", "file for a profile of the processor's time, in pprof's format, written at the end")
	return c
}

func runServe(cmd *cobra.Command, _ []string) (err error) {
	f := cmd.Flags()
	str := func(name string) string { v, _ := f.GetString(name); return v }
	num := func(name string) int { v, _ := f.GetInt(name); return v }
	log, err := newLogger(str("log-level"), str("log-format"))
	if err != nil {
		return err
	}
	workMem, err := parseSize(str("work-mem"))
	if err != nil {
		return fmt.Errorf("--work-mem: %w", err)
	}
	stmtMem, err := parseSize(str("max-statement-memory"))
	if err != nil {
		return fmt.Errorf("--max-statement-memory: %w", err)
	}
	maxMem := halfOfMemory()
	if str("max-memory") != "auto" {
		if maxMem, err = parseSize(str("max-memory")); err != nil {
			return fmt.Errorf("--max-memory: %w", err)
		}
	}
	tempLimit := freeSpace(str("temp-dir")) / 2
	if str("temp-file-limit") != "auto" {
		if tempLimit, err = parseSize(str("temp-file-limit")); err != nil {
			return fmt.Errorf("--temp-file-limit: %w", err)
		}
	}
	switch str("auth") {
	case "auto", "trust", "scram", "password":
	default:
		return fmt.Errorf("--auth: %q is none of auto, trust, scram, password", str("auth"))
	}
	var cert *tls.Config
	if str("tls-cert") != "" || str("tls-key") != "" {
		if cert, err = wire.LoadTLS(str("tls-cert"), str("tls-key")); err != nil {
			return fmt.Errorf("--tls-cert, --tls-key: %w", err)
		}
	}
	list, settings, err := listeners(str("listen"), str("unix-socket"))
	if err != nil {
		return err
	}
	defer func() {
		for _, ln := range list {
			_ = ln.Close() // as a rule the server has
		}
	}()
	dir := str("data")
	tooOld, _ := f.GetDuration("old-snapshot-threshold")
	if tooOld < 0 || tooOld%time.Minute != 0 {
		return fmt.Errorf("--old-snapshot-threshold: %s is no number of minutes", tooOld)
	}
	st, err := storage.Open(storage.Options{Store: str("store"), Dir: dir, Txn: txn.Options{
		WarnSnapshotAge: 5 * time.Minute,
		MaxSnapshotAge:  tooOld,
		OnOldSnapshot: func(o txn.OldSnapshot) {
			log.Warn("a snapshot is held for long and makes the file grow", "age", o.Age.Round(time.Second), "users", o.Users,
				"fileBytes", o.FileBytes, "ended", o.Expired)
		},
	}})
	if err != nil {
		return openError(dir, err)
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	// The statement's context outlives the signal: running statements finish.
	ctx := context.WithoutCancel(cmd.Context())
	settings["work_mem"] = strconv.FormatInt(workMem>>10, 10) + "kB"
	if str("store") != "mem" {
		if settings["data_directory"], err = filepath.Abs(dir); err != nil {
			return fmt.Errorf("--data %s: %w", dir, err)
		}
	}
	if tempLimit > 0 {
		settings["temp_file_limit"] = strconv.FormatInt(min(tempLimit>>10, math.MaxInt32), 10) + "kB"
	}
	if tooOld > 0 {
		settings["old_snapshot_threshold"] = strconv.Itoa(int(tooOld/time.Minute)) + "min"
	}
	var files *session.ServerFiles
	if d := str("server-files"); d != "" {
		if files, err = session.OpenServerFiles(d); err != nil {
			return fmt.Errorf("--server-files: %w", err)
		}
		defer func() { err = errors.Join(err, files.Close()) }()
	}
	if d := st.Stats().Damage; d != "" {
		log.Warn("the data file is damaged; all else is served. kvsqld check names the damaged pages", "data", dir, "fault", d)
	}
	srv, err := session.Open(ctx, st, session.Options{
		Files: files, Auth: str("auth"), MaxConnections: num("max-connections"), MaxParallel: num("max-parallel"), TempDir: str("temp-dir"), Logger: log,
		MaxStatementMemory: stmtMem, MaxMemory: maxMem,
		Settings: settings,
	})
	if err != nil {
		return openError(dir, err)
	}
	defer func() { err = errors.Join(err, srv.Close(ctx)) }()
	w, err := wire.NewServer(srv, wire.Options{
		TLS: cert, MaxConnections: num("max-connections"), Room: srv.Room, Crowded: adaptTurns(longTurns(), log), Logger: log,
	})
	if err != nil {
		return err
	}
	srv.Cancel, srv.Terminate = w.Cancel, w.Terminate
	defer paceHeap()() // not before: what opening leaves behind goes by the runtime's own rule
	defer spareProcessors()()
	endProfile, err := profileTo(str("cpu-profile"))
	if err != nil {
		return fmt.Errorf("--cpu-profile: %w", err)
	}
	defer func() { err = errors.Join(err, endProfile()) }()
	served := make(chan error, len(list))
	for _, ln := range list {
		go func() { served <- w.Serve(ln) }()
	}
	ready := []any{"listen", list[0].Addr().String()}
	for _, ln := range list[1:] {
		ready = append(ready, "socket", ln.Addr().String())
	}
	log.Info("ready", append(ready, "data", dir, "store", str("store"))...)
	select {
	case err := <-served:
		return err
	case <-cmd.Context().Done():
	}
	grace, _ := f.GetDuration("grace")
	log.Info("shutting down", "grace", grace)
	stop, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	w.Shutdown(stop)
	for range list {
		if e := <-served; !errors.Is(e, wire.ErrServerClosed) {
			err = errors.Join(err, e)
		}
	}
	return err
}
