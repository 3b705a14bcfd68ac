package run

import (
	"strings"
	"testing"
)

func BenchmarkCompress(b *testing.B) {
	text := []byte(strings.Repeat(`{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"name":"app","image":"registry.example.com/shop/app:1"}`, 30))
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			compress(text)
		}
	})
}
