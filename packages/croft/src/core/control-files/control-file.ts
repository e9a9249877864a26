import { AppError } from '@croft/protocol';
import type { Allowance } from './allowance.ts';

/** Why programs outside the sandbox obey a file. */
type ControlReason =
  /** The file has a name that programs obey, at the top of a directory that somebody opens. */
  | 'obeyed'
  /** The file is a setting or a hook of a git directory, or git settings point to it. */
  | 'git-setting'
  /** The path is a git directory, or would make a directory one. */
  | 'git-directory'
  /** A control file is a link that points to it. */
  | 'link-target';

/** The control file that a changed path belongs to. */
export interface ControlFile {
  /** Root-relative path of the obeyed file or directory: `.vscode` for `.vscode/tasks.json`. */
  readonly control: string;
  readonly reason: ControlReason;
  /** The name of the file for `--allow-control`. Absent: no operator can allow it. */
  readonly name?: string | undefined;
}

export function isAllowed({ name, reason }: ControlFile, path: string, { names = [], paths = [] }: Allowance): boolean {
  if (reason === 'git-directory') return false;
  if (name !== undefined && names.includes(name)) return true;
  return paths.some((allowed) => path === allowed || path.startsWith(`${allowed}/`));
}

/** Whether a person may approve a change of it. Nobody may approve a git directory: only git makes those. */
export function canBeApproved({ reason }: ControlFile): boolean {
  return reason !== 'git-directory';
}

/** Makes an error that states the rule, the reason and the next step. `path` is what the call would change. */
export function refuseControlFile(path: string, found: ControlFile): AppError {
  const { control, reason, name } = found;
  const message = `${path} is not changed: ${describeControlFile(found)}\nNext: ${adviceFor(found)}`;
  const allow = name === undefined ? {} : { allow: name };
  return new AppError('E_CONTROL_FILE', message, {
    details: { path, rule: 'control-file', target: control, reason, ...allow },
  });
}

export function describeControlFile({ control, reason }: ControlFile): string {
  if (reason === 'git-directory')
    return `${control} is a git directory, or would become one, and git outside the sandbox obeys what is in it.`;
  if (reason === 'git-setting') return `git outside the sandbox runs or obeys what ${control} holds.`;
  if (reason === 'link-target') return `${control} is where a link leads that programs outside the sandbox obey.`;
  return `an editor, an agent or a shell outside the sandbox obeys ${control}.`;
}

function adviceFor({ reason, name }: ControlFile): string {
  if (reason === 'git-directory')
    return 'use git in a command (bash) to make or change a repository: its settings are judged there. Or ask the person.';
  if (name === undefined) return 'do without it, or ask the person to change it.';
  const flag = `--allow-control '${name}'`;
  return `do without it, or ask the person to change it. The operator can allow it: ${flag}, or allowControl in the sandbox record.`;
}
