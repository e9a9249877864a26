import { posix } from 'node:path';
import { gitSettings } from '../../control-files/control-file-names.ts';
import { findControlPath } from '../../control-files/find-control-path.ts';
import type { SandboxDenial } from '../sandbox.ts';
import { findMentionedPaths } from './find-mentioned-paths.ts';
import type { ExplainLine, OutputLine, SandboxRules } from './output-line.ts';

const readOnly = /Read-only file system|\bEROFS\b/i;
const busy = /Device or resource busy|resource busy or locked/i;
const crossing = /Invalid cross-device link|cross-device link not permitted/i;
const forbidden = /Operation not permitted|Permission denied/i;
const missing = /No such file or directory|Cannot connect to the Docker daemon/i;

/** Words of a refused write. A shell says `Permission denied` also of a program that is not executable. */
const writing =
  /\bcannot (?:touch|create|remove|move|overwrite)|\bfor writing|\b(?:failed to|unable to|could not) (?:create|write|lock|remove|rename|unlink)/i;
const shell = /^(?:\/\S{0,40}\/)?(?:ba|da|z|k)?sh: /;
const system = /^\/(?:usr|etc|opt|var|bin|sbin|lib\w{0,3}|boot|sys|proc)(?:\/|$)/;

/** Paths of a person or of the host, which sandboxes never show. */
const hidden =
  /^\/(?:root|Users\/[^/]+|home\/(?!croft(?:\/|$))[^/]+|(?:var\/)?run\/(?:docker\.sock|user)|etc\/(?:shadow|sudoers))(?:\/|$)/;
const credentials = /^(?:~|\/home\/croft|\/root|\/home\/[^/]+)\/\.(?:ssh|aws|gnupg|kube|netrc|git-credentials)(?:\/|$)/;

export const fileClues = [readOnly, busy, crossing, forbidden, missing];

/** Explains refusals of files that are read-only, mounted in place or hidden. */
export const explainFile: ExplainLine = (line, fence) => {
  if (!fence.guardsFiles) return undefined;
  const kinds = [
    [readOnly, explainReadOnly],
    [busy, explainBusy],
    [crossing, explainControl],
    [forbidden, explainForbidden],
    [missing, explainMissing],
  ] as const;
  for (const [clue, explain] of kinds) {
    const at = line.text.search(clue);
    if (at >= 0) return explain(toMentionedPaths(findMentionedPaths(line.text, at), fence), line);
  }
  return undefined;
};

/** A path as it was printed. `inside` is the path from the workspace root, if it lies there or may lie there. */
interface MentionedPath {
  readonly path: string;
  readonly inside: string | undefined;
  readonly isCertain: boolean;
}

function toMentionedPaths(paths: readonly string[], { workspacePath }: SandboxRules): MentionedPath[] {
  return paths.map((path) => {
    const plain = posix.normalize(path).replace(/(?<=.)\/$/, '');
    if (!plain.startsWith('/'))
      return { path: plain, inside: plain.startsWith('~') ? undefined : plain, isCertain: false };
    const inside = posix.relative(workspacePath, plain);
    const isCertain = inside !== '..' && !inside.startsWith('../');
    return { path: plain, inside: isCertain ? inside : undefined, isCertain };
  });
}

function explainReadOnly(paths: readonly MentionedPath[], { before }: OutputLine): SandboxDenial {
  const control = explainControl(paths);
  if (control) return control;
  const outside = paths.find(({ path, inside }) => inside === undefined && path.startsWith('/'));
  if (outside) return readOnlySystem(outside.path);
  // Only guarded control files are read-only in a workspace.
  const guarded = paths.find(({ inside = '', isCertain }) => isCertain || gitSettings.has(inside.split('/')[0] ?? ''));
  if (guarded) return controlFile(guarded.inside || guarded.path);
  const announced = findMentionedPaths(before).findLast((path) => path.startsWith('/'));
  return paths[0] === undefined && announced !== undefined
    ? readOnlySystem(announced)
    : readOnlyElsewhere(paths[0]?.path);
}

/** A mount point cannot be renamed or deleted, and only guarded control files are mount points in a workspace. */
function explainBusy(paths: readonly MentionedPath[]): SandboxDenial | undefined {
  const [first] = paths;
  return explainControl(paths) ?? (first?.inside === undefined ? undefined : controlFile(first.inside || first.path));
}

function explainControl(paths: readonly MentionedPath[]): SandboxDenial | undefined {
  for (const { inside } of paths) {
    const control = inside === undefined ? undefined : findControlPath(inside);
    if (control !== undefined) return controlFile(control);
  }
  return undefined;
}

function explainForbidden(paths: readonly MentionedPath[], { text }: OutputLine): SandboxDenial | undefined {
  const isShell = shell.test(text);
  const control = isShell ? undefined : explainControl(paths);
  if (control) return control;
  const outside = paths.find(({ path, inside }) => inside === undefined && system.test(path));
  return outside && (isShell || writing.test(text)) ? readOnlySystem(outside.path) : undefined;
}

function explainMissing(paths: readonly MentionedPath[], { text }: OutputLine): SandboxDenial | undefined {
  if (/Docker daemon/i.test(text)) return notVisible('/var/run/docker.sock');
  const hiddenPath = paths.find(
    ({ path, inside }) => inside === undefined && (hidden.test(path) || credentials.test(path)),
  );
  return hiddenPath && notVisible(hiddenPath.path);
}

function controlFile(target: string): SandboxDenial {
  const reason = 'This file, or one in it, runs or configures programs outside the sandbox';
  const next = `${reason}, so it cannot be changed from inside. Ask the person to change it, or do without.`;
  return { layer: 'file', rule: 'control-file', target, next };
}

function readOnlySystem(target: string): SandboxDenial {
  return { layer: 'file', rule: 'read-only-system', target, next: 'Write in the workspace or in /tmp.' };
}

function readOnlyElsewhere(target = ''): SandboxDenial {
  const next =
    'Write in the workspace or in /tmp, but not to files that run or configure programs, such as .git/config.';
  return { layer: 'file', rule: 'read-only', target, next };
}

function notVisible(target: string): SandboxDenial {
  const next = credentials.test(target)
    ? 'Credentials of a person are not shown to commands. If the work needs one, ask the operator to offer it as a secret.'
    : 'Only the system and the workspace can be seen. If the work needs more, ask the operator for --allow-read DIR.';
  return { layer: 'file', rule: 'not-visible', target, next };
}
