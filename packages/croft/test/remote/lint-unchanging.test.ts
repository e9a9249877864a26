import { chmodSync, mkdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { script, untilSaid } from '../support/lint-fixture.ts';
import { type Platform, startPlatform } from '../support/servers/platform.ts';
import { filesOf, startRemote } from './runner-fixture.ts';

vi.setConfig({ testTimeout: 120_000 });

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform[Symbol.asyncDispose]());

const clean = 'echo \'[{"filePath":"src/a.js","messages":[]}]\'';
/** Changes files, as a linter does that is configured to fix. */
const mending = 'for f in src/*.js; do sed -i "s/  */ /g" $f; done';
const bad = 'let  a;\n';

/** An agent whose workspace on a real runner is a project with such a linter. */
async function startProject(name: string, linter: string) {
  const remote = await startRemote(platform, { name });
  await remote.ok('list');
  const at = (path: string) => join(filesOf(remote.runner), path);
  const tree = {
    ...{ 'package.json': '{"name":"x"}', 'eslint.config.js': '', '.gitignore': 'node_modules\n' },
    ...{ 'src/a.js': bad, 'src/b.js': bad, 'node_modules/.bin/eslint': script(linter) },
  };
  for (const [path, content] of Object.entries(tree)) {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), content);
  }
  chmodSync(at('node_modules/.bin/eslint'), 0o755);
  return { ...remote, at, read: (path: string) => readFileSync(at(path), 'utf8') };
}

test('changes of a linter on a runner are reverted, which is reported', async () => {
  await using project = await startProject('mending', `${mending}; echo x >> cache; ${clean}`);
  const { text, structured } = await project.ok('run_lint');
  expect(text).toContain('(eslint changed files, which were put back: src/a.js, src/b.js)');
  expect(structured.runs).toMatchObject([{ state: 'unreadable', putBack: ['src/a.js', 'src/b.js'] }]);
  expect(structured.notices).toBeUndefined();
  expect([project.read('src/a.js'), project.read('src/b.js')]).toEqual([bad, bad]);
  expect(project.read('cache')).toBe('x\n');
  expect((await project.ok('undo_list')).structured.checkpoints).toEqual([]);
});

test('changes of a linter on a runner are reverted after an edit too, and the edit stays', async () => {
  await using project = await startProject('editing', `${mending}; ${clean}`);
  const edit = () => project.ok('write', { file_path: 'src/new.js', content: 'let  n;\n' });
  await untilSaid(edit, /\n\n\(eslint changed files, which were put back: .*src\/new\.js\)$/);
  const now = () => [project.read('src/a.js'), project.read('src/new.js')];
  await vi.waitFor(() => expect(now()).toEqual([bad, 'let  n;\n']), { timeout: 60_000 });
});

test('a write of a person on the runner during a linter run stays', async () => {
  const waiting = `echo x > begun; while [ ! -e go ]; do sleep 0.05; done; ${mending}; ${clean}`;
  await using project = await startProject('meanwhile', waiting);
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const watching = watch(project.at('.'), (_, name) => name === 'begun' && resolve());
  const linting = project.ok('run_lint');
  await begun.finally(() => watching.close());
  writeFileSync(project.at('src/a.js'), 'by  a person\n');
  writeFileSync(project.at('go'), '');
  const { structured, text } = await linting;
  expect(structured.runs, text).toMatchObject([{ putBack: ['src/b.js'], changedMeanwhile: ['src/a.js'] }]);
  expect([project.read('src/a.js'), project.read('src/b.js')]).toEqual(['by a person\n', bad]);
});
