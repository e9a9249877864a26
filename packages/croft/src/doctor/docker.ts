import { type Check, weaker } from './check.ts';
import type { Host } from './host.ts';
import { checkFence, fenceScript } from './inside.ts';

/** Nothing where there is no Docker: nobody needs it who does not ask for it. */
export async function checkDocker(host: Host): Promise<Check[]> {
  if (!host.exists(host.dockerSocket)) return [];
  const look = await host.runInside(fenceScript, 'deny-all', 'docker');
  if ('output' in look) return [checkFence(look.output, 'docker')];
  const [why = ''] = look.reason.split('\n');
  return [weaker('docker', `--sandbox docker cannot be used: ${why}`)];
}
