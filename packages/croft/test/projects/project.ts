import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type CallOptions, connectStdio, type McpSession, makeDirectory } from '../support/harness.ts';

const fixtures = join(import.meta.dirname, '../fixtures/projects');

type ProjectTrees = Readonly<Record<string, string>>;

/** Makes a workspace with fixtures, each in its own directory (`''` is the root), and more files. */
export function makeProjects(trees: ProjectTrees, tree: ProjectTrees = {}) {
  const projectTree = makeDirectory();
  const at = (name: string) => projectTree.at(name);
  const projects = {
    path: projectTree.path,
    at,
    read: (name: string) => readFileSync(at(name), 'utf8'),
    /** Writes a file as another program would. */
    put(name: string, text: string): void {
      mkdirSync(dirname(at(name)), { recursive: true });
      writeFileSync(at(name), text);
    },
    remove: (name: string) => rmSync(at(name), { recursive: true }),
    /** Replaces all files. */
    fill(trees: ProjectTrees, tree: ProjectTrees = {}): void {
      for (const name of readdirSync(projectTree.path)) projects.remove(name);
      for (const [directory, fixture] of Object.entries(trees)) {
        cpSync(join(fixtures, fixture), at(directory), { recursive: true });
      }
      for (const [name, text] of Object.entries(tree)) projects.put(name, text);
    },
    [Symbol.dispose]: () => projectTree[Symbol.dispose](),
  };
  projects.fill(trees, tree);
  return projects;
}

export type Projects = ReturnType<typeof makeProjects>;

/** Returns the number of the line that contains the text. */
export function lineWith(text: string, part: string): number {
  const at = text.split('\n').findIndex((line) => line.includes(part));
  if (at < 0) throw new Error(`no line has ${part}`);
  return at + 1;
}

export function connectTo(
  { path }: { path: string },
  { env = {}, flags = [] }: { env?: Record<string, string>; flags?: readonly string[] } = {},
) {
  return connectStdio(['--workspace', path, '--edit-check-seconds', '120', ...flags], { env });
}

/** One server and one workspace for all tests of a file, so that toolchains build only once. */
export function shareProjects(
  trees: ProjectTrees,
  { flags = [] as readonly string[], prepare = (_: Projects) => {} } = {},
) {
  const projectTree = makeProjects(trees);
  let session: McpSession | undefined;
  beforeAll(async () => {
    prepare(projectTree);
    session = await connectTo(projectTree, { flags });
    // A client that knows the tools throws on an answer that does not fit the output schema.
    await session.client.listTools();
  });
  afterAll(async () => {
    await session?.[Symbol.asyncDispose]();
    projectTree[Symbol.dispose]();
  });
  return {
    projectTree,
    call(tool: string, args: Record<string, unknown> = {}, options?: CallOptions) {
      if (!session) throw new Error('the server is not up');
      return session.call(tool, args, options);
    },
  };
}

/**
 * Connects without a sandbox, because only then can a program of this machine be missing. PATH has a shell and little
 * else.
 */
export function connectWithout(projectTree: { path: string }, bin: string, programs: readonly string[] = []) {
  const shell = ['sh', 'env', 'find', 'cat', 'rm', 'readlink'];
  mkdirSync(bin, { recursive: true });
  for (const program of [...shell, ...programs]) symlinkSync(findProgram(program), join(bin, program));
  return connectStdio(['--workspace', projectTree.path, '--sandbox', 'none', '--network', 'allow-all'], {
    env: { PATH: bin },
  });
}

function findProgram(name: string): string {
  const trees = ['/usr/bin', '/bin', ...(process.env.PATH ?? '').split(delimiter)];
  const found = trees.map((folder) => join(folder, name)).find((program) => existsSync(program));
  if (found === undefined) throw new Error(`${name} is not on the PATH`);
  return found;
}

const modules = join(import.meta.dirname, '../../../../node_modules');
const platform = `${process.platform}-${process.arch}`;

/** Copies the Biome of this repository, because a sandbox sees nothing outside the workspace. */
export function addBiome(projectTree: Projects, directory: string): void {
  const binDirectory = projectTree.at(join(directory, 'node_modules/.bin'));
  mkdirSync(binDirectory, { recursive: true });
  cpSync(join(modules, `@biomejs/cli-${platform}/biome`), join(binDirectory, 'biome'));
  chmodSync(join(binDirectory, 'biome'), 0o755);
}

export function addTypeScript(projectTree: Projects, directory: string): void {
  const name = `@typescript/typescript-${platform}`;
  cpSync(join(modules, name), projectTree.at(join(directory, 'node_modules', name)), { recursive: true });
  mkdirSync(projectTree.at(join(directory, 'node_modules/.bin')), { recursive: true });
  symlinkSync(`../${name}/lib/tsc`, projectTree.at(join(directory, 'node_modules/.bin/tsc')));
}
