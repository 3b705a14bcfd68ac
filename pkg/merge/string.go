package merge

import "strconv"

// enumName returns the name of a value of an enumeration, or its number where it has none.
func enumName(names []string, v uint8) string {
	if int(v) < len(names) && names[v] != "" {
		return names[v]
	}
	return strconv.Itoa(int(v))
}

// String returns the side: nobody, original, local or live.
func (s Side) String() string {
	return enumName([]string{"nobody", "original", "local", "live"}, uint8(s))
}

// String returns the operation: set, remove or order.
func (o Op) String() string {
	return enumName([]string{OpSet: "set", OpRemove: "remove", OpOrder: "order"}, uint8(o))
}

// String returns the kind: drift (only live changed), both, or dropped (local removed what
// live changed).
func (k DisagreementKind) String() string {
	return enumName([]string{Drift: "drift", Both: "both", Dropped: "dropped"}, uint8(k))
}

// String returns the choice: local, live, conflict or original.
func (c Choice) String() string {
	return enumName([]string{TakeLocal: "local", TakeLive: "live", LeaveConflict: "conflict", TakeOriginal: "original"}, uint8(c))
}

// String returns the cause in one word; see the constants for what each means.
func (c Cause) String() string {
	return enumName([]string{
		CauseLocal: "local", CauseLive: "live", CauseDropped: "dropped", CauseNull: "null", CauseDisplaced: "displaced",
		CauseInside: "inside", CauseSame: "same", CauseServer: "server", CausePolicy: "policy", CauseStillNull: "still-null",
		CauseReplaced: "replaced", CauseStrategy: "strategy", CauseLines: "lines",
		CauseAnew: "anew",
	}, uint8(c))
}

// String returns how the value is split: unknown, scalar, object, map, list (one value), keyed or set.
func (k Kind) String() string {
	return enumName([]string{"unknown", "scalar", "object", "map", "list", "keyed", "set"}, uint8(k))
}
