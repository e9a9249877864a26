import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path/posix';

/** A room is a folder of `croft/src` or `dashboard/src`. `boundaries.ts` orders the first-level rooms; this script looks at all of them. */

interface Import {
  readonly from: string;
  readonly to: string;
  readonly isType: boolean;
}

export interface Source {
  /** Relative to `croft/src`, or to `dashboard/src`. */
  readonly file: string;
  readonly text: string;
}

const maxFiles = 20;

/** Rooms that may have more than `maxFiles` files, and why. */
const largeRooms: Readonly<Record<string, string>> = {
  tools: 'one file a tool',
  linters: 'one file a linter',
  'test-runners': 'one file a test runner',
  escapes: 'one file a group of attacks',
  'rest/routes': 'one file a resource',
  'cli/commands': 'one file a command',
};

/** Rooms whose types name each other, and why. At runtime no rooms import each other. */
const typeCycles: readonly { readonly rooms: readonly string[]; readonly reason: string }[] = [
  {
    rooms: [
      ...['core/accounts/surface', 'core/checks', 'core/content/changes', 'core/content/search'],
      ...['core/sessions', 'core/tools', 'core/workspace'],
    ],
    reason: 'a tool runs in a workspace and a session; a workspace says what its tools, checks and searches can do',
  },
  { rooms: ['core/commands', 'core/commands/denials'], reason: 'a command reports denials; a denial is of a sandbox' },
  { rooms: ['host', 'host/toolchains'], reason: 'the environment of a sandbox names its toolchains' },
];

export function findProblems(sources: readonly Source[]): string[] {
  const imports = sources.flatMap(importsOf);
  const atRuntime = findCycles(imports.filter(({ isType }) => !isType));
  const ofTypes = findCycles(imports).filter(
    (rooms) => !isListed(rooms) && !atRuntime.some((one) => isSame(one, rooms)),
  );
  return [
    ...atRuntime.map((rooms) => `these rooms import each other at runtime: ${rooms.join(', ')}`),
    ...ofTypes.map((rooms) => `the types of these rooms import each other: ${rooms.join(', ')}`),
    ...findLargeRooms(sources),
  ];
}

function isListed(rooms: readonly string[]): boolean {
  return typeCycles.some((cycle) => rooms.every((room) => cycle.rooms.includes(room)));
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.join() === other.join();
}

function findLargeRooms(sources: readonly Source[]): string[] {
  const counts = Map.groupBy(sources, ({ file }) => dirname(file));
  return [...counts]
    .filter(([room, files]) => files.length > maxFiles && !(room in largeRooms))
    .map(([room, files]) => `${room} has ${files.length} files; at most ${maxFiles} are easy to survey`);
}

function importsOf({ file, text }: Source): Import[] {
  const statements = text.matchAll(/^(?:import|export) (type )?([^;']*?)\s*from '(\.[^']+)'/gm);
  return [...statements].flatMap(([, type, names = '', target = '']) => {
    const [from, to] = [dirname(file), dirname(join(dirname(file), target))];
    if (from === to || to.startsWith('..')) return [];
    return [{ from, to, isType: type !== undefined || onlyTypes(names) }];
  });
}

function onlyTypes(names: string): boolean {
  const listed = /^\{([^}]*)\}$/
    .exec(names.trim())?.[1]
    ?.split(',')
    .map((name) => name.trim()) ?? [''];
  return listed.filter((name) => name !== '').every((name) => name.startsWith('type ')) && listed[0] !== '';
}

/** Groups of rooms that reach each other. Tarjan's algorithm. */
function findCycles(imports: readonly Import[]): string[][] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of imports) next.set(from, (next.get(from) ?? new Set()).add(to));
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[][] = [];
  for (const room of next.keys()) if (!order.has(room)) visit(room);
  return cycles;

  function visit(room: string): void {
    order.set(room, order.size);
    lowest.set(room, order.get(room) as number);
    open.push(room);
    for (const other of next.get(room) ?? []) follow(room, other);
    if (lowest.get(room) !== order.get(room)) return;
    const group = open.splice(open.indexOf(room));
    if (group.length > 1) cycles.push(group.sort());
  }

  function follow(room: string, other: string): void {
    if (!order.has(other)) visit(other);
    if (open.includes(other)) lowest.set(room, Math.min(lowest.get(room) as number, lowest.get(other) as number));
  }
}

if (import.meta.main) {
  const problems = ['packages/croft/src', 'packages/dashboard/src'].flatMap((root) => {
    const files = globSync(`${root}/**/*.{ts,tsx}`).filter((file) => !file.endsWith('.test.ts'));
    return findProblems(files.map((file) => ({ file: relative(root, file), text: readFileSync(file, 'utf8') })));
  });
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
