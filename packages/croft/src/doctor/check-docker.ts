import { checkInotify, inotifyScript } from './check-inotify.ts';
import { checkSandboxGuards, guardsScript } from './check-sandbox.ts';
import type { Host } from './host.ts';
import { type HostCheck, weaker } from './host-check.ts';

/** Returns no rows on a host without Docker: only `--sandbox docker` needs it. */
export async function checkDocker(host: Host): Promise<HostCheck[]> {
  if (!host.exists(host.dockerSocket)) return [];
  const probe = await host.runInSandbox(`${guardsScript}; ${inotifyScript}`, 'deny-all', 'docker');
  if ('output' in probe)
    return [checkSandboxGuards(probe.output, 'docker'), checkInotify(host, probe.output, 'docker: inotify')];
  const [why = ''] = probe.reason.split('\n');
  return [weaker('docker', `--sandbox docker cannot be used: ${why}`)];
}
