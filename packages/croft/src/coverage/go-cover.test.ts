import { expect, test } from 'vitest';
import type { CoverageRequest } from '../core/project-tools/coverage-tool.ts';
import { goCover } from './go-cover.ts';

/** Recorded from go 1.19.8: two packages named `util`, one test file at a time. */
const sources: Record<string, string> = {
  'go.mod': 'module example.com/demo\n\ngo 1.19\n',
  'util/util.go': `package util

// Sign says which side of zero x is on.
func Sign(x int) string {
	if x < 0 {
		return "minus"
	} else if x == 0 {
		return "zero"
	}
	return "plus"
}

func Later() func() int {
	f := func() int {
		a := 1
		return a
	}
	x := 2
	_ = x
	return f
}

func Never() int { return 1 }
`,
  'b/util/util.go': 'package util\n\nfunc Other() int {\n\treturn 1\n}\n\nfunc Missed() int {\n\treturn 2\n}\n',
};

const blocks = [
  'example.com/demo/b/util/util.go:3.18,5.2 1',
  'example.com/demo/b/util/util.go:7.19,9.2 1',
  'example.com/demo/util/util.go:4.25,5.11 1',
  'example.com/demo/util/util.go:10.2,10.15 1',
  'example.com/demo/util/util.go:5.11,7.3 1',
  'example.com/demo/util/util.go:7.8,7.19 1',
  'example.com/demo/util/util.go:7.19,9.3 1',
  'example.com/demo/util/util.go:13.25,14.18 1',
  'example.com/demo/util/util.go:18.2,20.10 3',
  'example.com/demo/util/util.go:14.18,17.3 2',
  'example.com/demo/util/util.go:23.18,23.30 1',
];
const toProfile = (counts: readonly number[]) =>
  ['mode: set', ...blocks.map((block, index) => `${block} ${counts[index]}`), ''].join('\n');
/** Profiles of `Sign(1)`, and of `Sign(-1)`, `Later()` and `Other()`. */
const plus = toProfile([0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0]);
const minus = toProfile([1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0]);

const request: CoverageRequest = {
  ...{ argv: ['go', 'test', '$FILES'], runnerArgv: ['go', 'test', '-json', '-count=1', './util'] },
  ...{ testFile: 'util/a_test.go', testText: '', dataPath: '/tmp/p', workspacePath: '/w' },
};

async function read(text: string, files = sources): Promise<Record<string, number[]> | undefined> {
  const found = await goCover.read({ text, request, readText: async (path) => files[path] });
  return found && Object.fromEntries([...found.files].map(([path, lines]) => [path, [...lines]]));
}

test('counts lines that ran, not lines that could have run, and keeps files with the same name apart', async () => {
  expect(await read(plus)).toEqual({ 'util/util.go': [4, 5, 7, 10] });
  expect(await read(minus)).toEqual({
    'b/util/util.go': [3, 4],
    'util/util.go': [4, 5, 6, 13, 14, 18, 19, 20],
  });
});

test('counts of every mode, and of a block that comes twice', async () => {
  const line = 'example.com/demo/b/util/util.go:7.19,9.2 1';
  expect(await read(`mode: atomic\n${line} 0\n${line} 18446744073709551615\n`)).toEqual({ 'b/util/util.go': [7, 8] });
});

test('files of other modules are left out, even with the same end of the path', async () => {
  const line = 'util/util.go:3.18,5.2 1 1';
  expect(await read(`mode: set\nexample.com/demo2/${line}\nexample.com/other/${line}\n${line}\n`)).toEqual({});
});

test('without a module or a profile the coverage is unknown', async () => {
  expect(await read(plus, {})).toBeUndefined();
  expect(await read('')).toBeUndefined();
});

test('a block that ends beyond the end of the file is cut there', async () => {
  const lines = (await read('mode: set\nexample.com/demo/b/util/util.go:1.1,999999999.1 1 1\n'))?.['b/util/util.go'];
  expect(lines?.at(-1)).toBe(sources['b/util/util.go']?.split('\n').length);
});

test('asks for the tests of a file by their names', () => {
  const testText = `package util

func TestMain(m *testing.M) {}
func TestPlus(t *testing.T) { Sign(1) }
func FuzzÜber(f *testing.F) {}
func ExampleSign() {}
func (s *Suite) TestMethod() {}
func BenchmarkSign(b *testing.B) {}
`;
  expect(goCover.toRun({ ...request, testText })?.argv).toEqual([
    ...['go', 'test', '-run=^(TestPlus|FuzzÜber|ExampleSign)$', '-coverprofile=/tmp/p', '-coverpkg=./...'],
    ...['-json', '-count=1', './util'],
  ]);
  expect(goCover.toRun({ ...request, testText: 'package util\nfunc helper() {}\n' })).toBeUndefined();
});
