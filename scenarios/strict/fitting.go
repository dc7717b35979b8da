package strict

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fitting is the value of a scalar that fits a Go string, boolean or number.
func (d *Doc) fitting(n *yaml.Node, t reflect.Type) (any, string) {
	if n.Kind != yaml.ScalarNode {
		return nil, fmt.Sprintf("want %s, not %s", kindName(t), Describe(n))
	}
	v, problem := d.Dialect.scalar(n)
	if problem != "" {
		return nil, problem
	}
	s, isText := v.(string)
	num, isNumber := v.(json.Number)
	_, isBool := v.(bool)
	switch k := t.Kind(); {
	case k == reflect.String && isText, k == reflect.Bool && isBool, k == reflect.Slice && isText:
		return v, ""
	case k == reflect.String && isBool && n.Tag == "!!str":
		return nil, fmt.Sprintf("want text, and kubectl reads %s as %t: put it in quotes", n.Value, v)
	case v == nil:
		return nil, fmt.Sprintf("want %s, not nothing", kindName(t))
	case k == reflect.String && !isText:
		return nil, fmt.Sprintf("want text, not %s: put it in quotes", n.Value)
	case k == reflect.Bool:
		return nil, fmt.Sprintf("want true or false, not %s", Describe(n))
	case isText && json.Valid([]byte(s)) && strings.Trim(s, "-.0123456789") == "":
		return nil, fmt.Sprintf("want %s: remove the quotes around %s", kindName(t), s)
	case !isNumber:
		return nil, fmt.Sprintf("want %s, not %s", kindName(t), Describe(n))
	}
	return num, misfit(string(num), t)
}

// misfit describes why a number does not fit a type; "" if it does.
func misfit(num string, t reflect.Type) string {
	var err error
	switch {
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		_, err = strconv.ParseInt(num, 10, t.Bits())
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64:
		if strings.HasPrefix(num, "-") {
			return num + " is negative"
		}
		_, err = strconv.ParseUint(num, 10, t.Bits())
	default:
		_, err = strconv.ParseFloat(num, t.Bits())
	}
	switch {
	case errors.Is(err, strconv.ErrRange):
		return num + " is too large"
	case err != nil:
		return fmt.Sprintf("want %s, not %s", kindName(t), num)
	}
	return ""
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String, reflect.Slice:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number"
}
