package template

import "reflect"

// method returns the method of a value that a template names, if it may call it, and the zero value otherwise. Each name is written out,
// twice: of a constant, the linker knows which methods to keep.
func method(of reflect.Value, name string) reflect.Value {
	switch name {
	case "Day":
		return of.MethodByName("Day")
	case "HTML":
		return of.MethodByName("HTML")
	case "IsZero":
		return of.MethodByName("IsZero")
	case "Label":
		return of.MethodByName("Label")
	case "Lifetimes":
		return of.MethodByName("Lifetimes")
	case "Machine":
		return of.MethodByName("Machine")
	case "Problem":
		return of.MethodByName("Problem")
	case "Visibilities":
		return of.MethodByName("Visibilities")
	}
	return reflect.Value{}
}
