import { inParallel } from '../../lib/concurrency/in-parallel.ts';
import type { DirectoryEntry, Files } from '../files/files.ts';
import { type AgentDescription, describeAgent, describeSkill, type SkillDescription } from './describe-skill.ts';
import { ignorePathError } from './ignore-path-error.ts';
import { readFileHead } from './read-file-head.ts';
import { agentDirectories, skillDirectories } from './skill-directories.ts';

export interface FoundSkill extends SkillDescription {
  /** Path of its `SKILL.md`. */
  readonly path: string;
  /** The skill directory that it was found in. */
  readonly source: string;
}

export interface FoundAgent extends AgentDescription, Pick<FoundSkill, 'path' | 'source'> {}

/** All skills or agents, with those that share a name listed apart. */
interface FoundByName<Item> {
  readonly items: readonly Item[];
  /** Items whose name an earlier one has. */
  readonly shadowed: readonly Item[];
  /** True if some were left out because there are too many. */
  readonly cut: boolean;
}

/** Limit per directory. A skill beyond it can still be loaded by the name of its directory. */
const maxItems = 500;
/** Reads at once. Each costs a few handles, or a round trip to another machine. */
const atOnce = 16;

export function findSkills(files: Files): Promise<FoundByName<FoundSkill>> {
  return findIn(files, skillDirectories, isDirectoryLike, async (source, name) => readSkill(files, source, name));
}

export function findAgents(files: Files): Promise<FoundByName<FoundAgent>> {
  return findIn(files, agentDirectories, isDefinitionLike, async (source, name) => {
    const path = `${source}/${name}`;
    const head = await readFileHead(files, path);
    const described = head && describeAgent(head, name);
    return described && { ...described, path, source };
  });
}

/** Reads the skill in a directory; `undefined` if it has none. */
export async function readSkill(files: Files, source: string, name: string): Promise<FoundSkill | undefined> {
  const path = `${source}/${name}/SKILL.md`;
  const head = await readFileHead(files, path);
  return head && { ...describeSkill(head, name), path, source };
}

async function findIn<Item extends { readonly name: string }>(
  files: Files,
  directories: readonly string[],
  isCandidate: (entry: DirectoryEntry) => boolean,
  read: (source: string, name: string) => Promise<Item | undefined>,
): Promise<FoundByName<Item>> {
  const listings = await Promise.all(directories.map((directory) => listSkillDirectory(files, directory)));
  const candidates = listings.flatMap(({ directory, entries }) =>
    entries.filter(isCandidate).map(({ name }) => ({ directory, name })),
  );
  const found = new Array<Item | undefined>(candidates.length);
  await inParallel(candidates.entries(), atOnce, async ([index, { directory, name }]) => {
    found[index] = await read(directory, name);
  });
  return { ...split(found.filter((item) => item !== undefined)), cut: listings.some(({ cut }) => cut) };
}

async function listSkillDirectory(files: Files, directory: string) {
  const listing = await files.list(directory, { limit: maxItems }).catch(ignorePathError);
  return { directory, entries: listing?.entries ?? [], cut: listing?.cut ?? false };
}

function split<Item extends { readonly name: string }>(found: readonly Item[]) {
  const first = new Map<string, Item>();
  for (const item of found) if (!first.has(item.name)) first.set(item.name, item);
  return { items: [...first.values()], shadowed: found.filter((item) => first.get(item.name) !== item) };
}

/** A link may lead to a directory of the workspace; `Files` lets it lead nowhere else. */
function isDirectoryLike({ kind }: DirectoryEntry): boolean {
  return kind === 'directory' || kind === 'link';
}

function isDefinitionLike({ kind, name }: DirectoryEntry): boolean {
  return (kind === 'file' || kind === 'link') && name.endsWith('.md');
}
