import type { DirectoryEntry, Files } from '../../src/core/files/files.ts';
import { createProjectFinder } from '../../src/core/projects/find-projects.ts';
import * as detectors from '../../src/detectors/index.ts';

/** Files in memory with only the methods that detection uses. Counts the calls. `tree` may change meanwhile. */
export function createMemoryFiles(tree: Record<string, string>) {
  const counts = { list: 0, read: 0, stat: 0 };
  const missing = (path: string) => new Error(`not there: ${path}`);
  const refuse = () => {
    throw new Error('detection changes nothing');
  };
  const files: Files = {
    async list(path, { limit }) {
      counts.list++;
      const prefix = path === '' ? '' : `${path}/`;
      const entries = new Map<string, DirectoryEntry>();
      for (const [name, text] of Object.entries(tree)) {
        if (!name.startsWith(prefix)) continue;
        const [own = '', ...below] = name.slice(prefix.length).split('/');
        entries.set(own, { name: own, kind: below.length > 0 ? 'directory' : 'file', size: text.length });
      }
      if (entries.size === 0 && path !== '') throw missing(path);
      return { path, entries: [...entries.values()].slice(0, limit), cut: entries.size > limit };
    },
    async read(path) {
      counts.read++;
      const text = tree[path];
      if (text === undefined) throw missing(path);
      return { path, kind: 'file', size: text.length, mtimeMs: 1, version: text, bytes: Buffer.from(text) };
    },
    async stat(path) {
      counts.stat++;
      const text = tree[path];
      if (text === undefined) throw missing(path);
      return { path, kind: 'file', size: text.length, mtimeMs: 1 };
    },
    ...{ open: refuse, version: refuse, modifiedTimes: refuse },
    ...{ write: refuse, change: refuse, upload: refuse, remove: refuse, rename: refuse },
  };
  return { files, counts, tree };
}

/** Finds the projects of a tree with all detectors. */
export function detect(tree: Record<string, string>) {
  const { files } = createMemoryFiles(tree);
  return createProjectFinder({ files, detectors: Object.values(detectors), onChange: () => {} })();
}

/** Returns the only project of a tree. */
export async function detectOne(tree: Record<string, string>) {
  const [profile, ...others] = await detect(tree);
  if (!profile || others.length > 0) {
    throw new Error(`one project expected: ${[profile, ...others].map((one) => one?.language).join(', ')}`);
  }
  return profile;
}
