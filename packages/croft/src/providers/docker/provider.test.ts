import { homedir } from 'node:os';
import { afterAll, describe, onTestFinished } from 'vitest';
import { describeSandbox } from '../../../test/contracts/sandbox.ts';
import { startEngine } from '../../../test/docker-engine.ts';
import { makeDirectory } from '../../../test/harness.ts';
import { openSandbox } from '../../../test/open-sandbox.ts';
import { createDocker } from './provider.ts';

const engine = await startEngine();
afterAll(() => engine?.[Symbol.asyncDispose]());

describe.runIf(engine)('docker', () => {
  const provider = createDocker({ path: process.env.PATH ?? '', home: homedir(), dockerSocket: engine?.socket });

  describeSandbox('docker', async () => {
    const ground = makeDirectory();
    onTestFinished(() => ground[Symbol.dispose]());
    return { sandbox: await openSandbox(ground.path, { provider }), directory: ground.path };
  });
});
