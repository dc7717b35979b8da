package linear

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

// Porcupine takes the orders from a map. The page is the same in any case, and each operation still
// refers to the longest order that contains it.
func TestSettle(t *testing.T) {
	const page = "<script>const data = %s\n\n      render(data)</script>"
	const data = `{"Partitions":[{"History":[],"PartialLinearizations":[%s],"Largest":%s}],"Annotations":[]}`
	const long, a, b = `[{"Index":0,"StateDescription":""},{"Index":2,"StateDescription":""}]`, `[{"Index":0,"StateDescription":""}]`, `[{"Index":1,"StateDescription":""}]`
	want := fmt.Appendf(nil, page, fmt.Sprintf(data, long+","+a+","+b, `{"0":0,"1":2,"2":0}`))
	for _, came := range []struct{ orders, largest string }{
		{long + "," + a + "," + b, `{"0":0,"1":2,"2":0}`},
		{long + "," + b + "," + a, `{"0":0,"1":1,"2":0}`},
	} {
		got, err := settle(fmt.Appendf(nil, page, fmt.Sprintf(data, came.orders, came.largest)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v\n%s, want\n%s", err, got, want)
		}
	}
	for _, bad := range []string{"", "const data = {}", fmt.Sprintf(page, "[")} {
		if _, err := settle([]byte(bad)); !errors.Is(err, errChanged) {
			t.Errorf("%q: %v, want %v", bad, err, errChanged)
		}
	}
}
