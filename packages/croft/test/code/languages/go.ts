import type { GoldenLanguage } from '../golden.ts';

export const go: GoldenLanguage = {
  path: 'shop.go',
  source: `package shop

const Limit = 3

const (
	A = iota
	B
)

// Shop sells.
type Shop struct {
	Name string
}

type Stack[K any] struct{ items []K }

// Run runs.
func (s *Shop) Run(n int) error {
	if n > 0 {
		return nil
	}
	return nil
}

func (s Shop) Close() {}

func (s *Stack[K]) Push(k K) {
	s.items = append(s.items, k)
}

func Map[K any, V any](k K, f func(K) V) V { return f(k) }

func asmAdd(a, b int) int

var handler = func() {
	println(1)
}
`,
  outline: [
    ...['constant Limit', 'constant A', 'constant B', 'struct Shop', 'field Shop.Name', 'struct Stack'],
    ...['field Stack.items', 'method Shop.Run', 'method Shop.Close', 'method Stack.Push', 'function Map'],
    ...['function asmAdd', 'function handler'],
  ],
  edits: [
    {
      ...{ edit: 'body', symbol: '(*Shop).Run', text: 'for i := range n {\n    println(i)\n}\nreturn nil' },
      from: '\tif n > 0 {\n\t\treturn nil\n\t}\n\treturn nil\n',
      to: '\tfor i := range n {\n\t\tprintln(i)\n\t}\n\treturn nil\n',
    },
    { ...{ edit: 'body', symbol: '(Shop).Close', text: 'println()' }, from: 'Close() {}', to: 'Close() { println() }' },
    {
      ...{ edit: 'body', symbol: '(*Stack[K]).Push', text: 's.items = nil' },
      from: 's.items = append(s.items, k)',
      to: 's.items = nil',
    },
    {
      ...{ edit: 'body', symbol: 'Map', text: 'var v V; return v' },
      from: '{ return f(k) }',
      to: '{ var v V; return v }',
    },
    {
      ...{ edit: 'body', symbol: 'handler', text: 'println(`\na\n`)' },
      from: '\tprintln(1)\n',
      to: '\tprintln(`\na\n`)\n',
    },
    {
      ...{ edit: 'signature', symbol: 'Shop.Run', text: 'func (s *Shop) Run(n, m int) (int, error) {' },
      from: 'func (s *Shop) Run(n int) error {',
      to: 'func (s *Shop) Run(n, m int) (int, error) {',
    },
    {
      ...{ edit: 'signature', symbol: 'asmAdd', text: 'func asmAdd(a, b, c int) int' },
      from: 'func asmAdd(a, b int) int',
      to: 'func asmAdd(a, b, c int) int',
    },
    {
      ...{ edit: 'after', symbol: 'Shop.Close', text: 'func (s Shop) Open() {\n  println()\n}' },
      from: 'Close() {}\n',
      to: 'Close() {}\n\nfunc (s Shop) Open() {\n\tprintln()\n}\n',
    },
    { ...{ edit: 'after', symbol: 'A', text: 'C' }, from: '\tA = iota\n', to: '\tA = iota\n\tC\n' },
    {
      ...{ edit: 'before', symbol: 'Shop', text: '// Till.\ntype Till struct{}' },
      from: '// Shop sells.',
      to: '// Till.\ntype Till struct{}\n\n// Shop sells.',
    },
    {
      ...{ edit: 'replace', symbol: 'Limit', text: 'const Limit = 4 // more' },
      from: 'const Limit = 3',
      to: 'const Limit = 4 // more',
    },
    { ...{ edit: 'delete', symbol: 'Shop.Close' }, from: '\nfunc (s Shop) Close() {}\n', to: '' },
    { ...{ edit: 'delete', symbol: 'B' }, from: '\tB\n', to: '' },
  ],
};
