import { appendFileSync, readdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { connectStdio, makeDirectory, runCroft } from '../support/harness.ts';
import { machines } from './code-workspace.ts';
import { buildIndex, connect, indexedPaths, makeProject, readIndex, search, sources } from './index-fixture.ts';

test.each(machines)(
  'the index answers like the files, and a change by any program is in the next answer (on %s)',
  async (machine) => {
    const root = makeProject();
    const session = await connect(root, { machine });
    const cold = await search(session, 'parse config');
    const file = await buildIndex(session, root);
    expect(indexedPaths(file)).toEqual(Object.keys(sources).sort());
    expect((await search(session, 'parse config'))[0]).toBe(cold[0]);
    expect((await search(session, 'http server'))[0]).toBe('src/server.ts:1 HTTPServer');
    expect((await search(session, 'parseConfig'))[0]).toBe('src/config.ts:2 parseConfig');
    expect((await search(session, 'frobnicator'))[0]).toBe('docs/guide.md:3');

    await session.call('bash', { command: "printf 'export function zebraCrossing() {}\\n' > src/fresh.ts" });
    expect(await search(session, 'zebra crossing')).toEqual(['src/fresh.ts:1 zebraCrossing']);
    expect(indexedPaths(file)).toContain('src/fresh.ts');
    await session.call('bash', { command: 'mv src moved && rm moved/server.ts' });
    expect(await search(session, 'zebra crossing')).toEqual(['moved/fresh.ts:1 zebraCrossing']);
    expect(await search(session, 'HTTPServer')).toEqual([]);
  },
);

test.each(machines)(
  'what .gitignore names anew is gone, and what it names no more is found (on %s)',
  async (machine) => {
    const root = makeProject();
    const session = await connect(root, { machine });
    const file = await buildIndex(session, root);
    await session.call('write', { file_path: '.gitignore', content: 'docs/\nsecret.ts\n' });
    expect(await search(session, 'frobnicator')).toEqual([]);
    // A new file that is ignored is never read.
    writeFileSync(root.at('project/src/secret.ts'), 'export function hiddenThing() {}\n');
    expect(await search(session, 'hidden thing')).toEqual([]);
    await vi.waitFor(() => expect(indexedPaths(file)).not.toContain('docs/guide.md'));
    expect(indexedPaths(file)).not.toContain('src/secret.ts');
    rmSync(root.at('project/.gitignore'));
    expect(await search(session, 'frobnicator')).toEqual(['docs/guide.md:3']);
    expect(await search(session, 'hidden thing')).toEqual(['src/secret.ts:1 hiddenThing']);
  },
);

test.each([
  ['cut off', (file: string) => truncateSync(file, 20_000)],
  ['no database', (file: string) => writeFileSync(file, 'x'.repeat(50_000))],
  ['gone', (file: string) => rmSync(file)],
])('an index that is %s is built anew', async (_, damage) => {
  const root = makeProject();
  const earlier = await connect(root);
  damage(await buildIndex(earlier, root));
  await earlier.close();
  const session = await connect(root);
  expect((await search(session, 'parse config'))[0]).toBe('src/config.ts:2 parseConfig');
  const file = await buildIndex(session, root);
  expect(indexedPaths(file)).toEqual(Object.keys(sources).sort());
});

test.each(machines)('a file that was changed while nobody looked is read again (on %s)', async (machine) => {
  const root = makeProject();
  const earlier = await connect(root, { machine });
  await buildIndex(earlier, root);
  await earlier.close();
  writeFileSync(root.at('project/src/notes.ts'), 'export function okapiStripes() {}\n');
  renameSync(root.at('project/src/server.ts'), root.at('project/src/gateway.ts'));
  const session = await connect(root, { machine });
  await buildIndex(session, root);
  expect(await search(session, 'okapi stripes')).toEqual(['src/notes.ts:1 okapiStripes']);
  expect((await search(session, 'HTTPServer'))[0]).toBe('src/gateway.ts:1 HTTPServer');
});

test('two programs on one directory share the index, and each sees what the other changes', async () => {
  const root = makeProject();
  const [one, other] = await Promise.all([connect(root), connect(root, { flags: ['--readonly'] })]);
  const [file] = await Promise.all([buildIndex(one, root), buildIndex(other, root)]);
  for (let round = 0; round < 5; round++) {
    const name = `zebra${'abcde'[round]}Crossing`;
    await one.call('write', { file_path: `src/new${round}.ts`, content: `export function ${name}() {}\n` });
    const expected = [`src/new${round}.ts:1 ${name}`];
    const found = await Promise.all([search(one, name, { limit: 1 }), search(other, name, { limit: 1 })]);
    expect(found).toEqual([expected, expected]);
  }
  // Both store the same file again and again, each while the other answers.
  for (let round = 0; round < 40; round++) {
    appendFileSync(root.at('project/src/new4.ts'), `export function okapi${round}() {}\n`);
    const found = await Promise.all(
      [one, other, one, other].map((each) => search(each, 'zebraeCrossing', { limit: 1 })),
    );
    expect(found).toEqual(Array(4).fill(['src/new4.ts:1 zebraeCrossing']));
  }
  expect(readIndex(file, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
});

test('all workspaces are searched, path and kind and language narrow the search, and du shows the index', async () => {
  const root = makeDirectory({
    'one/a.ts': 'export class ParserOfOne {}\n',
    'other/b.py': 'class ParserOfOther:\n    pass\n',
    'other/sub/c.ts': 'export function parserOfSub() {}\n',
  });
  onTestFinished(() => root[Symbol.dispose]());
  const env = { CROFT_DATA: root.at('data') };
  const session = await connectStdio(['--workspaces', `one=${root.at('one')},other=${root.at('other')}`], { env });
  onTestFinished(() => session[Symbol.asyncDispose]());
  const both = async () =>
    JSON.stringify((await session.call('search_code', { query: 'parser', workspace: 'all' })).text);
  await both();
  await vi.waitFor(() => expect(readdirSync(root.at('data/code'))).toHaveLength(2));
  for (const found of [await both(), await both()]) {
    expect(found).toContain('ParserOfOne');
    expect(found).toContain('ParserOfOther');
  }
  expect(await search(session, 'parser', { workspace: 'other', path: 'sub' })).toEqual(['sub/c.ts:1 parserOfSub']);
  expect(await search(session, 'parser', { workspace: 'other', language: 'python' })).toEqual(['b.py:1 ParserOfOther']);
  expect(await search(session, 'parser', { workspace: 'other', kind: 'function' })).toEqual(['sub/c.ts:1 parserOfSub']);
  const { stdout } = await runCroft(['du'], { env });
  expect(stdout).toMatch(/code index of .*\/one\n/);
});

test.each(machines)(
  'a map has what others use first, fits its tokens, is the same twice, and follows its focus (on %s)',
  async (machine) => {
    const root = makeDirectory(
      Object.fromEntries([
        ['project/src/core.ts', 'export function computeEverything(input: string) {\n  return input;\n}\n'],
        ['project/src/rare.ts', "export function rarelyNeeded() {\n  return 'x';\n}\n"],
        [
          'project/src/leaf.ts',
          "import { rarelyNeeded } from './rare.ts';\nexport const leafValue = rarelyNeeded();\n",
        ],
        [
          'project/src/core.test.ts',
          "import { computeEverything } from './core.ts';\n\ndescribe('callerNumber1', () => {\n  it('computeEverything', () => {\n    computeEverything('');\n  });\n});\n",
        ],
        ...Array.from({ length: 60 }, (_, index) => [
          `project/src/user${index}.ts`,
          `export function callerNumber${index}(text: string, other: number) {\n  return computeEverything(text + other);\n}\n`,
        ]),
      ]),
    );
    onTestFinished(() => root[Symbol.dispose]());
    const session = await connect(root, { machine });
    const map = async (args: Record<string, unknown>) => {
      const { text, structured } = await session.call('repo_map', args);
      expect(structured).toMatchObject({ complete: true });
      return text;
    };
    const whole = await map({ tokens: 600 });
    expect(whole).toMatch(/^src\/core\.ts\n {2}1 export function computeEverything\(input: string\)\n/);
    expect(whole).not.toMatch(/describe|it\(/);
    expect(whole.length / 3.4).toBeGreaterThan(540);
    expect(whole.length / 3.4).toBeLessThan(660);
    expect(await map({ tokens: 600 })).toBe(whole);
    expect(await map({ tokens: 30 })).not.toContain('rarelyNeeded');
    expect(await map({ tokens: 30, focus: ['src/leaf.ts'] })).toContain('rarelyNeeded');
    const { text } = await session.call('outline', {});
    expect(text.length / 3.4).toBeLessThan(1500);
  },
);
