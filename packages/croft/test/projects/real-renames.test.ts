import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Projects, shareProjects } from './project.ts';
import { isAsked, unpackDebian, unpackNpm } from './unpack-projects.ts';

interface Renamed {
  unpack(projectTree: Projects): void;
  readonly compile: string;
  readonly test: string;
  /** A name that many files use. */
  readonly rename: { readonly file_path: string; readonly symbol: string; readonly new_name: string };
  /** Files that the rename has to reach at least. */
  readonly files: number;
}

const compiler = new URL('../../../../node_modules/.bin/tsc', import.meta.url).pathname;
const { stringify } = JSON;

function toConfig(include: readonly string[], more: object = {}): string {
  const checks = { noEmit: true, skipLibCheck: true, esModuleInterop: true, types: ['node'] };
  const modules = { target: 'es2022', module: 'esnext', moduleResolution: 'bundler' };
  return stringify({ compilerOptions: { ...checks, ...modules, ...more }, include });
}

function keepOnly(projectTree: Projects, ...names: readonly string[]): void {
  for (const name of readdirSync(projectTree.path))
    if (!names.includes(name)) rmSync(projectTree.at(name), { recursive: true });
}

/** The tests import the package by its name, or as it was built. */
function replaceIn(projectTree: Projects, directory: string, from: string, to: string): void {
  for (const name of readdirSync(projectTree.at(directory)).filter((one) => one.endsWith('.ts'))) {
    const path = join(directory, name);
    projectTree.put(path, readFileSync(projectTree.at(path), 'utf8').replaceAll(from, to));
  }
}

const projects: Readonly<Record<string, Renamed>> = {
  zod: {
    unpack(projectTree) {
      unpackNpm(projectTree, 'zod', { version: '4.6.7', needs: ['vitest@3', '@types/node', '@standard-schema/spec'] });
      keepOnly(projectTree, 'src', 'package.json', 'node_modules');
      const tests = 'src/v3/tests';
      // They need sources that are not published.
      for (const name of readdirSync(projectTree.at(tests)))
        if (name.startsWith('language-server')) projectTree.remove(join(tests, name));
      replaceIn(projectTree, tests, '"zod/v3"', '"../index.js"');
      for (const name of ['benchmarks', '../v4']) rmSync(projectTree.at(`src/v3/${name}`), { recursive: true });
      projectTree.put('tsconfig.json', toConfig(['src/v3'], { strict: true }));
    },
    compile: `${compiler} -p .`,
    test: 'npx vitest run src/v3',
    rename: { file_path: 'src/v3/ZodError.ts', symbol: 'ZodError', new_name: 'ZodFailure' },
    files: 10,
  },
  piscina: {
    unpack(projectTree) {
      unpackNpm(projectTree, 'piscina', { version: '5.3.2', needs: ['tsx@4', '@types/node@22', '@napi-rs/nice@1'] });
      keepOnly(projectTree, 'src', 'test', 'package.json', 'node_modules');
      // The compiler of this repository is newer than theirs.
      replaceIn(projectTree, 'src', '@ts-expect-error', '@ts-ignore');
      replaceIn(projectTree, 'test', "'../dist/", "'../src/");
      replaceIn(projectTree, 'test', "from '..'", "from '../src'");
      const include = ['src', 'test/fixed-queue.test.ts', 'test/queues.test.ts'];
      projectTree.put('tsconfig.json', toConfig(include, { module: 'commonjs', lib: ['es2022'] }));
    },
    compile: `${compiler} -p .`,
    test: 'node --import tsx --test --test-name-pattern="queue|Queue|CircularBuffer" --test-skip-pattern=Piscina test/queues.test.ts test/fixed-queue.test.ts',
    rename: { file_path: 'src/task_queue/fixed_queue.ts', symbol: 'FixedQueue', new_name: 'RingQueue' },
    // The files that export it again keep the name for others.
    files: 2,
  },
  'ts-dedent': {
    unpack(projectTree) {
      unpackNpm(projectTree, 'ts-dedent', { version: '2.3.0', needs: ['vitest@3', '@types/node'] });
      keepOnly(projectTree, 'src', 'package.json', 'node_modules');
      replaceIn(projectTree, 'src/__tests__', "'ts-dedent'", "'../index'");
      replaceIn(projectTree, 'src/__tests__', "'@jest/globals'", "'vitest'");
      projectTree.put('tsconfig.json', toConfig(['src']));
    },
    compile: `${compiler} -p .`,
    test: 'npx vitest run',
    rename: { file_path: 'src/index.ts', symbol: 'dedent', new_name: 'outdent' },
    files: 2,
  },
  jinja2: {
    unpack: (projectTree) => unpackDebian(projectTree, 'jinja2'),
    compile: 'python3 -m compileall -q src tests',
    test: 'PYTHONPATH=src python3 -m pytest -q -x -p no:cacheprovider -W ignore tests/test_utils.py tests/test_runtime.py tests/test_filters.py',
    rename: { file_path: 'src/jinja2/utils.py', symbol: 'generate_lorem_ipsum', new_name: 'make_lorem_ipsum' },
    files: 3,
  },
};

describe.skipIf(!isAsked)('a rename in a real project', { timeout: 600_000 }, () => {
  const { projectTree, call } = shareProjects({});
  const run = (command: string) =>
    execFileSync('sh', ['-c', command], { cwd: projectTree.path, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

  test.each(Object.entries(projects))('%s still compiles, and its tests still pass', async (_, project) => {
    project.unpack(projectTree);
    run(project.compile);
    run(project.test);
    const { rename } = project;
    await call('read', { file_path: rename.file_path });
    const answer = await call('rename_symbol', { ...rename, apply: true });
    expect(answer.structured, answer.text).toMatchObject({ applied: true, complete: true });
    expect(answer.structured.files.length).toBeGreaterThanOrEqual(project.files);
    run(project.compile);
    run(project.test);
    expect((await call('find_references', { symbol: rename.new_name, file_path: rename.file_path })).isError).toBe(
      false,
    );
  });
});
