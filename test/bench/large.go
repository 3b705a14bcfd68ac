package main

import (
	"context"
	"fmt"
	"path/filepath"
)

// shards are the parts that a very large input is compared in.
const shards = 4

// large measures n objects once: made by the bare loop, unchanged, with one in a hundred
// changed, and compared in parts.
func (s *single) large(ctx context.Context) error {
	base, some, few := s.files()
	one := func(i int) bool { return i%100 == 0 }
	changes := 0
	for i := range s.n {
		if one(i) {
			changes++
		}
	}
	if err := s.prepare(ctx, one); err != nil {
		return err
	}
	warm := try{"", s.merge, []string{"diff", "-f", few}, 1, nil, warmSize} // discovery and schemas
	tries := []try{
		warm,
		{"created by the bare loop", s.floor, []string{"create", base}, 0, map[string]int{" created": s.n}, 0},
		{"listed by the bare loop", s.floor, []string{"list", base}, 0, map[string]int{" unchanged": s.n}, 0},
		{"unchanged", s.merge, []string{"-f", base}, 0, map[string]int{" unchanged": s.n}, 0},
		{"diff, 1 % changed", s.merge, []string{"diff", "-f", some}, 1, nil, changes},
		{"drift, 1 % changed", s.merge, []string{"drift", "-f", some}, 1, nil, changes},
		{"1 % changed", s.merge, []string{"-f", some}, 0, map[string]int{" configured": changes, " unchanged": s.n - changes}, 0},
	}
	for i := range shards {
		tries = append(tries, try{fmt.Sprintf("drift, none, --shard=%d/%d", i, shards), s.merge,
			[]string{"drift", "-f", some, fmt.Sprintf("--shard=%d/%d", i, shards)}, 0, nil, 0})
	}
	return s.do(ctx, tries...)
}

// files hold all objects, all with some changed, and a few of which none is there.
func (s *single) files() (base, some, few string) {
	return filepath.Join(s.dir, "base.yaml"), filepath.Join(s.dir, "some.yaml"), filepath.Join(s.dir, "few.yaml")
}

// prepare writes the files and makes the namespaces.
func (s *single) prepare(ctx context.Context, differs func(int) bool) error {
	base, some, few := s.files()
	if err := writeSome(base, "large", s.n, func(int) bool { return false }); err != nil {
		return err
	}
	if err := writeSome(some, "large", s.n, differs); err != nil {
		return err
	}
	if err := writeObjects(few, "large", warmSize, false); err != nil {
		return err
	}
	if err := output(ctx, s.floor, "prepare", base, some, few); err != nil {
		return err
	}
	return s.server.makeNamespaces(ctx, namespacesOf("large", s.n))
}
