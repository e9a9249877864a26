import { posix } from 'node:path';
import { findControlPath, gitNames } from '../control-files.ts';
import type { Denial } from '../sandbox.ts';
import type { ExplainLine, Fence, Line } from './line.ts';
import { pathsIn } from './mentioned-paths.ts';

const readOnly = /Read-only file system|\bEROFS\b/i;
const busy = /Device or resource busy|resource busy or locked/i;
const crossing = /Invalid cross-device link|cross-device link not permitted/i;
const forbidden = /Operation not permitted|Permission denied/i;
const missing = /No such file or directory|Cannot connect to the Docker daemon/i;

/** Writing is what was refused. A shell says the same of a program that is not executable. */
const writing =
  /\bcannot (?:touch|create|remove|move|overwrite)|\bfor writing|\b(?:failed to|unable to|could not) (?:create|write|lock|remove|rename|unlink)/i;
const shell = /^(?:\/\S{0,40}\/)?(?:ba|da|z|k)?sh: /;
const system = /^\/(?:usr|etc|opt|var|bin|sbin|lib\w{0,3}|boot|sys|proc)(?:\/|$)/;

/** Of a person or of the host, and so never shown. */
const hidden =
  /^\/(?:root|Users\/[^/]+|home\/(?!croft(?:\/|$))[^/]+|(?:var\/)?run\/(?:docker\.sock|user)|etc\/(?:shadow|sudoers))(?:\/|$)/;
const credentials = /^(?:~|\/home\/croft|\/root|\/home\/[^/]+)\/\.(?:ssh|aws|gnupg|kube|netrc|git-credentials)(?:\/|$)/;

export const fileClues = [readOnly, busy, crossing, forbidden, missing];

/** What the kernel refuses where something is held read-only, held in place or not there to be seen. */
export const explainFile: ExplainLine = (line, fence) => {
  if (!fence.holdsFiles) return undefined;
  const kinds = [
    [readOnly, explainReadOnly],
    [busy, explainBusy],
    [crossing, explainControl],
    [forbidden, explainForbidden],
    [missing, explainMissing],
  ] as const;
  for (const [clue, explain] of kinds) {
    const at = line.text.search(clue);
    if (at >= 0) return explain(toPlaces(pathsIn(line.text, at), fence), line);
  }
  return undefined;
};

/** A path as it was printed, and from the root of the workspace if it is in there or may be. */
interface Place {
  readonly path: string;
  readonly inside: string | undefined;
  readonly isCertain: boolean;
}

function toPlaces(paths: readonly string[], { workspacePath }: Fence): Place[] {
  return paths.map((path) => {
    const plain = posix.normalize(path).replace(/(?<=.)\/$/, '');
    if (!plain.startsWith('/'))
      return { path: plain, inside: plain.startsWith('~') ? undefined : plain, isCertain: false };
    const inside = posix.relative(workspacePath, plain);
    const isCertain = inside !== '..' && !inside.startsWith('../');
    return { path: plain, inside: isCertain ? inside : undefined, isCertain };
  });
}

function explainReadOnly(places: readonly Place[], { before }: Line): Denial {
  const control = explainControl(places);
  if (control) return control;
  const outside = places.find(({ path, inside }) => inside === undefined && path.startsWith('/'));
  if (outside) return readOnlySystem(outside.path);
  // Nothing in the workspace is read-only but what is held.
  const held = places.find(({ inside = '', isCertain }) => isCertain || gitNames.has(inside.split('/')[0] ?? ''));
  if (held) return controlFile(held.inside || held.path);
  const announced = pathsIn(before).findLast((path) => path.startsWith('/'));
  return places[0] === undefined && announced !== undefined
    ? readOnlySystem(announced)
    : readOnlyPlace(places[0]?.path);
}

/** A mount point is busy for whoever would rename or delete it, and there are no others in a workspace. */
function explainBusy(places: readonly Place[]): Denial | undefined {
  const [first] = places;
  return explainControl(places) ?? (first?.inside === undefined ? undefined : controlFile(first.inside || first.path));
}

function explainControl(places: readonly Place[]): Denial | undefined {
  for (const { inside } of places) {
    const control = inside === undefined ? undefined : findControlPath(inside);
    if (control !== undefined) return controlFile(control);
  }
  return undefined;
}

function explainForbidden(places: readonly Place[], { text }: Line): Denial | undefined {
  const isShell = shell.test(text);
  const control = isShell ? undefined : explainControl(places);
  if (control) return control;
  const outside = places.find(({ path, inside }) => inside === undefined && system.test(path));
  return outside && (isShell || writing.test(text)) ? readOnlySystem(outside.path) : undefined;
}

function explainMissing(places: readonly Place[], { text }: Line): Denial | undefined {
  if (/Docker daemon/i.test(text)) return notVisible('/var/run/docker.sock');
  const place = places.find(
    ({ path, inside }) => inside === undefined && (hidden.test(path) || credentials.test(path)),
  );
  return place && notVisible(place.path);
}

function controlFile(target: string): Denial {
  const reason = 'This file, or one in it, runs or configures programs outside the sandbox';
  const next = `${reason}, so it cannot be changed from inside. Ask the person to change it, or do without.`;
  return { layer: 'file', rule: 'control-file', target, next };
}

function readOnlySystem(target: string): Denial {
  return { layer: 'file', rule: 'read-only-system', target, next: 'Write in the workspace or in /tmp.' };
}

function readOnlyPlace(target = ''): Denial {
  const next =
    'Write in the workspace or in /tmp, but not to files that run or configure programs, such as .git/config.';
  return { layer: 'file', rule: 'read-only', target, next };
}

function notVisible(target: string): Denial {
  const next = credentials.test(target)
    ? 'Credentials of a person are not shown to commands. If the work needs one, ask the operator to offer it as a secret.'
    : 'Only the system and the workspace can be seen. If the work needs more, ask the operator for --allow-read DIR.';
  return { layer: 'file', rule: 'not-visible', target, next };
}
