// The native Starlark interpreter behind a pipe: one JSON request a line on stdin, one JSON answer a line on stdout. It
// runs programs in our dialect, so that what it says can be compared, and it runs functions many times for benchmarks.
//
// Strings of Starlark are bytes and JSON has only text: every text in an answer has one character per byte (U+0000 to
// U+00FF). Sources arrive as ordinary text.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"syscall"
	"time"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkjson"
	"go.starlark.net/starlarktest"
	"go.starlark.net/syntax"
)

const defaultSteps = 2_000_000

type request struct {
	ID     string `json:"id"`
	File   string `json:"file"`
	Source string `json:"source"`
	// An expression instead of a module; its value is the global $value.
	Expression bool `json:"expression"`
	// Names beyond the universe: "assert" (with freeze), "json", and "M" and "U", which only stand for something.
	Predeclared []string `json:"predeclared"`
	MaxSteps    uint64   `json:"maxSteps"`
	// Parse and resolve only.
	Compile bool `json:"compile"`
	// A global to call without arguments once the globals are frozen; its value is $result. Absent is no mistake.
	Then string `json:"then"`
	// The benchmark: call this function so many times. The module is made once and kept under the id.
	Call  string `json:"call"`
	Times int    `json:"times"`
}

type place struct {
	Name   string `json:"name,omitempty"`
	Text   string `json:"text,omitempty"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

type failure struct {
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// All errors of the resolver, which goes on after the first.
	All []place `json:"all,omitempty"`
	// Of an evaluation: the calls, innermost first, those of the program's own file.
	Stack []place `json:"stack,omitempty"`
}

type answer struct {
	ID      string            `json:"id"`
	OK      bool              `json:"ok"`
	Globals map[string]string `json:"globals,omitempty"`
	Prints  []string          `json:"prints,omitempty"`
	// What assert complained about.
	Reports []string `json:"reports,omitempty"`
	Error   *failure `json:"error,omitempty"`
	Steps   uint64   `json:"steps"`
	// Processor time of the calls, garbage collection included.
	Nanoseconds int64 `json:"nanoseconds,omitempty"`
}

func main() {
	resolve.AllowNestedDef = true
	resolve.AllowLambda = true
	resolve.AllowFloat = true
	resolve.AllowBitwise = true
	resolve.AllowSet = false
	resolve.AllowGlobalReassign = false
	resolve.AllowRecursion = false

	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	decoder := json.NewDecoder(os.Stdin)
	for decoder.More() {
		var asked request
		if err := decoder.Decode(&asked); err != nil {
			fmt.Fprintln(os.Stderr, "oracle:", err)
			os.Exit(2)
		}
		if err := encoder.Encode(respond(asked)); err != nil {
			os.Exit(2)
		}
		out.Flush()
	}
}

func respond(asked request) answer {
	if asked.Call != "" {
		return benchmark(asked)
	}
	return run(asked)
}

// reporter collects what assert complains about.
type reporter struct{ reports []string }

func (r *reporter) Error(args ...interface{}) { r.reports = append(r.reports, fmt.Sprint(args...)) }

func run(asked request) (result answer) {
	result.ID = asked.ID
	complaints := &reporter{}
	thread := newThread(asked, &result, complaints)
	defer func() {
		// A crash of the native interpreter is its own outcome: nobody is asked to repeat it.
		if crash := recover(); crash != nil {
			result.OK = false
			result.Error = &failure{Kind: "panic", Text: bytesOf(fmt.Sprint(crash))}
		}
	}()
	stop := watch(thread)
	globals, err := execute(thread, asked)
	stop()
	result.Steps = thread.ExecutionSteps()
	result.Reports = allBytesOf(complaints.reports)
	if err != nil {
		result.Error = describe(err, asked.File)
		return result
	}
	result.OK = true
	result.Globals = map[string]string{}
	for name, value := range globals {
		result.Globals[bytesOf(name)] = bytesOf(value.String())
	}
	return result
}

const maxHeap = 1 << 30
const maxNanoseconds = 3_000_000_000

// watch cancels a program that fills the memory or copies what it has with every step: steps bound neither. Time is the
// processor's, so that a machine that is busy with other things leaves out no more than an idle one.
func watch(thread *starlark.Thread) (stop func()) {
	done := make(chan struct{})
	began := usedNanoseconds()
	go func() {
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				var stats runtime.MemStats
				runtime.ReadMemStats(&stats)
				if stats.HeapAlloc > maxHeap {
					thread.Cancel("too much memory")
					return
				}
				if usedNanoseconds()-began > maxNanoseconds {
					thread.Cancel("too much time")
					return
				}
			}
		}
	}()
	return func() { close(done) }
}

func newThread(asked request, result *answer, complaints *reporter) *starlark.Thread {
	thread := &starlark.Thread{
		Name:  asked.ID,
		Print: func(_ *starlark.Thread, text string) { result.Prints = append(result.Prints, bytesOf(text)) },
	}
	steps := asked.MaxSteps
	if steps == 0 {
		steps = defaultSteps
	}
	thread.SetMaxExecutionSteps(steps)
	starlarktest.SetReporter(thread, complaints)
	return thread
}

func execute(thread *starlark.Thread, asked request) (starlark.StringDict, error) {
	predeclared, err := predeclare(asked.Predeclared)
	if err != nil {
		return nil, err
	}
	if asked.Expression {
		value, err := starlark.Eval(thread, asked.File, asked.Source, predeclared)
		return starlark.StringDict{"$value": value}, err
	}
	file, err := syntax.Parse(asked.File, asked.Source, 0)
	if err != nil {
		return nil, err
	}
	program, err := starlark.FileProgram(file, predeclared.Has)
	if err := withLoads(file, err); err != nil {
		return nil, err
	}
	if asked.Compile {
		return nil, nil
	}
	globals, err := program.Init(thread, predeclared)
	globals.Freeze()
	if err != nil {
		return nil, err
	}
	if function, ok := globals[asked.Then]; ok {
		value, err := starlark.Call(thread, function, nil, nil)
		if err != nil {
			return nil, err
		}
		globals["$result"] = value
	}
	return globals, nil
}

// withLoads adds to what the resolver found that our dialect has no load statements.
func withLoads(file *syntax.File, err error) error {
	found, _ := err.(resolve.ErrorList)
	for _, statement := range file.Stmts {
		if load, ok := statement.(*syntax.LoadStmt); ok {
			found = append(found, resolve.Error{Pos: load.Load, Msg: "this Starlark dialect does not support load statements"})
		}
	}
	if len(found) > 0 {
		return found
	}
	return err
}

func predeclare(names []string) (starlark.StringDict, error) {
	predeclared := starlark.StringDict{}
	for _, name := range names {
		switch name {
		case "json":
			predeclared["json"] = starlarkjson.Module
		case "assert":
			module, err := starlarktest.LoadAssertModule()
			if err != nil {
				return nil, err
			}
			predeclared["assert"] = module["assert"]
			predeclared["freeze"] = module["freeze"]
		case "M", "U":
			predeclared[name] = starlark.None
		default:
			return nil, fmt.Errorf("oracle: nothing is known as %q", name)
		}
	}
	return predeclared, nil
}

func describe(err error, file string) *failure {
	switch err := err.(type) {
	case syntax.Error:
		return &failure{Kind: "syntax", Text: bytesOf(err.Msg), Line: int(err.Pos.Line), Column: int(err.Pos.Col)}
	case resolve.ErrorList:
		return describeList(err)
	case *starlark.EvalError:
		return describeEval(err, file)
	}
	return &failure{Kind: "other", Text: bytesOf(err.Error())}
}

func describeList(errors resolve.ErrorList) *failure {
	sort.SliceStable(errors, func(i, j int) bool {
		a, b := errors[i].Pos, errors[j].Pos
		return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col
	})
	all := []place{}
	for _, one := range errors {
		all = append(all, place{Text: bytesOf(one.Msg), Line: int(one.Pos.Line), Column: int(one.Pos.Col)})
	}
	return &failure{Kind: "resolve", Text: all[0].Text, Line: all[0].Line, Column: all[0].Column, All: all}
}

func describeEval(err *starlark.EvalError, file string) *failure {
	found := &failure{Kind: "eval", Text: bytesOf(err.Msg)}
	if strings.HasPrefix(err.Msg, "Starlark computation cancelled: ") {
		found.Kind = "steps"
	}
	for i := range err.CallStack {
		frame := err.CallStack.At(i)
		if frame.Pos.Filename() == file {
			found.Stack = append(found.Stack, place{Name: bytesOf(frame.Name), Line: int(frame.Pos.Line), Column: int(frame.Pos.Col)})
		}
	}
	if len(found.Stack) > 0 {
		found.Line, found.Column = found.Stack[0].Line, found.Stack[0].Column
	}
	return found
}

// modules that a benchmark calls again.
var modules = map[string]starlark.StringDict{}

func benchmark(asked request) (result answer) {
	result.ID = asked.ID
	thread := newThread(asked, &result, &reporter{})
	thread.SetMaxExecutionSteps(1 << 62)
	globals, known := modules[asked.ID]
	if !known {
		made, err := execute(thread, asked)
		if err != nil {
			result.Error = describe(err, asked.File)
			return result
		}
		globals = made
		modules[asked.ID] = made
	}
	startedAt := usedNanoseconds()
	for i := 0; i < asked.Times; i++ {
		value, err := starlark.Call(thread, globals[asked.Call], nil, nil)
		if err != nil {
			result.Error = describe(err, asked.File)
			return result
		}
		result.Globals = map[string]string{"$value": ""}
		if i == asked.Times-1 {
			result.Globals["$value"] = bytesOf(value.String())
		}
	}
	result.Nanoseconds = usedNanoseconds() - startedAt
	result.OK = true
	return result
}

func usedNanoseconds() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func bytesOf(text string) string {
	characters := make([]rune, len(text))
	for i := 0; i < len(text); i++ {
		characters[i] = rune(text[i])
	}
	return string(characters)
}

func allBytesOf(texts []string) []string {
	var all []string
	for _, text := range texts {
		all = append(all, bytesOf(text))
	}
	return all
}
