import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createSkillsSource } from '../../src/app/workspaces/create-skills-source.ts';
import type { Files } from '../../src/core/files/files.ts';
import { syncSkills } from '../../src/core/skills/sync-skills.ts';
import { openLocalDirectory } from '../../src/storages/index.ts';
import { makeDirectory } from '../support/harness.ts';

export const manifest = '.croft-manifest.json';

/** Content, content of an executable file, or `undefined` for no file. */
export type Tree = Record<string, string | { run: string } | undefined>;

export type SkillsFixture = ReturnType<typeof openFixture>;

/** Makes the directories of a server and a workspace beside them. */
export function openFixture(tree: Tree = {}) {
  const directory = makeDirectory();
  for (const name of ['skills', 'more', 'agents', 'work']) mkdirSync(directory.at(name));
  plant(directory.path, tree);
  const { files } = openLocalDirectory({ path: directory.at('work') });
  const source = createSkillsSource({
    skills: [directory.at('skills'), directory.at('more')],
    agents: [directory.at('agents')],
  });
  if (!source) throw new Error('no source');
  return {
    ...directory,
    files,
    source,
    plant: (more: Tree) => plant(directory.path, more),
    sync: (over: Files = files, signal = new AbortController().signal) => syncSkills(over, source, { signal }),
    /** Lists the workspace without its manifest. */
    tree: () => treeOf(directory.at('work')),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

function plant(root: string, tree: Tree): void {
  for (const [name, content] of Object.entries(tree)) {
    const path = join(root, name);
    rmSync(path, { recursive: true, force: true });
    if (content === undefined) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : content.run);
    if (typeof content !== 'string') chmodSync(path, 0o755);
  }
}

export function treeOf(root: string): Record<string, unknown> {
  return Object.fromEntries(rowsOf(root, '').sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Recurses by itself, because a recursive `readdir` follows links. */
function rowsOf(root: string, below: string): [string, unknown][] {
  const entries = readdirSync(join(root, below), { withFileTypes: true }).filter(({ name }) => name !== manifest);
  return entries.flatMap((entry) => {
    const path = join(below, entry.name);
    if (entry.isDirectory()) return rowsOf(root, path);
    return [[path, entry.isFile() ? describe(join(root, path)) : `-> ${readlinkSync(join(root, path))}`]];
  });
}

function describe(path: string) {
  const text = readFileSync(path, 'utf8');
  return (statSync(path).mode & 0o111) === 0 ? text : { run: text };
}
