import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { connectStdio, makeDirectory } from '../support/harness.ts';
import { installBiome, makeProject, replay, script } from '../support/lint-fixture.ts';

const manifest = '{"name":"x","type":"module"}';
const finding = '{"ruleId":"r","severity":2,"message":"m","line":1,"column":2}';
/** Finds something in every file it is given, and remembers which. */
const complaining = script(
  `echo "$@" >> calls\nprintf '['; first=; for f in "$@"; do case $f in --*) ;; *) printf '%s{"filePath":"%s","messages":[${finding}]}' "$first" "$f"; first=,;; esac; done; echo ']'; exit 1`,
);
const withEslint = (program: string, more: Record<string, string> = {}) =>
  makeProject({
    'package.json': manifest,
    'eslint.config.js': 'export default [];',
    'node_modules/.bin/eslint': program,
    'src/a.js': 'const a = 1;\n',
    'README.md': 'words\n',
    ...more,
  });

async function connect(directory: string, ...flags: string[]) {
  const patient = ['--edit-check-seconds', '120'];
  const session = await connectStdio(['--workspace', directory, '--sandbox', 'bubblewrap', ...patient, ...flags]);
  await session.client.listTools();
  return session;
}

describe('after an edit', () => {
  test('the linter reports its findings for that file, after a blank line', async () => {
    using project = makeProject({
      'package.json': manifest,
      'biome.json': '{}',
      'src/a.js': 'export const a = 1;\n',
      'src/other.js': 'debugger;\n',
    });
    installBiome(project.path);
    using data = makeDirectory();
    await using session = await connect(project.path, '--events', data.at('events'));
    await session.call('read', { file_path: 'src/a.js' });
    const edit = { file_path: 'src/a.js', old_string: 'export const a = 1;', new_string: 'debugger;' };
    const { text, structured, isError } = await session.call('edit', edit);
    expect(isError).toBe(false);
    const [done, diff, ...feedback] = text.split('\n\n');
    expect([done, diff]).toEqual(['replaced 1 occurrence(s) in src/a.js', expect.stringMatching(/^@@ /)]);
    expect(feedback).toEqual([
      expect.stringMatching(/^post-edit lint findings \(1\):\nsrc\/a\.js:1:1:lint\/suspicious\/noDebugger: .+$/),
    ]);
    expect(structured.effects.lint).toMatchObject([{ file: 'src/a.js', line: 1, severity: 'error' }]);

    const fixed = await session.call('edit', { ...edit, old_string: 'debugger;', new_string: 'export {};' });
    expect(fixed.text).not.toContain('post-edit');
    expect(fixed.structured.effects).toEqual({ lint: [] });
    const events = readFileSync(data.at('events'), 'utf8')
      .trim()
      .split('\n')
      .map((row) => JSON.parse(row));
    const heard = events.filter(({ event }) => event === 'lifecycle.effect.lint').map(({ fields }) => fields);
    expect(heard).toMatchObject([
      { workspace: expect.any(String), files: ['src/a.js'], has_errors: true },
      { files: ['src/a.js'], has_errors: false },
    ]);
  });

  test('only the linter for that kind of file runs, on that file, and only after a change', async () => {
    using project = withEslint(complaining);
    await using session = await connect(project.path);
    await session.call('read', { file_path: 'README.md' });
    const words = await session.call('edit', { file_path: 'README.md', old_string: 'words', new_string: 'more' });
    expect(words.text).not.toContain('post-edit');
    expect(words.structured.effects).toBeUndefined();
    expect((await session.call('write', { file_path: 'src/a.js', content: 'x' })).isError).toBe(true);
    await session.call('write', { file_path: 'src/gone.txt', content: 'x' });
    await session.call('delete', { file_path: 'src/gone.txt' });
    await session.call('read', { file_path: 'src/a.js' });
    expect(project.calls()).toEqual([]);

    const { text } = await session.call('write', { file_path: 'src/a.js', content: 'const a = 2;\n' });
    expect(text).toBe('wrote 13 bytes to src/a.js\n\npost-edit lint findings (1):\nsrc/a.js:1:2:r: m');
    expect(project.calls()).toEqual(['src/a.js --format=json']);
    await session.call('delete', { file_path: 'src/a.js' });
    expect(project.calls()).toHaveLength(1);
  });

  test('a moved file is linted at its new path, and not formatted', async () => {
    using project = withEslint(complaining, { '.prettierrc': '', 'node_modules/.bin/prettier': script('echo > "$2"') });
    await using session = await connect(project.path, '--format-on-edit');
    const { text, structured, isError } = await session.call('move', { from: 'src/a.js', to: 'lib/b.js' });
    expect(isError).toBe(false);
    expect(text).toBe('moved src/a.js to lib/b.js\n\npost-edit lint findings (1):\nlib/b.js:1:2:r: m');
    expect(structured.effects.lint).toMatchObject([{ file: 'lib/b.js' }]);
    expect(readFileSync(project.at('lib/b.js'), 'utf8')).toBe('const a = 1;\n');
    expect((await session.call('move', { from: 'lib', to: 'other' })).text).toBe('moved lib to other');
  });

  test('the innermost project with a linter applies, and settings count from the write that creates them', async () => {
    using project = makeProject({
      'package.json': manifest,
      'node_modules/.bin/eslint': complaining,
      'packages/a/package.json': manifest,
    });
    await using session = await connect(project.path);
    const write = (file_path: string) => session.call('write', { file_path, content: `// ${file_path}\n` });
    expect((await write('packages/a/src/x.js')).text).not.toContain('post-edit');
    await session.call('write', { file_path: 'packages/a/eslint.config.js', content: 'export default [];' });
    expect((await write('packages/a/src/y.js')).text).toContain(
      'post-edit lint findings (1):\npackages/a/src/y.js:1:2:r',
    );
    expect((await write('src/z.js')).text).not.toContain('post-edit');
    await session.call('write', { file_path: 'eslint.config.js', content: 'export default [];' });
    expect((await write('src/w.js')).text).toContain('post-edit lint findings (1):\nsrc/w.js:1:2:r');
  });

  test('a file that the settings of the linter exclude is skipped silently', async () => {
    using project = withEslint(replay('eslint', 'ignored'));
    await using session = await connect(project.path);
    const { text, structured } = await session.call('write', { file_path: 'src/new.js', content: 'x' });
    expect(text).toBe('wrote 1 bytes to src/new.js');
    expect(structured.effects).toBeUndefined();
    expect(project.calls()).toHaveLength(1);
  });
});

describe('a linter that fails does not fail the edit:', () => {
  test('a missing one is reported once', async () => {
    using project = makeProject({ 'package.json': manifest, 'eslint.config.js': '' });
    await using session = await connect(project.path);
    const first = await session.call('write', { file_path: 'a.js', content: 'x' });
    expect(first.isError).toBe(false);
    expect(first.text).toBe(
      'wrote 1 bytes to a.js\n\npost-edit lint: eslint: not found on PATH; it may come with: npm install',
    );
    expect(first.structured.effects).toBeUndefined();
    expect((await session.call('write', { file_path: 'b.js', content: 'x' })).text).toBe('wrote 1 bytes to b.js');
  });

  test.each([
    ['crashes', 'kill -9 $$'],
    ['talks nonsense', 'echo hello'],
    ['fails', 'echo boom >&2; exit 3'],
  ])('one that %s gives no finding', async (_, body) => {
    using project = withEslint(script(body));
    await using session = await connect(project.path);
    const { text, isError } = await session.call('write', { file_path: 'src/b.js', content: 'x' });
    expect(isError).toBe(false);
    expect(text).toMatch(/^wrote 1 bytes to src\/b\.js\n\npost-edit lint: eslint did not check this: [^\n]+$/);
    expect(text).not.toContain('findings');
  });

  test('one that never ends is abandoned, and not started again', async () => {
    using project = withEslint(script('trap "" TERM; sleep 600'));
    await using session = await connect(project.path, '--edit-check-seconds', '3');
    const heard: string[] = [];
    const write = async () => {
      const wrote = 'wrote 1 bytes to src/b.js';
      await session.call('read', { file_path: 'src/b.js' });
      const { text, isError } = await session.call('write', { file_path: 'src/b.js', content: 'x' });
      expect(isError).toBe(false);
      expect(text.startsWith(wrote)).toBe(true);
      heard.push(text.slice(wrote.length).trim());
    };
    await write();
    expect(project.at('src/b.js')).toSatisfy(existsSync);
    // A busy machine may answer edits before the linter’s own time is up, and says that once instead.
    expect(heard[0]).toMatch(/^post-edit (lint: eslint did not check this: it took too|checks took) long/);
    await vi.waitFor(async () => {
      if (!heard.join('\n').includes('eslint did not check this: it took too long')) await write();
      expect(heard.join('\n')).toContain('eslint did not check this: it took too long');
    });
    const heardBefore = heard.length;
    await write();
    expect(heard.slice(heardBefore)).toEqual(['']);
  });

  test('a slow one for the whole project goes on, is reported once, and serves later edits', async () => {
    const answer = '{\n"x": { "printf": [{ "posn": "a.go:1:1", "message": "m" }] }\n}';
    const program = script(`if test -e warm; then echo '${answer}'; else sleep 4; echo > warm; fi`);
    const overrides = '[commands.lint]\nargv = ["tools/.bin/vet", "$FILES"]\ntool = "go-vet"\n';
    using project = makeProject({
      'go.mod': 'module example.com/x\n',
      'croft.toml': overrides,
      'tools/.bin/vet': program,
    });
    await using session = await connect(project.path, '--edit-check-seconds', '3');
    const write = (content: string) => session.call('write', { file_path: 'a.go', content });
    const [first, second] = [(await write('package x\n')).text, (await write('package y\n')).text];
    const heard = [first, second].filter((text) => text.includes('post-edit lint'));
    expect(heard).toEqual([
      expect.stringMatching(/\n\npost-edit lint: go-vet takes long the first time and goes on in the background; /),
    ]);
    const later = await vi.waitFor(
      async () => {
        const { text } = await write('package z\n');
        expect(text).toContain('findings');
        return text;
      },
      { interval: 500 },
    );
    expect(later).toMatch(/post-edit lint findings \(1\):\na\.go:1:1:printf: m$/);
  });

  test('one that the sandbox refuses is a violation, in the answer and among the events', async () => {
    using project = withEslint(script('touch /usr/x; exit 2'), {
      'croft.toml': '[commands]\ntest = ["tools/.bin/check"]\n',
      'tools/.bin/check': script('touch /usr/y || exit 1'),
    });
    using data = makeDirectory();
    await using session = await connect(project.path, '--events', data.at('events'));
    const written = await session.call('write', { file_path: 'src/b.js', content: 'x' });
    expect(written.isError).toBe(false);
    expect(written.text).toMatch(/\nrefused \(file, read-only-system\): \/usr\/x\. Next: /);
    const tested = await session.call('run_tests');
    expect(tested.text).toMatch(/\nrefused \(file, read-only-system\): \/usr\/y\. Next: /);
    const events = readFileSync(data.at('events'), 'utf8').trim().split('\n');
    const violations = events
      .map((row) => JSON.parse(row))
      .filter(({ event }) => event === 'lifecycle.sandbox.violation');
    const denial = { layer: 'file', rule: 'read-only-system', session: expect.any(String) };
    expect(violations.map(({ fields }) => fields)).toMatchObject([
      { tool: 'write', ...denial, target: '/usr/x' },
      { tool: 'run_tests', ...denial, target: '/usr/y' },
    ]);
  });

  test('without a sandbox none runs, and nothing is reported', async () => {
    using project = withEslint(complaining);
    using data = makeDirectory();
    mkdirSync(data.at('elsewhere'));
    symlinkSync(data.at('elsewhere'), data.at('caches'));
    await using session = await connectStdio(['--workspace', project.path], { env: { CROFT_DATA: data.path } });
    expect((await session.call('bash', { command: 'true' })).structured.error.code).toBe('E_SANDBOX_UNAVAILABLE');
    expect((await session.call('write', { file_path: 'src/b.js', content: 'x' })).text).toBe(
      'wrote 1 bytes to src/b.js',
    );
    expect(project.calls()).toEqual([]);
  });
});

describe('formatting', () => {
  const tidy = script(
    'echo "$@" >> calls; for f in "$@"; do case $f in -*) ;; *) tr -s " " < $f > $f.new && mv $f.new $f;; esac; done',
  );
  const withFormatter = (program: string) =>
    makeProject({
      'package.json': manifest,
      '.prettierrc': '{}',
      'node_modules/.bin/prettier': program,
      'src/a.js': 'let  a;\n',
      'src/other.js': 'let  other;\n',
      'README.md': 'two  spaces\n',
    });

  test('does not run without a request', async () => {
    using project = withFormatter(tidy);
    await using session = await connect(project.path);
    const { text } = await session.call('write', { file_path: 'src/b.js', content: 'let  b;\n' });
    expect(text).toBe('wrote 8 bytes to src/b.js');
    expect(project.calls()).toEqual([]);
  });

  test('on request shows its change, in that file alone, and the next edit is not stale', async () => {
    using project = withFormatter(tidy);
    using data = makeDirectory();
    await using session = await connect(project.path, '--format-on-edit', '--events', data.at('events'));
    const { text, structured } = await session.call('write', { file_path: 'src/b.js', content: 'let  b;\nlet c;\n' });
    expect(text).toBe('wrote 15 bytes to src/b.js\n\n--- format ---\n@@ -1,2 +1,2 @@\n-let  b;\n+let b;\n let c;');
    expect(structured.effects).toEqual({ formatted: ['src/b.js'] });
    expect(readFileSync(project.at('src/b.js'), 'utf8')).toBe('let b;\nlet c;\n');
    const edit = { file_path: 'src/b.js', old_string: 'let b;', new_string: 'let bb;' };
    expect((await session.call('edit', edit)).isError).toBe(false);
    expect(readFileSync(project.at('src/other.js'), 'utf8')).toBe('let  other;\n');
    expect(readFileSync(data.at('events'), 'utf8')).toMatch(/"lifecycle\.effect\.format".*"files":\["src\/b\.js"\]/);
    await session.call('write', { file_path: 'notes.md', content: 'two  spaces\n' });
    expect(project.calls()).toEqual(['--write src/b.js', '--write src/b.js']);
  });

  test('that uses up the time is reported, with the linter that got no time', async () => {
    using project = withFormatter(script('exec sleep 600'));
    writeFileSync(project.at('eslint.config.js'), '');
    await using session = await connect(project.path, '--format-on-edit', '--edit-check-seconds', '1');
    const { text, isError } = await session.call('write', { file_path: 'src/b.js', content: 'let  b;\n' });
    expect(isError).toBe(false);
    expect(text).toMatch(/^wrote 8 bytes to src\/b\.js\n/);
    expect(text).toMatch(/post-edit lint: eslint did not check this|post-edit checks took longer than 1 s/);
  });

  test('that fails or is missing is reported, and the file stays as it was written', async () => {
    using project = withFormatter(script('echo "SyntaxError: no" >&2; exit 2'));
    await using session = await connect(project.path, '--format-on-edit');
    const { text, isError } = await session.call('write', { file_path: 'src/b.js', content: 'let  b;\n' });
    expect(isError).toBe(false);
    expect(text).toMatch(
      /^wrote 8 bytes to src\/b\.js\n\npost-edit format: \S*prettier failed: exit 2: SyntaxError: no$/,
    );
    expect(readFileSync(join(project.path, 'src/b.js'), 'utf8')).toBe('let  b;\n');
  });
});
