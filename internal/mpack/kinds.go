package mpack

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Kinds tells values of several types apart by a number that goes before them: the kinds of
// records in a journal, or of messages on a wire. V is what these types have in common. A value
// with a method Check() error is refused where that returns an error, once it is decoded.
type Kinds[V any] struct {
	what    string
	types   [256]reflect.Type
	numbers map[reflect.Type]byte
}

// NewKinds returns the kinds that have the types of these values, structs or pointers to structs,
// by number. Errors call a value what.
func NewKinds[V any](what string, values map[byte]V) *Kinds[V] {
	k := &Kinds[V]{what: what, numbers: map[reflect.Type]byte{}}
	for _, number := range slices.Sorted(maps.Keys(values)) {
		k.types[number] = reflect.TypeOf(values[number])
		k.numbers[k.types[number]] = number
	}
	return k
}

// Append appends the number of the value's kind and its encoding to buf and returns the extended
// slice. On an error buf is returned as it was.
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

// Decode decodes the encoding of a value of the kind with that number (see the function Decode).
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
