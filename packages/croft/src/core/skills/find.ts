import { inParallel } from '../../lib/in-parallel.ts';
import type { DirectoryEntry, Files } from '../files.ts';
import { type Described, type DescribedAgent, describeAgent, describeSkill } from './describe.ts';
import { readHead } from './head.ts';
import { passOver } from './passed-over.ts';
import { agentPlaces, skillPlaces } from './places.ts';

export interface FoundSkill extends Described {
  /** Of its `SKILL.md`, as it is to be read. */
  readonly path: string;
  /** The directory of skills that it was found in. */
  readonly source: string;
}

export interface FoundAgent extends DescribedAgent, Pick<FoundSkill, 'path' | 'source'> {}

/** All there are, those that can be had by their name first. */
export interface Found<Item> {
  readonly items: readonly Item[];
  /** Of a name that was found before. */
  readonly shadowed: readonly Item[];
  /** There were more than are looked at. */
  readonly cut: boolean;
}

/** Of each place. Whoever has more can still ask for one by its directory. */
const maxItems = 500;
/** Each is a few handles, or a way to another machine and back. */
const atOnce = 16;

export function findSkills(files: Files): Promise<Found<FoundSkill>> {
  return findIn(files, skillPlaces, isDirectoryLike, async (source, name) => readSkill(files, source, name));
}

export function findAgents(files: Files): Promise<Found<FoundAgent>> {
  return findIn(files, agentPlaces, isDefinitionLike, async (source, name) => {
    const path = `${source}/${name}`;
    const head = await readHead(files, path);
    const described = head && describeAgent(head, name);
    return described && { ...described, path, source };
  });
}

/** The skill in a directory, if it is one. */
export async function readSkill(files: Files, source: string, name: string): Promise<FoundSkill | undefined> {
  const path = `${source}/${name}/SKILL.md`;
  const head = await readHead(files, path);
  return head && { ...describeSkill(head, name), path, source };
}

async function findIn<Item extends { readonly name: string }>(
  files: Files,
  places: readonly string[],
  isCandidate: (entry: DirectoryEntry) => boolean,
  read: (source: string, name: string) => Promise<Item | undefined>,
): Promise<Found<Item>> {
  const listings = await Promise.all(places.map((place) => listPlace(files, place)));
  const candidates = listings.flatMap(({ place, entries }) =>
    entries.filter(isCandidate).map(({ name }) => ({ place, name })),
  );
  const found = new Array<Item | undefined>(candidates.length);
  await inParallel(candidates.entries(), atOnce, async ([index, { place, name }]) => {
    found[index] = await read(place, name);
  });
  return { ...split(found.filter((item) => item !== undefined)), cut: listings.some(({ cut }) => cut) };
}

async function listPlace(files: Files, place: string) {
  const listing = await files.list(place, { limit: maxItems }).catch(passOver);
  return { place, entries: listing?.entries ?? [], cut: listing?.cut ?? false };
}

function split<Item extends { readonly name: string }>(found: readonly Item[]) {
  const first = new Map<string, Item>();
  for (const item of found) if (!first.has(item.name)) first.set(item.name, item);
  return { items: [...first.values()], shadowed: found.filter((item) => first.get(item.name) !== item) };
}

/** A link may lead to a directory of the workspace; where it leads, the files hold. */
function isDirectoryLike({ kind }: DirectoryEntry): boolean {
  return kind === 'directory' || kind === 'link';
}

function isDefinitionLike({ kind, name }: DirectoryEntry): boolean {
  return (kind === 'file' || kind === 'link') && name.endsWith('.md');
}
