import { findContainer } from '../lib/container.ts';
import type { Check } from './check.ts';
import { checkDocker } from './docker.ts';
import type { Host } from './host.ts';
import { checkInside } from './inside.ts';
import { checkLandlock, checkSeccomp } from './kernel-guards.ts';
import { checkLimits } from './limits.ts';
import { checkNamespaces } from './namespaces.ts';
import { checkBubblewrap, checkGit, checkRipgrep } from './programs.ts';
import { checkServerUser } from './server-user.ts';
import { checkKernel, checkSurroundings, describeSystem, kernelOf } from './surroundings.ts';

/** What `croft doctor --json` prints, but for the escapes. */
export interface Examination {
  readonly host: {
    readonly system: string;
    readonly kernel: string | null;
    readonly container: string | null;
    readonly uid: number;
  };
  readonly checks: readonly Check[];
}

/** Everything a host must have, in the order in which one builds on the other. */
export async function examine(host: Host): Promise<Examination> {
  const kernel = [checkSurroundings(host), checkKernel(host), checkSeccomp(host), checkLandlock(host)];
  const before = [...kernel.filter(isThere), await checkBubblewrap(host), await checkNamespaces(host)];
  const checks = [
    ...before,
    ...(await checkInside(host, before)),
    ...(await checkLimits(host)),
    ...(await checkDocker(host)),
    checkServerUser(host),
    await checkRipgrep(host),
    await checkGit(host),
  ];
  return {
    host: {
      system: describeSystem(host),
      kernel: kernelOf(host) ?? null,
      container: findContainer(host)?.kind ?? null,
      uid: host.user.uid,
    },
    checks,
  };
}

/** Weaker is said, and no failure. */
export function isReady({ checks }: Examination): boolean {
  return checks.every(({ state }) => state !== 'missing');
}

function isThere(check: Check | undefined): check is Check {
  return check !== undefined;
}
