package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// listeners opens what clients connect to: a TCP address and, unless dir is empty, a
// Unix-domain socket in it with the name that libpq looks for. settings tell of both.
func listeners(addr, dir string) (list []net.Listener, settings map[string]string, err error) {
	tcp, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, nil, fmt.Errorf("--listen: %w", err)
	}
	list, settings = []net.Listener{tcp}, map[string]string{}
	a, ok := tcp.Addr().(*net.TCPAddr)
	if !ok {
		return list, settings, nil
	}
	settings["listen_addresses"], settings["port"] = a.IP.String(), strconv.Itoa(a.Port)
	if dir == "" {
		return list, settings, nil
	}
	local, err := listenUnix(dir, a.Port)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("--unix-socket: %w", err), tcp.Close())
	}
	settings["unix_socket_directories"] = dir
	return append(list, local), settings, nil
}

// listenUnix opens the socket of a port. The file goes when the listener is closed. One that
// a process left behind is replaced, one that somebody answers at is not. Who may enter the
// directory may connect: its permissions are the socket's.
func listenUnix(dir string, port int) (net.Listener, error) {
	path := filepath.Join(dir, ".s.PGSQL."+strconv.Itoa(port))
	ln, err := net.Listen("unix", path)
	if errors.Is(err, syscall.EADDRINUSE) {
		if err := removeStale(path); err != nil {
			return nil, err
		}
		ln, err = net.Listen("unix", path)
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o777); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

// removeStale removes a socket that nobody listens at.
func removeStale(path string) error {
	fi, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case fi.Mode()&fs.ModeSocket == 0:
		return fmt.Errorf("%s is there, and no socket", path)
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		return errors.Join(fmt.Errorf("a server listens at %s", path), c.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}
