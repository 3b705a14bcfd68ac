//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// lock waits for the file's lock, which the kernel takes back from a process
// that dies, and gives the function that lets go of it.
func lock(ctx context.Context, file string) (unlock func(), err error) {
	for {
		unlock, err := tryLock(file)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// tryLock is lock without the wait: an error where another process has it.
func tryLock(file string) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}
