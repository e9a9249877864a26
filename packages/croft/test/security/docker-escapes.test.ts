import { afterAll, describe, expect, test } from 'vitest';
import type { HostOptions } from '../../src/app/app.ts';
import { runEscapes } from '../../src/escapes/run-escapes.ts';
import { toContainerConfig } from '../../src/providers/docker/container-config.ts';
import { createDocker } from '../../src/providers/docker/provider.ts';
import { startEngine } from '../support/sandboxes/docker-engine.ts';

const docker = await startEngine();
afterAll(() => docker?.[Symbol.asyncDispose]());

/**
 * All of the kernel, and of the rest those that would get out by what an engine is told. What the file tools, the proxy
 * and the init hold is the same code as elsewhere; all of them have been seen to hold in containers too.
 */
const ofContainers = ['B', 'A18', 'A19', 'C48', 'D53', 'E61', 'E65', 'E75', 'G90', 'G92', 'G96b', 'G97'];

describe.runIf(docker)('from a container', () => {
  const inContainers = (make = toContainerConfig) => ({
    provider: (host: HostOptions) => createDocker({ ...host, dockerSocket: docker?.socket }, { toContainer: make }),
  });
  const outOf = (reports: Awaited<ReturnType<typeof runEscapes>>) =>
    reports.filter(({ outcome }) => 'held' in outcome && !outcome.held);

  test('no attack gets out', async () => {
    const reports = await runEscapes({ ...inContainers(), only: ofContainers });
    expect(reports.length).toBeGreaterThan(40);
    expect(outOf(reports)).toEqual([]);
  });

  test('an option that the engine does not get opens a way out', async () => {
    const weakened = inContainers((options) => {
      const made = toContainerConfig(options) as { HostConfig: object };
      return { ...made, HostConfig: { ...made.HostConfig, NetworkMode: 'host', IpcMode: 'host' } };
    });
    const out = outOf(await runEscapes({ ...weakened, only: ['B37', 'B37c', 'E61'] }));
    expect(out.map(({ id }) => id)).toEqual(expect.arrayContaining(['B37c', 'E61']));
  });
});
