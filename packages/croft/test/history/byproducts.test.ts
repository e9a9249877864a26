import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import type { McpSession } from '../support/harness.ts';
import { script } from '../support/lint-fixture.ts';
import { openFixture } from './fixture.ts';

// Each starts a server of its own.
vi.setConfig({ testTimeout: 90_000 });

const manifest = JSON.stringify({ type: 'module', scripts: { test: 'node --test' } });
/** Leaves a report and a cache behind, as runners do that nothing ignores. */
const suite = `import { mkdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
test('x', () => {
  mkdirSync('.cache/deep', { recursive: true });
  writeFileSync('.cache/deep/last', String(Math.random()));
  writeFileSync('.coverage', String(Math.random()));
});
`;
const tree = { 'package.json': manifest, 'one.js': 'export const one = 1;\n', 'one.test.js': suite };

const edit = (session: McpSession, from: string, to: string) =>
  session.call('edit', { file_path: 'one.js', old_string: from, new_string: to });

async function list(session: McpSession): Promise<{ tool: string; paths: number; isByproduct?: boolean }[]> {
  return (await session.call('undo_list')).structured.checkpoints;
}

test('undo after an edit and test runs reverts the edit, and keeps the by-products of the runs', async () => {
  using fixture = openFixture(tree);
  await using session = await fixture.connect();
  await session.call('read', { file_path: 'one.js' });
  await edit(session, '= 1', '= 2');
  for (let run = 0; run < 2; run++) expect((await session.call('run_tests')).structured.state).toBe('passed');
  expect(await list(session)).toMatchObject([{ tool: 'edit', paths: 1 }]);
  const undone = await session.call('undo');
  expect(undone.structured.undone, undone.text).toMatchObject([{ tool: 'edit' }]);
  expect(readFileSync(fixture.at('one.js'), 'utf8')).toBe(tree['one.js']);
  expect(existsSync(fixture.at('.coverage')) && existsSync(fixture.at('.cache/deep/last'))).toBe(true);
  expect((await session.call('undo')).text).toContain('no call can still be undone');
});

test('a change of a test run to a file of the project is skipped by undo, and reverted by its name', async () => {
  const careless = `import { rmSync } from 'node:fs';\n${suite}test('y', () => rmSync('notes.txt', { force: true }));\n`;
  using fixture = openFixture({ ...tree, 'one.test.js': careless, 'notes.txt': 'kept\n' });
  await using session = await fixture.connect();
  await session.call('read', { file_path: 'one.js' });
  await edit(session, '= 1', '= 2');
  await session.call('run_tests');
  expect(existsSync(fixture.at('notes.txt'))).toBe(false);
  const [byTests, byEdit] = (await session.call('undo_list')).structured.checkpoints;
  expect([byTests, byEdit]).toMatchObject([{ tool: 'run_tests', paths: 1, isByproduct: true }, { tool: 'edit' }]);
  expect((await session.call('undo')).structured.undone).toMatchObject([{ tool: 'edit' }]);
  const back = await session.call('undo', { checkpoint: byTests.checkpoint });
  expect(back.isError, back.text).toBe(false);
  expect(readFileSync(fixture.at('notes.txt'), 'utf8')).toBe('kept\n');
});

test('a command beside a test run can be undone', async () => {
  const waiting = `import { existsSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
test('x', async () => {
  writeFileSync('begun', '');
  while (!existsSync('by-command')) await new Promise((resolve) => setTimeout(resolve, 20));
});
`;
  using fixture = openFixture({ ...tree, 'one.test.js': waiting });
  await using session = await fixture.connect();
  await session.call('bash', { command: 'true' });
  const testing = session.call('run_tests');
  const command =
    'while [ ! -e begun ]; do sleep 0.05; done; echo x > by-command; while [ ! -e over ]; do sleep 0.05; done';
  const running = session.call('bash', { command });
  expect((await testing).structured.state).toBe('passed');
  writeFileSync(fixture.at('over'), '');
  await running;
  const undone = await session.call('undo');
  expect(undone.structured.undone[0], undone.text).toMatchObject({ tool: 'bash' });
  expect(existsSync(fixture.at('by-command'))).toBe(false);
});

test('an edit with its formatter and its linter is one checkpoint, without their by-products', async () => {
  const formatter = script(
    'mkdir -p .fmt; date +%N > .fmt/cache; for f; do case $f in -*) ;; *) sed -i "s/  */ /g" $f;; esac; done',
  );
  const linter = script('date +%N > lint-cache; echo \'[{"filePath":"one.js","messages":[]}]\'');
  using fixture = openFixture({
    ...{ ...tree, 'eslint.config.js': '', '.prettierrc': '{}' },
    ...{ 'node_modules/.bin/eslint': linter, 'node_modules/.bin/prettier': formatter, '.gitignore': 'node_modules\n' },
  });
  for (const name of ['eslint', 'prettier']) chmodSync(fixture.at(`node_modules/.bin/${name}`), 0o755);
  await using session = await fixture.connect('--format-on-edit', '--edit-check-seconds', '120');
  await session.call('read', { file_path: 'one.js' });
  const edited = await edit(session, '= 1', '=   2');
  expect(edited.structured.effects, edited.text).toMatchObject({ formatted: ['one.js'], lint: [] });
  expect(readFileSync(fixture.at('one.js'), 'utf8')).toBe('export const one = 2;\n');
  expect(await list(session)).toMatchObject([{ tool: 'edit', paths: 1 }]);
  const undone = await session.call('undo');
  expect(undone.structured, undone.text).toMatchObject({ changed: ['one.js'], added: [], removed: [] });
  expect(readFileSync(fixture.at('one.js'), 'utf8')).toBe(tree['one.js']);
  expect(existsSync(fixture.at('lint-cache')) && existsSync(fixture.at('.fmt/cache'))).toBe(true);
});

test('run_format makes a change that can be undone, without its cache', async () => {
  const formatter = script('mkdir -p .fmt; echo x > .fmt/cache; echo "export const one = 3;" > one.js');
  using fixture = openFixture({
    ...{ ...tree, '.prettierrc': '{}', 'node_modules/.bin/prettier': formatter, '.gitignore': 'node_modules\n' },
  });
  chmodSync(fixture.at('node_modules/.bin/prettier'), 0o755);
  await using session = await fixture.connect();
  await session.call('run_format');
  await session.call('run_tests');
  const undone = await session.call('undo');
  expect(undone.structured, undone.text).toMatchObject({ undone: [{ tool: 'run_format' }], changed: ['one.js'] });
  expect(undone.structured.removed).toEqual([]);
  expect(readFileSync(fixture.at('one.js'), 'utf8')).toBe(tree['one.js']);
});
