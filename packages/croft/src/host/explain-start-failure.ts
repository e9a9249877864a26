import {
  containerOptionsForSandboxes,
  detectContainer,
  isRootWithoutCapabilities,
} from '../lib/processes/detect-container.ts';

/** Explanations for error lines of the init, for the person who can fix the cause. */
const explanations: readonly (readonly [RegExp, string])[] = [
  [
    /cannot hold the control files: Argument list too long/,
    'the workspace has more hooks and settings of git, editors, shells and agents than can be guarded; ' +
      'remove some of them, such as nested repositories that are not needed',
  ],
  [
    /cannot hold the control files: Too many links/,
    'a hook or a settings file of the workspace leads through too many links; replace it by a file',
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
    'this machine allows no user namespaces in containers, which are needed to guard the control files of the workspace; ' +
      'croft doctor shows what is in the way',
  ],
];

/**
 * Explains why a sandbox did not start. `words` is the output of the init and of its launcher; `otherwise` is returned
 * if the init printed nothing.
 */
export function explainStartFailure(words: string, otherwise: string): string {
  const [, own] = /^croft-init: (.*)$/m.exec(words) ?? [];
  if (own === undefined) return otherwise;
  return explanations.find(([pattern]) => pattern.test(own))?.[1] ?? own;
}

/**
 * Explains why bubblewrap could not make a sandbox. In a container the cause is most often a missing option of the
 * container.
 */
export function explainBubblewrapFailure(words: string): string {
  const refused = 'bubblewrap cannot make a sandbox on this host';
  if (isRootWithoutCapabilities(process.getuid?.() ?? -1, words))
    return `${refused}: root without capabilities may not; start it as another user, in a container with --user 1000:1000`;
  const container = /^bwrap: .*(?:namespace|not permitted|denied)/im.test(words) ? detectContainer() : undefined;
  if (container === undefined) return refused;
  const needs = containerOptionsForSandboxes[container.kind];
  const start = needs === undefined ? 'run Croft beside it, not inside' : `start the container so: ${needs}`;
  return `${refused}: ${container.kind} does not allow the namespaces that a sandbox needs; ${start}`;
}
