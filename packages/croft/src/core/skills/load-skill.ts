import { AppError } from '@croft/protocol';
import { countLines } from '../../lib/text/lines/lines.ts';
import type { Files } from '../files/files.ts';
import { type FoundAgent, type FoundSkill, findAgents, findSkills, readSkill } from './find-skills.ts';
import { ignorePathError } from './ignore-path-error.ts';
import { readStart } from './read-file-head.ts';
import { skillDirectories } from './skill-directories.ts';
import { type WalkedEntry, walkTree } from './walk-tree.ts';

/** A text, whole if it is small enough. */
interface LoadedText {
  readonly content: string;
  /** The first line after `content`. Left out: the text is complete. */
  readonly nextLine?: number | undefined;
}

interface SkillFile {
  readonly path: string;
  readonly size: number;
  readonly isExecutable: boolean;
}

export interface LoadedSkill extends FoundSkill, LoadedText {
  /** The other files of its directory. */
  readonly files: readonly SkillFile[];
  readonly filesCut: boolean;
}

const maxTextBytes = 128 * 1024;
const treeLimits = { entries: 200, directories: 100, depth: 8 };
/** Most names in an error. */
const maxNames = 50;

/** Loads a skill. Throws `E_NOT_FOUND` with the existing names. */
export async function loadSkill(files: Files, name: string): Promise<LoadedSkill> {
  const { items } = await findSkills(files);
  const skill = items.find((one) => one.name === name) ?? (await findByDirectory(files, name));
  if (!skill) throw notFoundError('skill', name, items);
  const text = await loadText(files, skill.path);
  const others = await listSkillFiles(files, skill.path.slice(0, skill.path.lastIndexOf('/')));
  return { ...skill, ...text, ...others };
}

/** Loads an agent. Throws `E_NOT_FOUND` with the existing names. */
export async function loadAgent(files: Files, name: string): Promise<FoundAgent & LoadedText> {
  const { items } = await findAgents(files);
  const agent = items.find((one) => one.name === name);
  if (!agent) throw notFoundError('agent', name, items);
  return { ...agent, ...(await loadText(files, agent.path)) };
}

/** Finds a skill by its directory, beyond the listed ones or under another name. */
async function findByDirectory(files: Files, name: string): Promise<FoundSkill | undefined> {
  if (/[/\0]/.test(name) || name === '.' || name === '..') return undefined;
  for (const directory of skillDirectories) {
    const skill = await readSkill(files, directory, name);
    if (skill) return skill;
  }
  return undefined;
}

async function loadText(files: Files, path: string): Promise<LoadedText> {
  const { text, size } = await readStart(files, path, maxTextBytes);
  if (size <= maxTextBytes) return { content: text };
  const end = text.lastIndexOf('\n') + 1;
  const content = end > 0 ? text.slice(0, end) : text;
  return { content, nextLine: end > 0 ? countLines(Buffer.from(content)) + 1 : 1 };
}

async function listSkillFiles(files: Files, root: string) {
  const { found, cut } = await walkTree(root, treeLimits, (path, limit) =>
    files.list(path, { limit }).catch(ignorePathError),
  );
  const others = found.filter(({ path, entry }) => entry.kind === 'file' && path !== `${root}/SKILL.md`);
  return { files: others.map(toFile), filesCut: cut };
}

function toFile({ path, entry: { size, mode = 0 } }: WalkedEntry): SkillFile {
  return { path, size, isExecutable: (mode & 0o100) !== 0 };
}

function notFoundError(kind: string, name: string, items: readonly { readonly name: string }[]): AppError {
  const names = items.slice(0, maxNames).map((item) => item.name);
  const known = names.length === 0 ? 'there are none' : `there are: ${names.join(', ')}`;
  const more = items.length > names.length ? ` and ${items.length - names.length} more` : '';
  return new AppError('E_NOT_FOUND', `there is no ${kind} ${JSON.stringify(name)}; ${known}${more}`, {
    details: { name, names },
  });
}
