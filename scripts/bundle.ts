import { globSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';
import { rolldown } from 'rolldown';

const root = join(import.meta.dirname, '..');
const source = join(root, 'packages/croft/src');
const target = join(root, 'packages/croft/dist');
const dayMs = 24 * 3_600_000;

/** Puts the program and its threads into `packages/croft/dist`, where `packages/croft/bin/start.mjs` finds them. */
export async function makeBundle(): Promise<void> {
  const startedAt = new Date();
  const made = `${target}.${process.pid}`;
  try {
    await bundleInto(made);
    // A source that changed meanwhile is newer than the bundle.
    utimesSync(join(made, 'main.js'), startedAt, startedAt);
    replace(made);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/**
 * Bundles the program, and further entries, into a new directory. Returns the files that the bundle has parts of.
 */
export async function bundleInto(directory: string, further: readonly string[] = []): Promise<string[]> {
  const threads = globSync(`${source}/**/*-worker.ts`);
  const entries = ['main.ts', ...further].map((file) => join(source, file));
  const build = await rolldown({
    input: Object.fromEntries([...entries, ...threads].map((file) => [basename(file, '.ts'), file])),
    platform: 'node',
    // Its main file finds its parts by names that no bundler sees.
    resolve: { alias: { 'jsonc-parser': join(root, 'node_modules/jsonc-parser/lib/esm/main.js') } },
    // web-tree-sitter evaluates initialisers of its own WebAssembly files, which no workspace can change.
    checks: { eval: false },
    plugins: [{ name: 'threads', transform: { filter: { code: /-worker\.ts'/ }, handler: nameThreads } }],
  });
  mkdirSync(directory, { recursive: true });
  const names = { chunkFileNames: '[name]-[hash].js', entryFileNames: '[name].js' };
  const { output } = await build.write({ dir: directory, ...names });
  return output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
}

/**
 * `main.js` comes last, because it names the others. A program that is running may still load files of the bundle that
 * it was started from: those stay for a day.
 */
function replace(made: string): void {
  mkdirSync(target, { recursive: true });
  const names = readdirSync(made).filter((name) => name !== 'main.js');
  for (const name of [...names, 'main.js']) renameSync(join(made, name), join(target, name));
  const isOld = (name: string) =>
    Date.now() - (statSync(join(target, name), { throwIfNoEntry: false })?.mtimeMs ?? 0) > dayMs;
  const old = readdirSync(target).filter((name) => name !== 'main.js' && !names.includes(name) && isOld(name));
  for (const name of old) rmSync(join(target, name), { force: true });
}

/** All files of the bundle are in one directory, and are JavaScript. */
function nameThreads(code: string): string {
  return code.replaceAll(
    /new URL\('[./\w-]*?([\w-]+-worker)\.ts', import\.meta\.url\)/g,
    `new URL('./$1.js', import.meta.url)`,
  );
}

if (import.meta.main) await makeBundle();
