package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// longTurn is the turn that the server's threads ask the kernel for among many busy
// connections. It is more than the kernel gives of itself, which is 2.8 ms at most.
const longTurn = 3 * time.Millisecond

// longTurns returns a function that lets the server's threads ask for longer turns, or
// for those that they had; nil where the kernel (before Linux 6.12) gives none to choose.
//
// Among threads that want the same processor, Linux runs one with a shorter turn as soon
// as it wakes. So a client on this machine that is answered takes the processor from the
// thread that answered it, which is warm and needs no interrupt, rather than wait for
// another, and the server finds its next message when it goes on. But threads with long
// turns also wait for others: a server with few clients, beside other work, would answer
// them late.
func longTurns() func(long bool) error {
	own, err := unix.SchedGetAttr(0, 0)
	if err != nil || own.Runtime == 0 || own.Runtime >= uint64(longTurn) || !sharesFairly(own) {
		return nil
	}
	return func(long bool) error {
		turn := own.Runtime
		if long {
			turn = uint64(longTurn)
		}
		return setTurns(turn)
	}
}

// setTurns sets the turn of each thread, in ns. One that is made later has its maker's.
func setTurns(turn uint64) error {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("the server's threads: %w", err)
	}
	for _, task := range tasks {
		id, err := strconv.Atoi(task.Name())
		if err != nil {
			return fmt.Errorf("the server's threads: %w", err)
		}
		attr, err := unix.SchedGetAttr(id, 0)
		if err == nil && sharesFairly(attr) {
			attr.Runtime = turn
			err = unix.SchedSetAttr(id, attr, 0)
		}
		if err != nil && !errors.Is(err, unix.ESRCH) { // it has ended meanwhile
			return fmt.Errorf("the turn of thread %d: %w", id, err)
		}
	}
	return nil
}

// sharesFairly: a thread that runs by other rules has no turns, or has been given them.
func sharesFairly(attr *unix.SchedAttr) bool { return attr.Policy == unix.SCHED_NORMAL }
