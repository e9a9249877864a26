import { AppError } from '@croft/protocol';
import { inParallel } from '../../lib/in-parallel.ts';
import type { DirectoryEntry, Files } from '../files.ts';
import { hashOf } from './look.ts';
import { isBelow } from './manifest.ts';
import { passOver } from './passed-over.ts';
import { syncedAgents, syncedSkills } from './places.ts';
import { type OpenSource, type Reason, type SourceFile, syncLimits } from './source.ts';
import { type WalkedEntry, walkTree } from './walk-tree.ts';

/** The server's own directories, each a root of its own that nothing leads out of. */
export interface SourceRoots {
  /** Of directories with a `SKILL.md`. */
  readonly skills: readonly Files[];
  /** Of definitions. */
  readonly agents: readonly Files[];
}

/** In one of them. */
const maxEntries = 10_000;
const atOnce = 16;

/** A file, and what it belongs to. */
interface Candidate extends WalkedEntry {
  readonly files: Files;
}

/** Throws `E_TOO_LARGE` for more than a workspace is burdened with, and whatever keeps it from knowing all there is. */
export async function readSource(roots: SourceRoots, signal: AbortSignal): Promise<Omit<OpenSource, keyof Disposable>> {
  const skipped: Reason[] = [];
  const skills = first(
    await listSkills(roots.skills, skipped, signal),
    ({ path }) => path.split('/')[0] ?? '',
    skipped,
  );
  const agents = first(await listAgents(roots.agents), ({ path }) => path, skipped);
  checkTotal([...skills, ...agents]);
  return {
    skills: await toSourceFiles(skills, syncedSkills, skipped, signal),
    agents: await toSourceFiles(agents, syncedAgents, skipped, signal),
    skipped,
  };
}

async function listSkills(roots: readonly Files[], skipped: Reason[], signal: AbortSignal): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (const files of roots) {
    const entries = (await listRoot(files)).filter(({ name }) => !name.startsWith('.'));
    const links = entries.filter(({ kind }) => kind === 'link');
    skipped.push(...links.map(({ name }) => ({ path: name, reason: 'it is a link; name the directory it leads to' })));
    for (const { name } of entries.filter(({ kind }) => kind === 'directory')) {
      signal.throwIfAborted();
      found.push(...(await listSkill(files, name)).map((walked) => ({ ...walked, files })));
    }
  }
  return found;
}

/** Nothing for a directory that is no skill. Without what steers programs, such as a repository: it would not be let in. */
async function listSkill(files: Files, name: string): Promise<readonly WalkedEntry[]> {
  if (!(await files.stat(`${name}/SKILL.md`).catch(passOver))) return [];
  const limits = { entries: syncLimits.files, directories: syncLimits.files, depth: syncLimits.depth };
  const { found, cut } = await walkTree(name, limits, async (path, limit) =>
    isBelow(syncedSkills, path) ? files.list(path, { limit }) : undefined,
  );
  if (cut) throw tooMuch(`the skill ${name} has more than ${limits.entries} files or is too deep`);
  return found;
}

async function listAgents(roots: readonly Files[]): Promise<Candidate[]> {
  const found = await Promise.all(
    roots.map(async (files) => (await listRoot(files)).map((entry) => ({ path: entry.name, entry, files }))),
  );
  return found.flat().filter(({ path, entry }) => path.endsWith('.md') && entry.kind !== 'directory');
}

async function listRoot(files: Files): Promise<readonly DirectoryEntry[]> {
  const { entries, cut } = await files.list('', { limit: maxEntries });
  if (cut) throw tooMuch(`a directory of skills or agents has more than ${maxEntries} entries`);
  return entries;
}

/** Of several with one name, those of the root that has it first. */
function first(found: readonly Candidate[], nameOf: (one: Candidate) => string, skipped: Reason[]): Candidate[] {
  const owners = new Map<string, Files>();
  const shadowed = new Set<string>();
  const kept = found.filter((one) => {
    const [name, owner] = [nameOf(one), owners.get(nameOf(one)) ?? one.files];
    owners.set(name, owner);
    if (owner !== one.files) shadowed.add(name);
    return owner === one.files;
  });
  skipped.push(...[...shadowed].map((path) => ({ path, reason: 'an earlier directory has one of that name' })));
  return kept;
}

function checkTotal(all: readonly Candidate[]): void {
  const { files, totalBytes, fileBytes } = syncLimits;
  if (all.length > files) throw tooMuch(`there are ${all.length} files, more than ${files}`);
  const bytes = all.reduce((sum, { entry: { size } }) => sum + (size > fileBytes ? 0 : size), 0);
  if (bytes > totalBytes) throw tooMuch(`the files have ${bytes} bytes, more than ${totalBytes}`);
}

async function toSourceFiles(
  candidates: readonly Candidate[],
  directory: string,
  skipped: Reason[],
  signal: AbortSignal,
): Promise<SourceFile[]> {
  const found = new Map<string, SourceFile>();
  await inParallel(candidates, atOnce, async ({ path, entry, files }) => {
    signal.throwIfAborted();
    const reason = whyNot(directory, path, entry);
    const version = reason === undefined ? await files.version(path) : undefined;
    const hash = version && (await hashOf(files, path, version.version));
    if (hash === undefined) return void skipped.push({ path, reason: reason ?? 'it went away' });
    const read = async () => (await files.read(path, { maxBytes: syncLimits.fileBytes })).bytes;
    found.set(path, { path, hash, isExecutable: ((entry.mode ?? 0) & 0o100) !== 0, read });
  });
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function whyNot(directory: string, path: string, { kind, size }: DirectoryEntry): string | undefined {
  if (kind === 'link') return 'it is a link';
  if (kind !== 'file') return 'it is no file';
  if (size > syncLimits.fileBytes) return `it has more than ${syncLimits.fileBytes} bytes`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for.
  if (/[\x00-\x1f\x7f\ufffd]/.test(path)) return 'its name is not plain text';
  return isBelow(directory, path) ? undefined : 'it would steer programs outside the sandbox';
}

function tooMuch(what: string): AppError {
  return new AppError('E_TOO_LARGE', `skills are not synced: ${what}`);
}
