package mpack

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"
)

// Kinds encodes values of several types, each with a number before it that identifies the type:
// the kinds of records in a journal, or of messages on a wire. V is the interface of these types.
// If a decoded value, or one that it contains, has a method Check() error that returns an error, it is refused.
type Kinds[V any] struct {
	what    string
	types   [256]reflect.Type
	checks  [256]atomic.Pointer[check] // of the kinds that were decoded
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

// check returns an error for a value that is refused.
type check func(reflect.Value) error

// checked is a value that says whether it is one that berth writes.
type checked interface{ Check() error }

// checkOf returns what checks values of a type, and all that they contain, by their methods Check; nil: all of its values are valid.
func checkOf(t reflect.Type) check {
	var all []check
	switch t.Kind() {
	case reflect.Slice:
		if each := checkOf(t.Elem()); each != nil {
			all = append(all, func(v reflect.Value) error {
				for i := range v.Len() {
					if err := each(v.Index(i)); err != nil {
						return err
					}
				}
				return nil
			})
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if of := checkOf(t.Field(i).Type); of != nil && t.Field(i).IsExported() {
				all = append(all, func(v reflect.Value) error { return of(v.Field(i)) })
			}
		}
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[checked]()) {
		all = append(all, func(v reflect.Value) error { return v.Addr().Interface().(checked).Check() })
	}
	if all == nil {
		return nil
	}
	return func(v reflect.Value) error {
		for _, of := range all {
			if err := of(v); err != nil {
				return err
			}
		}
		return nil
	}
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
	of := k.checks[number].Load()
	if of == nil {
		of = new(checkOf(typ))
		k.checks[number].Store(of)
	}
	if *of != nil {
		if err := (*of)(to.Elem()); err != nil {
			return v, err
		}
	}
	if !pointer {
		to = to.Elem()
	}
	return to.Interface().(V), nil
}
