import { detectContainer } from '../lib/processes/detect-container.ts';
import { checkDocker } from './check-docker.ts';
import { checkHostEnvironment, checkKernel, describeSystem, kernelOf } from './check-host-environment.ts';
import { checkLandlock, checkSeccomp } from './check-kernel-guards.ts';
import { checkLimits } from './check-limits.ts';
import { checkNamespaces } from './check-namespaces.ts';
import { checkBubblewrap, checkGit, checkRipgrep } from './check-programs.ts';
import { checkSandbox } from './check-sandbox.ts';
import { checkServerUser } from './check-server-user.ts';
import { checkTemporaryFiles } from './check-temporary-files.ts';
import type { Host } from './host.ts';
import type { HostCheck } from './host-check.ts';

/** The output of `croft doctor --json`, without the escapes. */
export interface Examination {
  readonly host: {
    readonly system: string;
    readonly kernel: string | null;
    readonly container: string | null;
    readonly uid: number;
  };
  readonly checks: readonly HostCheck[];
}

/** Checks everything that a host must have. Later checks build on earlier ones. */
export async function examineHost(host: Host): Promise<Examination> {
  const kernel = [checkHostEnvironment(host), checkKernel(host), checkSeccomp(host), checkLandlock(host)];
  const before = [
    ...kernel.filter(isPresent),
    checkTemporaryFiles(host),
    await checkBubblewrap(host),
    await checkNamespaces(host),
  ];
  const checks = [
    ...before,
    ...(await checkSandbox(host, before)),
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
      container: detectContainer(host)?.kind ?? null,
      uid: host.user.uid,
    },
    checks,
  };
}

/** A host is ready unless something is missing. `weaker` rows do not fail it. */
export function isReady({ checks }: Examination): boolean {
  return checks.every(({ state }) => state !== 'missing');
}

function isPresent(check: HostCheck | undefined): check is HostCheck {
  return check !== undefined;
}
