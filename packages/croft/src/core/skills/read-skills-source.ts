import { AppError } from '@croft/protocol';
import { inParallel } from '../../lib/concurrency/in-parallel.ts';
import type { DirectoryEntry, Files } from '../files/files.ts';
import { ignorePathError } from './ignore-path-error.ts';
import { contentHash } from './inspect-path.ts';
import { syncedAgentsDirectory, syncedSkillsDirectory } from './skill-directories.ts';
import { type OpenedSkillsSource, type PathReason, type SkillSourceFile, syncLimits } from './skills-source.ts';
import { maySync } from './sync-manifest.ts';
import { type WalkedEntry, walkTree } from './walk-tree.ts';

/** The server's own directories. Each is a root that nothing leads out of. */
interface SourceRoots {
  /** Roots of directories with a `SKILL.md`. */
  readonly skills: readonly Files[];
  /** Roots of agent definitions. */
  readonly agents: readonly Files[];
}

/** Limit per root. */
const maxEntries = 10_000;
const atOnce = 16;

/** A file and its root. */
interface Candidate extends WalkedEntry {
  readonly files: Files;
}

/**
 * Reads the server's skills and agents. Throws `E_TOO_LARGE` beyond the limits, and any error that keeps the list from
 * being complete.
 */
export async function readSkillsSource(
  roots: SourceRoots,
  signal: AbortSignal,
): Promise<Omit<OpenedSkillsSource, keyof Disposable>> {
  const skipped: PathReason[] = [];
  const skills = firstOfEachName(
    await listSkills(roots.skills, skipped, signal),
    ({ path }) => path.split('/')[0] ?? '',
    skipped,
  );
  const agents = firstOfEachName(await listAgents(roots.agents), ({ path }) => path, skipped);
  checkTotal([...skills, ...agents]);
  return {
    skills: await toSourceFiles(skills, syncedSkillsDirectory, skipped, signal),
    agents: await toSourceFiles(agents, syncedAgentsDirectory, skipped, signal),
    skipped,
  };
}

async function listSkills(roots: readonly Files[], skipped: PathReason[], signal: AbortSignal): Promise<Candidate[]> {
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

/**
 * Lists the files of a skill; none for a directory without a `SKILL.md`. Control files, such as those of a repository,
 * are left out: workspaces would reject them.
 */
async function listSkill(files: Files, name: string): Promise<readonly WalkedEntry[]> {
  if (!(await files.stat(`${name}/SKILL.md`).catch(ignorePathError))) return [];
  const limits = { entries: syncLimits.files, directories: syncLimits.files, depth: syncLimits.depth };
  const { found, cut } = await walkTree(name, limits, async (path, limit) =>
    maySync(syncedSkillsDirectory, path) ? files.list(path, { limit }) : undefined,
  );
  if (cut) throw tooLargeError(`the skill ${name} has more than ${limits.entries} files or is too deep`);
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
  if (cut) throw tooLargeError(`a directory of skills or agents has more than ${maxEntries} entries`);
  return entries;
}

/** Among several with one name, keeps those of the first root. */
function firstOfEachName(
  found: readonly Candidate[],
  nameOf: (one: Candidate) => string,
  skipped: PathReason[],
): Candidate[] {
  const owners = new Map<string, Files>();
  const shadowed = new Set<string>();
  const owned = found.filter((one) => {
    const [name, owner] = [nameOf(one), owners.get(nameOf(one)) ?? one.files];
    owners.set(name, owner);
    if (owner !== one.files) shadowed.add(name);
    return owner === one.files;
  });
  skipped.push(...[...shadowed].map((path) => ({ path, reason: 'an earlier directory has one of that name' })));
  return owned;
}

function checkTotal(all: readonly Candidate[]): void {
  const { files, totalBytes, fileBytes } = syncLimits;
  if (all.length > files) throw tooLargeError(`there are ${all.length} files, more than ${files}`);
  const bytes = all.reduce((sum, { entry: { size } }) => sum + (size > fileBytes ? 0 : size), 0);
  if (bytes > totalBytes) throw tooLargeError(`the files have ${bytes} bytes, more than ${totalBytes}`);
}

async function toSourceFiles(
  candidates: readonly Candidate[],
  directory: string,
  skipped: PathReason[],
  signal: AbortSignal,
): Promise<SkillSourceFile[]> {
  const found = new Map<string, SkillSourceFile>();
  await inParallel(candidates, atOnce, async ({ path, entry, files }) => {
    signal.throwIfAborted();
    const reason = whyNotSynced(directory, path, entry);
    const version = reason === undefined ? await files.version(path) : undefined;
    const hash = version && (await contentHash(files, path, version.version));
    if (hash === undefined) return void skipped.push({ path, reason: reason ?? 'it was removed meanwhile' });
    const read = async () => (await files.read(path, { maxBytes: syncLimits.fileBytes })).bytes;
    found.set(path, { path, hash, isExecutable: ((entry.mode ?? 0) & 0o100) !== 0, read });
  });
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function whyNotSynced(directory: string, path: string, { kind, size }: DirectoryEntry): string | undefined {
  if (kind === 'link') return 'it is a link';
  if (kind !== 'file') return 'it is not a regular file';
  if (size > syncLimits.fileBytes) return `it has more than ${syncLimits.fileBytes} bytes`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for.
  if (/[\x00-\x1f\x7f\ufffd]/.test(path)) return 'its name is not plain text';
  return maySync(directory, path) ? undefined : 'it would run or configure programs outside the sandbox';
}

function tooLargeError(what: string): AppError {
  return new AppError('E_TOO_LARGE', `skills are not synced: ${what}`);
}
