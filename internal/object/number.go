package object

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
)

// Rounded reports whether the API stores another value than text, a JSON number, states: it
// has only int64 and float64. f is the number as float64.
func Rounded(text string, f float64) bool {
	if _, err := strconv.ParseInt(text, 10, 64); err == nil || len(text) < 16 { // float64 keeps any 15 digits
		return false
	}
	was, ok := new(big.Rat).SetString(text)
	if !ok {
		return true
	}
	is, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return !ok || was.Cmp(is) != 0
}

// number returns an int64 or a float64 as unstructured holds it. An error never contains a
// number, since it may be a Secret's.
func number(n json.Number) (any, error) {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return i, nil
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return nil, fmt.Errorf("number: is out of the API's range: quote it if it is a string")
	}
	if Rounded(string(n), f) {
		return nil, fmt.Errorf("number: float64 rounds it: quote it if it is a string")
	}
	return f, nil
}

// exactFloats is the value from which float64 cannot hold every whole number, and endInts
// is the first value above int64.
const (
	exactFloats = 1 << 53
	endInts     = 1 << 63
)

// floatNumber returns a float64 of unstructured as text. A whole one between 2^53 and 2^63
// may have been another number before it was decoded as float64, and is an error.
func floatNumber(f float64) (json.Number, error) {
	switch size := math.Abs(f); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "", fmt.Errorf("float64: is no number of JSON")
	case size >= exactFloats && size < endInts:
		return "", fmt.Errorf("float64: may have been rounded when it was decoded, as whole numbers from 2^53 on are: decode them as int64 (k8s.io/apimachinery/pkg/util/json does)")
	}
	text, err := json.Marshal(f)
	return json.Number(text), err
}
