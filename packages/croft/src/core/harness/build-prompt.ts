import { hasGuidance, hasMemory } from '../accounts/configs/harness-settings.ts';
import type { AttachedWorkspace } from '../accounts/surface/resolve-surface.ts';
import type { Files } from '../files/files.ts';
import { findSkills } from '../skills/find-skills.ts';
import { loadMemory } from './memory.ts';

/** A workspace of an agent with its files. */
interface HarnessedWorkspace extends Pick<AttachedWorkspace, 'name' | 'record' | 'sandbox'> {
  readonly files: Files;
}

/**
 * Builds the text that a model gets about its workspaces at start: their memories, then guidance on how to work in
 * them.
 */
export async function buildPrompt(workspaces: readonly HarnessedWorkspace[]): Promise<string> {
  const memories = await Promise.all(workspaces.map(recall));
  const guidance = await renderGuidance(workspaces);
  return [renderMemories(workspaces, memories), guidance].filter((part) => part !== '').join('\n\n');
}

async function recall({ record, files }: HarnessedWorkspace): Promise<string | undefined> {
  return record.config.harness?.memory?.enabled === false ? undefined : loadMemory(files);
}

function renderMemories(workspaces: readonly HarnessedWorkspace[], memories: readonly (string | undefined)[]): string {
  const found = workspaces.flatMap(({ name }, index) => {
    const text = memories[index];
    return text === undefined ? [] : [{ name, text }];
  });
  const [only] = found;
  if (!only) return '';
  if (workspaces.length === 1 && only.name === 'default') return `What MEMORY.md holds now:\n\n${only.text}`;
  return ['What the MEMORY.md of each workspace holds now:', ...found.map(toSection)].join('\n\n');
}

function toSection({ name, text }: { name: string; text: string }): string {
  return `## ${name}\n\n${text}`;
}

async function renderGuidance(workspaces: readonly HarnessedWorkspace[]): Promise<string> {
  if (!workspaces.some(({ record }) => hasGuidance(record.config))) return '';
  const skilled = await Promise.all(workspaces.map(hasSkills));
  const lines = [
    ...workspaces.map(toLine),
    '',
    ...adviceFor(workspaces, skilled.includes(true)).map((advice, index) => `${index + 1}. ${advice}`),
  ];
  return `<workspace>\n${lines.join('\n')}\n</workspace>`;
}

function toLine({ name, record, sandbox }: HarnessedWorkspace, index: number): string {
  const marks = `${index === 0 ? ' (default)' : ''}${sandbox ? '' : ' [read-only: read, glob]'}`;
  return `- ${name}${marks}${record.description === undefined ? '' : `: ${record.description}`}`;
}

/**
 * Whether a workspace where the skill tools are available has skills. A failed search counts as none: the agent starts
 * anyway.
 */
async function hasSkills({ sandbox, record, files }: HarnessedWorkspace): Promise<boolean> {
  if (!sandbox || !hasGuidance(record.config)) return false;
  const found = await findSkills(files).catch(() => undefined);
  return found !== undefined && found.items.length > 0;
}

function adviceFor(workspaces: readonly HarnessedWorkspace[], isSkilled: boolean): string[] {
  const canWrite = workspaces.some(({ sandbox }) => sandbox);
  const canRemember = workspaces.some(({ sandbox, record }) => sandbox && hasMemory(record.config));
  return [
    'Find files with glob and look at them with read; paths are relative to the root of a workspace.',
    ...(workspaces.length > 1 ? ['Pass `workspace` to work in another than the default one.'] : []),
    ...(canWrite ? ['Read a file before you change it; run commands with bash, which starts in the workspace.'] : []),
    ...(isSkilled ? ['There are skills for some kinds of work: see skills first, and load what fits with skill.'] : []),
    ...(canRemember ? ['Keep what should still be known next time with memory_save; it goes to MEMORY.md.'] : []),
    ...(canWrite ? ['Keep the plan of longer work in TASKS.md, and bring it up to date as you go.'] : []),
    ...(canWrite ? ['Both are ordinary files, which people may read and change too.'] : []),
  ];
}
