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
import { connectStdio, type McpSession, makeDirectory } from '../harness.ts';

const fixtures = join(import.meta.dirname, '../fixtures/projects');

type Places = Readonly<Record<string, string>>;

/** Fixtures, each in a directory of a new workspace, whose root is `''`; and files besides. */
export function makeProjects(places: Places, tree: Places = {}) {
  const ground = makeDirectory();
  const at = (name: string) => ground.at(name);
  const projects = {
    path: ground.path,
    at,
    read: (name: string) => readFileSync(at(name), 'utf8'),
    /** Writes as another program would, behind the server's back. */
    put(name: string, text: string): void {
      mkdirSync(dirname(at(name)), { recursive: true });
      writeFileSync(at(name), text);
    },
    remove: (name: string) => rmSync(at(name), { recursive: true }),
    /** In place of all that is there. */
    fill(places: Places, tree: Places = {}): void {
      for (const name of readdirSync(ground.path)) projects.remove(name);
      for (const [directory, fixture] of Object.entries(places)) {
        cpSync(join(fixtures, fixture), at(directory), { recursive: true });
      }
      for (const [name, text] of Object.entries(tree)) projects.put(name, text);
    },
    [Symbol.dispose]: () => ground[Symbol.dispose](),
  };
  projects.fill(places, tree);
  return projects;
}

export type Projects = ReturnType<typeof makeProjects>;

/** The number of the line that has this in it. */
export function lineWith(text: string, part: string): number {
  const at = text.split('\n').findIndex((line) => line.includes(part));
  if (at < 0) throw new Error(`no line has ${part}`);
  return at + 1;
}

export function connectTo(
  { path }: { path: string },
  { env = {}, flags = [] }: { env?: Record<string, string>; flags?: readonly string[] } = {},
) {
  return connectStdio(['--workspace', path, ...flags], { env });
}

/** One server and one workspace for the tests of a file, one after the other: what toolchains have built once is there. */
export function shareProjects(places: Places, { flags = [] as readonly string[], prepare = (_: Projects) => {} } = {}) {
  const ground = makeProjects(places);
  let session: McpSession | undefined;
  beforeAll(async () => {
    prepare(ground);
    session = await connectTo(ground, { flags });
    // A client that knows the tools throws on an answer that does not fit its output schema.
    await session.client.listTools();
  });
  afterAll(async () => {
    await session?.[Symbol.asyncDispose]();
    ground[Symbol.dispose]();
  });
  return {
    ground,
    call(tool: string, args: Record<string, unknown> = {}) {
      if (!session) throw new Error('the server is not up');
      return session.call(tool, args);
    },
  };
}

/** Without isolation, because only then can a program be missing that this machine has: PATH has a shell and little else. */
export function connectWithout(ground: { path: string }, bin: string, programs: readonly string[] = []) {
  const shell = ['sh', 'env', 'find', 'cat', 'rm', 'readlink'];
  mkdirSync(bin, { recursive: true });
  for (const program of [...shell, ...programs]) symlinkSync(findProgram(program), join(bin, program));
  return connectStdio(['--workspace', ground.path, '--sandbox', 'none', '--network', 'allow-all'], {
    env: { PATH: bin },
  });
}

function findProgram(name: string): string {
  const places = ['/usr/bin', '/bin', ...(process.env.PATH ?? '').split(delimiter)];
  const found = places.map((place) => join(place, name)).find((program) => existsSync(program));
  if (found === undefined) throw new Error(`${name} is not on the PATH`);
  return found;
}

const modules = join(import.meta.dirname, '../../../../node_modules');
const platform = `${process.platform}-${process.arch}`;

/** The real program that this repository itself is linted by: copied, because a sandbox sees nothing outside of the workspace. */
export function addBiome(ground: Projects, directory: string): void {
  const place = ground.at(join(directory, 'node_modules/.bin'));
  mkdirSync(place, { recursive: true });
  cpSync(join(modules, `@biomejs/cli-${platform}/biome`), join(place, 'biome'));
  chmodSync(join(place, 'biome'), 0o755);
}

export function addTypeScript(ground: Projects, directory: string): void {
  const name = `@typescript/typescript-${platform}`;
  cpSync(join(modules, name), ground.at(join(directory, 'node_modules', name)), { recursive: true });
  mkdirSync(ground.at(join(directory, 'node_modules/.bin')), { recursive: true });
  symlinkSync(`../${name}/lib/tsc`, ground.at(join(directory, 'node_modules/.bin/tsc')));
}
