import type { Files } from '../files.ts';

/** More are not left out one by one. */
const maxNames = 500;

/** One that stands for itself in every kind of pattern. */
const plainName = /^(?!\.\.?$)[\w.@+-]+$/;

/**
 * What ripgrep is told where a pattern begins with plain names: to leave out the directories beside the way, in which
 * nothing can match. To search from the end of the way alone would be shorter, and would find what is ignored.
 */
export async function leaveOutBeside(pattern: string, files: Pick<Files, 'list'>): Promise<string[]> {
  const left: string[] = [];
  const names = pattern.split('/').slice(0, -1);
  for (const [depth, name] of names.entries()) {
    if (!plainName.test(name) || left.length >= maxNames) break;
    const above = names.slice(0, depth);
    const beside = await directoriesBeside(above.join('/'), name, files);
    if (!beside) break;
    for (const other of beside.slice(0, maxNames - left.length)) left.push([...above, other].join('/'));
  }
  return left.map((path) => `--glob=!/${path}`);
}

/** `undefined` where it is not there, or cannot be looked at: the search finds out why. */
async function directoriesBeside(path: string, name: string, files: Pick<Files, 'list'>) {
  const listing = await files.list(path, { limit: maxNames }).catch(() => undefined);
  const directories = listing?.entries.filter(({ kind }) => kind === 'directory').map((entry) => entry.name) ?? [];
  return directories.includes(name) || listing?.cut
    ? directories.filter((other) => other !== name && plainName.test(other))
    : undefined;
}
