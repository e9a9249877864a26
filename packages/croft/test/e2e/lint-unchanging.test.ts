import { chmodSync, mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, watch, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { listTree } from '../history/fixture.ts';
import { connectStdio, type McpSession, makeDirectory } from '../support/harness.ts';
import { makeProject, script, untilSaid } from '../support/lint-fixture.ts';
import { hasToolchains } from '../support/toolchains.ts';

vi.setConfig({ testTimeout: 150_000 });

const hasRubocop = await hasToolchains('rubocop');

const clean = 'echo \'[{"filePath":"src/a.js","messages":[]}]\'';
/** Changes files, as a linter does that is configured to fix. */
const mending = 'for f in src/*.js; do sed -i "s/  */ /g" $f; done';
const bad = 'let  a;\n';

const withEslint = (body: string, more: Record<string, string> = {}) =>
  makeProject({
    ...{ 'package.json': '{"name":"x"}', 'eslint.config.js': '', '.gitignore': 'node_modules\n' },
    ...{
      'src/a.js': bad,
      'src/b.js': bad,
      'src/clean.js': 'let c;\n',
      'node_modules/.bin/eslint': script(body),
      ...more,
    },
  });

/** Without the package caches of the user who runs the tests: they may be large, and an edit does not wait for them. */
const home = makeDirectory();
afterAll(() => home[Symbol.dispose]());
const connect = (directory: string, ...flags: string[]) =>
  connectStdio(['--workspace', directory, '--edit-check-seconds', '120', ...flags], { env: { HOME: home.path } });
const read = (project: { at(name: string): string }, name: string) => readFileSync(project.at(name), 'utf8');

describe('a linter that changes source files', () => {
  test('has its changes reverted, which is reported, and the result is not clean', async () => {
    using project = withEslint(`${mending}; echo x >> cache; ${clean}`);
    await using session = await connect(project.path);
    const { text, structured } = await session.call('run_lint');
    expect(text).toContain('(eslint changed files, which were put back: src/a.js, src/b.js)');
    expect(structured.runs).toMatchObject([{ state: 'unreadable', putBack: ['src/a.js', 'src/b.js'] }]);
    expect([read(project, 'src/a.js'), read(project, 'src/b.js')]).toEqual([bad, bad]);
    expect(read(project, 'cache')).toBe('x\n');
    expect((await session.call('undo_list')).structured.checkpoints).toEqual([]);
  });

  test('has its changes reverted after an edit too, and the edit stays', async () => {
    using project = withEslint(`${mending}; ${clean}`);
    await using session = await connect(project.path);
    const edit = () => session.call('write', { file_path: 'src/new.js', content: 'let  n;\n' });
    await untilSaid(edit, /\n\n\(eslint changed files, which were put back: .*src\/new\.js\)$/);
    const now = () => [read(project, 'src/a.js'), read(project, 'src/new.js')];
    await vi.waitFor(() => expect(now()).toEqual([bad, 'let  n;\n']), { timeout: 60_000 });
    expect((await session.call('undo_list')).structured.checkpoints).toMatchObject([{ tool: 'write', paths: 1 }]);
  });

  test('of a type checker has its changes reverted too', async () => {
    using project = makeProject({
      ...{ 'package.json': '{"name":"x"}', 'tsconfig.json': '{}', '.gitignore': 'node_modules\n', 'src/a.ts': bad },
      'node_modules/.bin/tsc': script('echo mended > src/a.ts; echo "Files: 1"'),
    });
    await using session = await connect(project.path);
    const { structured } = await session.call('run_typecheck');
    expect(structured.runs).toMatchObject([{ state: 'unreadable', putBack: ['src/a.ts'] }]);
    expect(read(project, 'src/a.ts')).toBe(bad);
  });
});

describe('a change that cannot be attributed to the linter', () => {
  test('because the name is not UTF-8 stays and is named, and other changes are reverted', async () => {
    using project = withEslint(`${mending}; ${clean}`);
    const strange = Buffer.concat([Buffer.from(project.at('src/')), Buffer.from([0xff]), Buffer.from('.js')]);
    writeFileSync(strange, bad);
    await using session = await connect(project.path);
    const { structured, text } = await session.call('run_lint');
    expect(structured.runs, text).toMatchObject([{ putBack: ['src/a.js', 'src/b.js'] }]);
    expect(structured.runs[0].changedMeanwhile).toHaveLength(1);
    expect([read(project, 'src/a.js'), readFileSync(strange, 'utf8')]).toEqual([bad, 'let a;\n']);
  });

  test('because a second run could change the files itself stays and is named', async () => {
    using project = withEslint(`${mending}; ${clean}`);
    await using session = await connect(project.path, '--sandbox', 'none', '--network', 'allow-all');
    const { structured, text } = await session.call('run_lint');
    expect(structured.runs, text).toMatchObject([{ changedMeanwhile: ['src/a.js', 'src/b.js'] }]);
    expect(text).toContain('(changed while eslint ran, perhaps by somebody else, and left so: src/a.js, src/b.js)');
    expect(read(project, 'src/a.js')).toBe('let a;\n');
  });
});

describe('a check whose result comes too late', () => {
  const slow = `${mending}; while [ -e slow ]; do sleep 0.05; done; ${clean}`;

  test('for a caller that is gone has its changes reverted', async () => {
    using project = withEslint(slow, { slow: '' });
    await using session = await connect(project.path);
    const gone = new AbortController();
    const linting = session.call('run_lint', {}, { signal: gone.signal });
    await vi.waitFor(() => expect(read(project, 'src/b.js')).not.toBe(bad), { timeout: 30_000 });
    gone.abort();
    await expect(linting).rejects.toThrow();
    rmSync(project.at('slow'));
    await vi.waitFor(() => expect([read(project, 'src/a.js'), read(project, 'src/b.js')]).toEqual([bad, bad]), {
      timeout: 30_000,
    });
  });

  test('for its edit has its changes reverted, and the next edit reports it', async () => {
    using project = withEslint(slow, { slow: '' });
    await using session = await connect(project.path, '--edit-check-seconds', '2');
    const put = (name: string) => session.call('write', { file_path: `src/${name}.js`, content: 'let n;\n' });
    expect((await put('one')).text).not.toContain('put back');
    rmSync(project.at('slow'));
    await vi.waitFor(() => expect(read(project, 'src/a.js')).toBe(bad), { timeout: 30_000 });
    // The late notice comes with the first edit after it is known.
    await vi.waitFor(async () => expect((await put('two')).text).toContain('which were put back: src/a.js, src/b.js'), {
      timeout: 30_000,
    });
  });
});
/** Tells when a file of this name appears. */
function watchFor(directory: string, awaited: string, onFound: () => void): Disposable {
  const watching = watch(directory, (_, name) => name === awaited && onFound());
  return { [Symbol.dispose]: () => watching.close() };
}

/** Runs when the linter is under way, which then waits for it. */
async function lintDuring(
  project: ReturnType<typeof withEslint>,
  session: McpSession,
  work: () => Promise<void> | void,
) {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  using _watching = watchFor(project.path, 'begun', resolve);
  const linting = session.call('run_lint');
  await begun;
  await work();
  writeFileSync(project.at('go'), '');
  return linting;
}

describe('a write by others while a linter runs', () => {
  const waiting = `echo x > begun; while [ ! -e go ]; do sleep 0.05; done; ${mending}; ${clean}`;

  test('stays, from a person or another session, and although the linter changes files itself', async () => {
    using project = withEslint(waiting);
    // The linter that follows the write waits as well.
    await using session = await connect(project.path, '--edit-check-seconds', '1');
    const { structured, text } = await lintDuring(project, session, async () => {
      writeFileSync(project.at('src/clean.js'), 'by a person\n');
      const content = 'let by;\n';
      await session.call('read', { file_path: 'src/b.js' });
      expect((await session.call('write', { file_path: 'src/b.js', content })).isError).toBe(false);
    });
    expect(structured.runs, text).toMatchObject([{ putBack: ['src/a.js'], changedMeanwhile: ['src/clean.js'] }]);
    expect(text).toContain('(changed while eslint ran, perhaps by somebody else, and left so: src/clean.js)');
    const now = ['src/a.js', 'src/b.js', 'src/clean.js'].map((name) => read(project, name));
    expect(now).toEqual([bad, 'let by;\n', 'by a person\n']);
  });

  test('stays if both changed the same file', async () => {
    using project = withEslint(waiting);
    await using session = await connect(project.path);
    const { structured } = await lintDuring(project, session, () =>
      writeFileSync(project.at('src/a.js'), 'by  a person\n'),
    );
    expect(structured.runs).toMatchObject([{ putBack: ['src/b.js'], changedMeanwhile: ['src/a.js'] }]);
    expect(read(project, 'src/a.js')).toBe('by a person\n');
  });
});

describe('proof that a linter changed a file', () => {
  const waiting = (mend: string) => `echo x > begun; while [ ! -e go ]; do sleep 0.05; done; ${mend}; ${clean}`;

  test('fails for a link that a person put in place of a file', async () => {
    using project = withEslint(waiting('true'), { 'src/target.js': 'let t;\n' });
    await using session = await connect(project.path);
    const { structured } = await lintDuring(project, session, () => {
      rmSync(project.at('src/a.js'));
      symlinkSync('target.js', project.at('src/a.js'));
    });
    expect(structured.runs).toMatchObject([{ state: 'clean', changedMeanwhile: ['src/a.js'] }]);
    expect(readlinkSync(project.at('src/a.js'))).toBe('target.js');
    expect(read(project, 'src/target.js')).toBe('let t;\n');
  });

  test('fails for a name that is not UTF-8, and the text of the person stays', async () => {
    using project = withEslint(waiting(mending));
    const odd = Buffer.concat([Buffer.from(project.at('src/odd')), Buffer.from([0xff]), Buffer.from('.js')]);
    writeFileSync(odd, 'before\n');
    await using session = await connect(project.path);
    const { structured } = await lintDuring(project, session, () => writeFileSync(odd, 'by_a_person\n'));
    expect(readFileSync(odd, 'utf8')).toBe('by_a_person\n');
    expect(structured.runs[0].putBack).toEqual(['src/a.js', 'src/b.js']);
  });

  test('succeeds for other files if one is now a directory, or too large', async () => {
    using project = withEslint(waiting(mending), { 'src/dir.js': bad, 'src/large.js': 'let  l;\n'.repeat(1_200_000) });
    await using session = await connect(project.path);
    const { structured } = await lintDuring(project, session, () => {
      rmSync(project.at('src/dir.js'));
      mkdirSync(project.at('src/dir.js'));
    });
    expect(structured.runs).toMatchObject([
      { putBack: ['src/a.js', 'src/b.js'], changedMeanwhile: ['src/dir.js', 'src/large.js'] },
    ]);
    expect([read(project, 'src/a.js'), read(project, 'src/b.js')]).toEqual([bad, bad]);
  });

  test('restores a file with its mode and bytes, whether the linter removed, linked or rewrote it', async () => {
    const mend = 'rm src/gone.js; ln -sf b.js src/a.js; chmod 644 src/tool.js; printf x > src/raw.js';
    using project = withEslint(`${mend}; ${clean}`, { 'src/gone.js': bad, 'src/tool.js': bad });
    const raw = Buffer.from([0, 255, 10, 13, 0, 128]);
    writeFileSync(project.at('src/raw.js'), raw);
    chmodSync(project.at('src/tool.js'), 0o755);
    const before = listTree(project.at('src'));
    await using session = await connect(project.path);
    const { structured } = await session.call('run_lint');
    expect(structured.runs[0].putBack.toSorted()).toEqual(['src/a.js', 'src/gone.js', 'src/raw.js', 'src/tool.js']);
    expect(listTree(project.at('src'))).toEqual(before);
  });

  test('has its own time after a linter that used up all of the time', async () => {
    using project = withEslint(`${mending}; exec sleep 600`);
    await using session = await connect(project.path);
    const { structured } = await session.call('run_lint', { timeout: 5 });
    expect(structured.runs).toMatchObject([{ state: 'broken', putBack: ['src/a.js', 'src/b.js'] }]);
    expect(read(project, 'src/a.js')).toBe(bad);
  });

  test('succeeds although the caller left while the linter ran', async () => {
    using project = withEslint(`${mending}; echo x > begun; exec sleep 600`);
    await using session = await connect(project.path);
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    using _watching = watchFor(project.path, 'begun', resolve);
    const caller = new AbortController();
    const call = session.call('run_lint', {}, { signal: caller.signal }).catch(() => 'given up');
    await begun;
    expect(read(project, 'src/a.js')).not.toBe(bad);
    // The repeated run ends soon.
    writeFileSync(project.at('node_modules/.bin/eslint'), script(`${mending}; ${clean}`));
    caller.abort();
    expect(await call).toBe('given up');
    await expect.poll(() => [read(project, 'src/a.js'), read(project, 'src/b.js')]).toEqual([bad, bad]);
  });

  test('includes documents and settings, and leaves out files that a check writes for itself', async () => {
    const mend =
      'for f in README.md package.json site.css; do echo " " >> $f; done; echo y > report.json; echo y > x.lock';
    const others = { 'README.md': '# x\n', 'site.css': 'a {}\n', 'report.json': '{}', 'x.lock': 'x\n' };
    using project = withEslint(`${mend}; ${clean}`, others);
    await using session = await connect(project.path);
    const { structured } = await session.call('run_lint');
    expect(structured.runs[0].putBack?.toSorted()).toEqual(['README.md', 'package.json', 'site.css']);
    expect([read(project, 'README.md'), read(project, 'report.json')]).toEqual(['# x\n', 'y\n']);
  });
});

describe('a linter that is configured to fix', () => {
  /** Obeys its settings and its options as ruff does. */
  const ruff = script(
    `case " $* " in *" --no-fix "*) ;; *) if grep -q "fix = true" ruff.toml; then sed -i /import/d a.py; echo "[]"; exit 0; fi;; esac
     echo '[{"code":"F401","filename":"a.py","location":{"row":1,"column":1},"message":"unused"}]'; exit 1`,
  );
  const tree = { 'ruff.toml': 'fix = true\n', 'a.py': 'import os\n', '.venv/bin/ruff': ruff };

  test('runs without fixing, so that an import that was just added stays', async () => {
    using project = makeProject(tree);
    chmodSync(project.at('.venv/bin/ruff'), 0o755);
    await using session = await connect(project.path);
    const written = await session.call('write', { file_path: 'b.py', content: 'import re\n' });
    expect(written.structured.effects.lint).toMatchObject([{ rule: 'F401' }]);
    const { structured } = await session.call('run_lint');
    expect(structured).toMatchObject({ state: 'findings', findings: [{ rule: 'F401' }], runs: [{ exitCode: 1 }] });
    expect(structured.runs[0].putBack).toBeUndefined();
    expect(read(project, 'a.py')).toBe('import os\n');
  });

  test.skipIf(!hasRubocop)('in a way that no option disables has its changes reverted', async () => {
    const source = '# frozen_string_literal: true\n\nputs "x"\n';
    using project = makeProject({ Rakefile: '', '.rubocop.yml': '', '.rubocop': '--autocorrect\n', 'a.rb': source });
    await using session = await connect(project.path);
    const { structured, text } = await session.call('run_lint');
    expect(structured.runs, text).toMatchObject([{ tool: 'rubocop', putBack: ['a.rb'] }]);
    expect(read(project, 'a.rb')).toBe(source);
  });

  test('by the command of the project runs without fixing too', async () => {
    using project = withEslint(`echo "$@" > called; ${clean}`, {
      'croft.toml': '[commands]\nlint = ["node_modules/.bin/eslint", "--fix", "--fix-type", "layout", "$FILES"]\n',
    });
    await using session = await connect(project.path);
    expect((await session.call('run_lint')).structured.state).toBe('clean');
    expect(read(project, 'called')).toBe('. --format=json\n');
  });
});
