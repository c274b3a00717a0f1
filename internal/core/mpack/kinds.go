package mpack

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Kinds encodes values of several types, each with a number before it that identifies the type:
// the kinds of records in a journal, or of messages on a wire. V is the interface of these types.
// If a decoded value has a method Check() error that returns an error, the value is refused.
type Kinds[V any] struct {
	what    string
	types   [256]reflect.Type
	numbers map[reflect.Type]byte
}

// NewKinds returns kinds with the types of these values, which are structs or pointers to
// structs, by number. what is the name of such a value in errors.
func NewKinds[V any](what string, values map[byte]V) *Kinds[V] {
	k := &Kinds[V]{what: what, numbers: map[reflect.Type]byte{}}
	for _, number := range slices.Sorted(maps.Keys(values)) {
		k.types[number] = reflect.TypeOf(values[number])
		k.numbers[k.types[number]] = number
	}
	return k
}

// Append appends the number of the value's kind and its encoding to buf and returns the extended
// slice. If it fails, it returns buf unchanged.
func (k *Kinds[V]) Append(buf []byte, v V) ([]byte, error) {
	number, ok := k.numbers[reflect.TypeOf(v)]
	if !ok {
		return buf, fmt.Errorf("%T is no %s", v, k.what)
	}
	out, err := Append(append(buf, number), v)
	if err != nil {
		return buf, err
	}
	return out, nil
}

// Decode decodes a value of the kind with this number (see the function Decode).
func (k *Kinds[V]) Decode(number byte, data []byte) (v V, err error) {
	typ := k.types[number]
	if typ == nil {
		return v, fmt.Errorf("unknown kind %d of %s", number, k.what)
	}
	pointer := typ.Kind() == reflect.Pointer
	if pointer {
		typ = typ.Elem()
	}
	to := reflect.New(typ)
	if err := Decode(data, to.Interface()); err != nil {
		return v, err
	}
	if c, ok := to.Interface().(interface{ Check() error }); ok {
		if err := c.Check(); err != nil {
			return v, err
		}
	}
	if !pointer {
		to = to.Elem()
	}
	return to.Interface().(V), nil
}
