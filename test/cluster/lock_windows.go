package main

import (
	"context"
	"errors"
	"syscall"
	"time"
)

// sharingViolation is ERROR_SHARING_VIOLATION, which package syscall lacks.
const sharingViolation = syscall.Errno(32)

// lock waits for the file's lock, which the system takes back from a process
// that dies, and gives the function that lets go of it.
func lock(ctx context.Context, file string) (unlock func(), err error) {
	for {
		unlock, err := tryLock(file)
		if err == nil || !errors.Is(err, sharingViolation) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// tryLock is lock without the wait: an error where another process has it. A file
// that is opened without any sharing is a lock.
func tryLock(file string) (unlock func(), err error) {
	name, err := syscall.UTF16PtrFromString(file)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, err
	}
	return func() { _ = syscall.CloseHandle(h) }, nil
}
