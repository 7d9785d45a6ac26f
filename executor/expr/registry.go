package expr

import (
	"sync"

	"kvsqld/planner/plan"
)

// builder makes the evaluator of one call from its compiled arguments.
type builder func(c *compiler, call *plan.Call, args []Eval) (Eval, error)

// registry maps prosrc to implementations.
type registry struct {
	scalar  map[string]builder
	sets    map[string]setBuilder
	session map[string]bool
	// equality has the comparison kind of equality functions whose arguments
	// are compared as they are.
	equality   map[string]cmpKind
	inequality map[string]cmpKind // the same of functions that say that they differ
}

// families lists every file's registrations.
func families() []func(*registry) {
	return []func(*registry){
		compareFuncs,
		intFuncs,
		floatFuncs,
		decimalFuncs,
		castFuncs,
		stringFuncs,
		encodeFuncs,
		encodingFuncs,
		likeFuncs,
		regexFuncs,
		datetimeFuncs,
		datepartFuncs,
		arrayFuncs,
		concatFuncs,
		sysinfoFuncs,
		seriesFuncs,
		hashFuncs,
		mathFuncs,
		geoFuncs,
		uuidFuncs,
		citextFuncs,
		cryptoFuncs,
		fuzzyFuncs,
		hstoreFuncs,
		sampleFuncs,
		sizeFuncs,
		toCharFuncs,
		numToCharFuncs,
		fromCharFuncs,
		jsonFuncs,
		jsonpathFuncs,
		rangeOpFuncs,
		bitFuncs,
		networkFuncs,
		macaddrFuncs,
		pointFuncs,
		lineFuncs,
		boxFuncs,
		circleFuncs,
		pathFuncs,
		polygonFuncs,
		moneyFuncs,
		systemFuncs,
		textIOFuncs,
		accumFuncs,
		supportFuncs,
		keyValueFuncs,
		largeObjectFuncs,
	}
}

var (
	registryOnce sync.Once
	theRegistry  *registry
)

// functions returns the registry, which is filled at the first use.
func functions() *registry {
	registryOnce.Do(func() {
		r := &registry{
			scalar:   make(map[string]builder, 2048),
			sets:     make(map[string]setBuilder, 64),
			session:  make(map[string]bool, 128),
			equality: make(map[string]cmpKind, 64), inequality: make(map[string]cmpKind, 64),
		}
		for _, f := range families() {
			f(r)
		}
		theRegistry = r
	})
	return theRegistry
}

// add registers one implementation under its prosrc names.
func (r *registry) add(b builder, srcs ...string) {
	for _, s := range srcs {
		if _, twice := r.scalar[s]; twice {
			panic("expr: function registered twice: " + s)
		}
		r.scalar[s] = b
	}
}

// addSet registers a set-returning function.
func (r *registry) addSet(b setBuilder, srcs ...string) {
	for _, s := range srcs {
		if _, twice := r.sets[s]; twice {
			panic("expr: set function registered twice: " + s)
		}
		r.sets[s] = b
	}
}
