package yamldoc

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// words are the plain scalars that YAML 1.1 reads as something else than text.
var words = map[string]any{
	"": nil, "~": nil, "null": nil, "Null": nil, "NULL": nil,
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"true": true, "True": true, "TRUE": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
	"false": false, "False": false, "FALSE": false,
	".nan": math.NaN(), ".NaN": math.NaN(), ".NAN": math.NaN(),
	".inf": math.Inf(1), ".Inf": math.Inf(1), ".INF": math.Inf(1), "+.inf": math.Inf(1), "+.Inf": math.Inf(1), "+.INF": math.Inf(1),
	"-.inf": math.Inf(-1), "-.Inf": math.Inf(-1), "-.INF": math.Inf(-1),
}

var floatForm = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// resolve returns what a plain scalar is: nil, bool, json.Number or string. Infinity
// and not-a-number have no JSON and give math.Inf and math.NaN.
//
// Source: go-yaml v2's resolve, which is how kubectl reads.
func resolve(s string) any {
	hint := byte(0)
	if s != "" {
		hint = s[0]
	}
	if hint == 0 || strings.IndexByte("yYnNtTfFoO~.+-", hint) >= 0 {
		if v, ok := words[s]; ok {
			return v
		}
	}
	switch {
	case hint >= '0' && hint <= '9', hint == '+', hint == '-':
		return number(s)
	case hint == '.':
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return floatText(s, f)
		}
	}
	return s
}

// number reads what starts like a number; a date does too, and is text.
func number(s string) any {
	plain := strings.ReplaceAll(s, "_", "")
	if i, err := strconv.ParseInt(plain, 0, 64); err == nil {
		return json.Number(strconv.FormatInt(i, 10))
	}
	if u, err := strconv.ParseUint(plain, 0, 64); err == nil {
		return json.Number(strconv.FormatUint(u, 10))
	}
	if floatForm.MatchString(plain) {
		if f, err := strconv.ParseFloat(plain, 64); err == nil {
			return floatText(plain, f)
		}
	}
	return s
}

// floatText keeps the digits of a number as they are written, and turns what JSON does
// not allow (+1.5, .5, 5., 010.5) into a JSON number of the same value. f is what it
// comes to: a zero has no sign, which kubectl's reader loses too.
func floatText(s string, f float64) json.Number {
	s = strings.TrimPrefix(s, "+")
	digits := strings.TrimPrefix(s, "-")
	sign := s[:len(s)-len(digits)]
	if f == 0 {
		sign = ""
	}
	mantissa, exponent := digits, ""
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		mantissa, exponent = digits[:i], digits[i:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return json.Number(sign + whole + fraction + exponent)
}

// scalarValue returns the value of a scalar node.
func (p *parser) scalarValue(n *node) (any, error) {
	var v any = n.text
	switch tag := n.tag(); {
	case tag == "" && n.style == plainStyle:
		v = resolve(n.text)
		if _, isText := v.(string); isText && p.json {
			if _, err := strconv.ParseFloat(n.text, 64); errors.Is(err, strconv.ErrRange) {
				return nil, p.fail(n.start, "is out of the API's range; quote it if it is a string")
			}
		}
	case tag == "!!binary":
		data, err := base64.StdEncoding.DecodeString(n.text)
		if err != nil {
			return nil, p.fail(n.start, "!!binary: is not base64")
		}
		v = string([]rune(string(data))) // what is no UTF-8 cannot be in JSON, and becomes U+FFFD
	case tag == "!!int" || tag == "!!float" || tag == "!!bool" || tag == "!!null":
		if v = resolve(n.text); tagOf(v) != tag && !(tag == "!!float" && tagOf(v) == "!!int") {
			return nil, p.fail(n.start, "%s: does not fit the value", tag)
		}
	}
	if _, ok := v.(float64); ok {
		return nil, p.fail(n.start, "is no number: JSON knows neither infinity nor NaN; quote it if it is a string")
	}
	return v, nil
}

func tagOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "!!null"
	case bool:
		return "!!bool"
	case float64:
		return "!!float"
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			return "!!float"
		}
		return "!!int"
	}
	return "!!str"
}

// writtenWhole: a number is an integer as it is written, and not a fraction that
// comes to one, as 01008000 is, which has a digit that is not octal.
func writtenWhole(s string) bool {
	_, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 0, 64)
	return err == nil
}

// keyName is the text that a key has in JSON.
func (p *parser) keyName(key *node) (name string, merge bool, err error) {
	plain := key.tag() == "" && key.style == plainStyle || key.tag() == "!"
	if plain && key.text == "<<" || key.tag() == "!!merge" {
		return "<<", true, nil
	}
	v, err := p.scalarValue(key)
	if err != nil {
		return "", false, err
	}
	key.value = v // an alias may refer to it
	switch v := v.(type) {
	case string:
		return v, false, nil
	case bool:
		return strconv.FormatBool(v), false, nil
	case json.Number:
		if i, err := strconv.ParseInt(string(v), 10, 64); err == nil && key.tag() != "!!float" && writtenWhole(key.text) {
			return strconv.FormatInt(i, 10), false, nil
		}
		if f, err := v.Float64(); err == nil {
			// Source: sigs.k8s.io/yaml, which prints a key that is a number so.
			name := strconv.FormatFloat(f, 'g', -1, 32)
			return strings.NewReplacer("+Inf", ".inf", "-Inf", "-.inf").Replace(name), false, nil
		}
	}
	return "", false, p.fail(key.start, "a key cannot be null; quote it")
}
