import { findContainer, isBareRoot, sandboxesNeed } from '../lib/container.ts';

/** What the init says when it cannot go on, in words for whoever has to do something about it. */
const explanations: readonly (readonly [RegExp, string])[] = [
  [
    /cannot hold the control files: Argument list too long/,
    'the workspace has more hooks and settings of git, editors, shells and agents than can be held in place; ' +
      'remove some of them, such as repositories inside it that are not needed',
  ],
  [
    /cannot hold the control files: Too many links/,
    'a hook or a settings file of the workspace is a link that leads on too often; replace it by a file',
  ],
  [
    /cannot hold the control files: Too many open files/,
    'this server has too many files open to open another sandbox; end sessions, or raise its limit of open files',
  ],
  [
    /cannot enter the container: Stale file handle/,
    'Docker sees another directory by the name of the workspace than this server does; run both with the same mounts',
  ],
  [
    /cannot enter the container/,
    'this machine lets no container have a user namespace, without which the control files of the workspace cannot be held; ' +
      'croft doctor tells what is in the way',
  ],
];

/** `words` is all that the init and what started it have written; `otherwise` is for when the init said nothing. */
export function explainStart(words: string, otherwise: string): string {
  const [, own] = /^croft-init: (.*)$/m.exec(words) ?? [];
  if (own === undefined) return otherwise;
  return explanations.find(([pattern]) => pattern.test(own))?.[1] ?? own;
}

/** Why bubblewrap made no sandbox: in a container most often for what that was started without. */
export function explainRefusal(words: string): string {
  const refused = 'bubblewrap cannot make a sandbox on this host';
  if (isBareRoot(process.getuid?.() ?? -1, words))
    return `${refused}: root without capabilities may not; start it as another user, in a container with --user 1000:1000`;
  const container = /^bwrap: .*(?:namespace|not permitted|denied)/im.test(words) ? findContainer() : undefined;
  if (container === undefined) return refused;
  const needs = sandboxesNeed[container.kind];
  const start = needs === undefined ? 'run Croft beside it, not inside' : `start the container so: ${needs}`;
  return `${refused}: ${container.kind} does not allow what one is made of; ${start}`;
}
