import { describe, expect, test } from 'vitest';
import { expectSameVerdict } from './expect-same-verdict.ts';
import { shareProjects } from './project.ts';
import { installNpm, isAsked, unpackNpm } from './unpack-projects.ts';

interface Published {
  readonly version: string;
  /** The packages that its tests need, instead of all development dependencies. */
  readonly needs: readonly string[];
  /** A part of a source, and what breaks it. Without one its own command is red from the start. */
  readonly breaks?: readonly [file: string, from: string, to: string];
}

/** Packages that are published with their tests. */
const packages: Readonly<Record<string, Published>> = {
  inherits: { version: '2.0.1', needs: [], breaks: ['inherits.js', "require('util').inherits", '() => {}'] },
  xtend: { version: '4.0.1', needs: ['tape@4'], breaks: ['immutable.js', 'var target = {}', 'var target = { x: 1 }'] },
  'concat-map': { version: '0.0.1', needs: ['tape@4'], breaks: ['index.js', 'res.push(x)', 'res.push(x, x)'] },
  'deep-equal': { version: '1.0.1', needs: ['tape@4'], breaks: ['index.js', 'if (actual === expected)', 'if (true)'] },
  'shell-quote': { version: '1.6.1', needs: ['tape@4'], breaks: ['index.js', 'exports.quote = ', 'exports.other = '] },
  through: {
    version: '2.3.8',
    needs: ['tape@4', 'stream-spec@0.3', 'from@0.1'],
    breaks: ['index.js', 'stream.queue = stream.push', 'stream.queue = stream.push2'],
  },
  'sprintf-js': { version: '1.0.3', needs: ['mocha@8'], breaks: ['src/sprintf.js', 'number: /', 'number: /^x'] },
  // Its tests are of an older Node.
  traverse: { version: '0.6.6', needs: ['tape@4'] },
  // Its linter is not among what is there.
  uuid: { version: '3.4.0', needs: ['mocha@8'] },
  // It names a file that is not published.
  'json-stringify-safe': { version: '5.0.1', needs: [] },
};

describe.skipIf(!isAsked)('the verdict on a published package', { timeout: 300_000 }, () => {
  const { projectTree, call } = shareProjects({});

  test.each(Object.entries(packages))('%s', async (name, published) => {
    unpackNpm(projectTree, name, published);
    const compared = { path: projectTree.path, call, command: 'npm test' };
    const { breaks } = published;
    await expectSameVerdict(compared, breaks !== undefined);
    if (!breaks) return;
    const [file, from, to] = breaks;
    const text = projectTree.read(file);
    expect(text).toContain(from);
    projectTree.put(file, text.replace(from, to));
    await expectSameVerdict(compared, false);
  });
});

const globals = (body: string) => `describe('sums', () => { it('adds', () => { ${body} }); });\n`;
const vitest = (body: string) => `import { describe, it } from 'vitest';\n${globals(body)}`;
const ava = (body: string) => `import test from 'ava';\ntest('sums adds', (t) => { ${body} t.pass(); });\n`;

/** Versions that are still in use, each as the whole script and as the last of two steps. */
const runners: readonly (readonly [needs: string, script: string, file: string, toText: (body: string) => string])[] = [
  ['vitest@0.34', 'vitest run', 'a.test.js', vitest],
  ['vitest@1', 'vitest run', 'a.test.js', vitest],
  ['vitest@2', 'vitest run', 'a.test.js', vitest],
  ['mocha@8', 'mocha', 'test/a.cjs', globals],
  ['mocha@11', 'mocha --extension cjs', 'test/a.cjs', globals],
  ['jest@29', 'jest', 'a.test.cjs', globals],
  ['ava@5', 'ava', 'a.test.js', ava],
];

describe.skipIf(!isAsked)('the verdict by', { timeout: 300_000 }, () => {
  const { projectTree, call } = shareProjects({});

  test.each(runners)('%s', async (needs, script, file, toText) => {
    const settings = { mocha: { spec: 'test/*.cjs' }, jest: { testMatch: ['**/*.test.cjs'] } };
    const compared = { path: projectTree.path, call, command: 'npm test' };
    projectTree.fill({}, { 'package.json': '{}' });
    installNpm(projectTree, [needs]);
    for (const line of [script, `node --version && ${script}`]) {
      const manifest = { name: 'x', version: '1.0.0', type: 'module', scripts: { test: line }, ...settings };
      projectTree.put('package.json', JSON.stringify(manifest));
      projectTree.put(file, toText(''));
      const green = await expectSameVerdict(compared, true);
      expect(green.structured.runs[0]).toMatchObject({ passed: 1, failed: 0 });
      projectTree.put(file, toText("throw new Error('bad');"));
      const red = await expectSameVerdict(compared, false);
      const [run] = red.structured.runs;
      expect(run).toMatchObject({ state: 'failed', failed: 1, failures: [{ name: expect.stringMatching(/adds$/) }] });
      const again = await call('run_failing_tests');
      expect(again.structured, again.text).toMatchObject({ state: 'failed', runs: [{ failed: 1 }] });
      projectTree.put(file, toText(''));
      expect((await call('run_failing_tests')).structured).toMatchObject({ state: 'passed', green: false });
    }
  });
});
