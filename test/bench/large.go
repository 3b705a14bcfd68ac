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
	base, some, set := filepath.Join(s.dir, "base.yaml"), filepath.Join(s.dir, "some.yaml"), filepath.Join(s.dir, "set.yaml")
	one := func(i int) bool { return i%100 == 0 }
	changes := 0
	for i := range s.n {
		if one(i) {
			changes++
		}
	}
	if err := s.prepare(ctx, base, some, set, one); err != nil {
		return err
	}
	warm := try{"", s.merge, []string{"diff", "-f", set}, 1, nil, warmSize} // discovery and schemas
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

// prepare writes the files and makes the namespaces.
func (s *single) prepare(ctx context.Context, base, some, set string, differs func(int) bool) error {
	if err := writeSome(base, "large", s.n, func(int) bool { return false }); err != nil {
		return err
	}
	if err := writeSome(some, "large", s.n, differs); err != nil {
		return err
	}
	if err := writeObjects(set, "large", warmSize, false); err != nil {
		return err
	}
	if err := output(ctx, s.floor, "prepare", base, some, set); err != nil {
		return err
	}
	return s.server.makeNamespaces(ctx, namespacesOf("large", s.n))
}
