package model

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// EventType is the kind of a change, as watches name it.
type EventType string

// The types of events.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
)

// Event is one change that was stored. Its objects are not to be changed.
type Event struct {
	Type     EventType
	Resource string         // in URLs
	Was, Is  runtime.Object // Was is nil if it is added; Is has the event's version, also if it is deleted
	By       string         // who has sent it
}

// Meta is the metadata of the object after the change, or before its deletion.
func (e Event) Meta() metav1.Object { return of(e.Is) }

// happened stores a change, which watches learn of.
func (m *Model) happened(e Event) {
	m.revision++
	name := of(e.Is).GetName()
	if e.Type == Deleted {
		delete(m.objects[e.Resource], name)
	} else {
		m.objects[e.Resource][name] = e.Is
	}
	m.history, m.times = append(m.history, e), append(m.times, time.Now())
	close(m.changed)
	m.changed = make(chan struct{})
}

// History is all that has changed, oldest first. It is not to be changed.
func (m *Model) History() []Event { return m.history }

// Object is an object as it is now; nil if there is none. It is not to be changed.
func (m *Model) Object(resource, name string) runtime.Object { return m.objects[resource][name] }

// Objects are the names of the objects of a resource.
func (m *Model) Objects(resource string) map[string]runtime.Object { return m.objects[resource] }

// since are the changes of a resource after a version, and a channel that the next change closes.
func (m *Model) since(resource string, version int) ([]Event, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Event
	for _, e := range m.history {
		if v, _ := strconv.Atoi(of(e.Is).GetResourceVersion()); e.Resource == resource && v > version {
			out = append(out, e)
		}
	}
	return out, m.changed
}

// When is when the nth change was stored.
func (m *Model) When(n int) time.Time { return m.times[n] }

// MetaOf is the metadata of an object of the model.
func MetaOf(o runtime.Object) metav1.Object { return of(o) }
