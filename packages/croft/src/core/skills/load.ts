import { AppError } from '@croft/protocol';
import { countLines } from '../../lib/text/lines.ts';
import type { Files } from '../files.ts';
import { type FoundAgent, type FoundSkill, findAgents, findSkills, readSkill } from './find.ts';
import { readStart } from './head.ts';
import { passOver } from './passed-over.ts';
import { skillPlaces } from './places.ts';
import { type WalkedEntry, walkTree } from './walk-tree.ts';

/** A text that is handed over as a whole, if that is possible. */
export interface LoadedText {
  readonly content: string;
  /** The first line that is not in `content`. Left out: all of it is. */
  readonly nextLine?: number | undefined;
}

export interface SkillFile {
  readonly path: string;
  readonly size: number;
  readonly isExecutable: boolean;
}

export interface LoadedSkill extends FoundSkill, LoadedText {
  /** What else is in its directory. */
  readonly files: readonly SkillFile[];
  readonly filesCut: boolean;
}

const maxTextBytes = 128 * 1024;
const treeLimits = { entries: 200, directories: 100, depth: 8 };
/** Named in an error. */
const maxNames = 50;

/** Throws `E_NOT_FOUND`, with the names there are. */
export async function loadSkill(files: Files, name: string): Promise<LoadedSkill> {
  const { items } = await findSkills(files);
  const skill = items.find((one) => one.name === name) ?? (await findByDirectory(files, name));
  if (!skill) throw notFound('skill', name, items);
  const text = await loadText(files, skill.path);
  const others = await listFiles(files, skill.path.slice(0, skill.path.lastIndexOf('/')));
  return { ...skill, ...text, ...others };
}

/** Throws `E_NOT_FOUND`, with the names there are. */
export async function loadAgent(files: Files, name: string): Promise<FoundAgent & LoadedText> {
  const { items } = await findAgents(files);
  const agent = items.find((one) => one.name === name);
  if (!agent) throw notFound('agent', name, items);
  return { ...agent, ...(await loadText(files, agent.path)) };
}

/** Among more than are listed, or by another name than its own. */
async function findByDirectory(files: Files, name: string): Promise<FoundSkill | undefined> {
  if (/[/\0]/.test(name) || name === '.' || name === '..') return undefined;
  for (const place of skillPlaces) {
    const skill = await readSkill(files, place, name);
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

async function listFiles(files: Files, root: string) {
  const { found, cut } = await walkTree(root, treeLimits, (path, limit) => files.list(path, { limit }).catch(passOver));
  const others = found.filter(({ path, entry }) => entry.kind === 'file' && path !== `${root}/SKILL.md`);
  return { files: others.map(toFile), filesCut: cut };
}

function toFile({ path, entry: { size, mode = 0 } }: WalkedEntry): SkillFile {
  return { path, size, isExecutable: (mode & 0o100) !== 0 };
}

function notFound(kind: string, name: string, items: readonly { readonly name: string }[]): AppError {
  const names = items.slice(0, maxNames).map((item) => item.name);
  const known = names.length === 0 ? 'there are none' : `there are: ${names.join(', ')}`;
  const more = items.length > names.length ? ` and ${items.length - names.length} more` : '';
  return new AppError('E_NOT_FOUND', `there is no ${kind} ${JSON.stringify(name)}; ${known}${more}`, {
    details: { name, names },
  });
}
