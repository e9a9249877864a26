import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import type { McpSession } from '../support/harness.ts';
import { attacks, hostDeeds, loop, type Plant, type Target } from './git-canary-attacks.ts';
import { configText, nameOfKey, type Person, settings } from './git-canary-fixture.ts';

const at = fc.nat({ max: 1000 });
const key = fc.constantFrom(...Object.keys(settings));
const by = <Who extends string>(who: Who) => fc.constant(who);

/** One step of the user, or of an agent by a command or a tool. `at` chooses the repository. */
export const deed = fc.oneof(
  { weight: 6, arbitrary: fc.record({ by: by('command'), way: fc.constantFrom(...Object.keys(attacks)), at, key }) },
  { weight: 3, arbitrary: fc.record({ by: by('person'), way: fc.constantFrom(...Object.keys(hostDeeds)), at, key }) },
  { weight: 1, arbitrary: fc.record({ by: by('tool'), way: fc.constantFrom('write', 'move', 'hook'), at, key }) },
);
type Deed = typeof deed extends fc.Arbitrary<infer One> ? One : never;

interface Stage {
  readonly session: McpSession;
  readonly person: Person;
  readonly workspace: string;
  readonly top: string;
}

/** Performs steps in one workspace. Any of them may fail. */
export function createActor({ session, person, workspace, top }: Stage) {
  const bash = (command: string, more = {}) =>
    session.call('bash', { workspace, command: `{ ${command}\n} < /dev/null 2>&1`, timeout: 60, ...more });

  async function callTool(way: string, { git }: Target, { file, key: name }: Plant): Promise<void> {
    const file_path = `${git}/config`;
    if (way === 'move') await session.call('move', { workspace, from: file, to: file_path });
    if (way === 'hook') await session.call('move', { workspace, from: 'evil/hooks', to: `${git}/hooks` });
    if (way !== 'write') return;
    // An existing file must be read before it is written.
    await session.call('read', { workspace, file_path });
    await session.call('write', { workspace, file_path, content: configText(top, name) });
  }

  return {
    bash,
    /** Whether commands still run: a broken sandbox would attack nothing. */
    isAlive: async () => (await bash('echo alive')).text.startsWith('alive\n'),
    attack: (way: string, target: Target, name = 'core.fsmonitor') =>
      bash(attacks[way]?.(target, toPlant(top, name)) ?? 'exit 1'),
    async do(one: Deed, targets: readonly Target[]): Promise<void> {
      const target = targets[one.at % targets.length] as Target;
      if (one.by === 'command') await this.attack(one.way, target, one.key);
      if (one.by === 'tool') await callTool(one.way, target, toPlant(top, one.key));
      if (one.by === 'person') person.try(top, hostDeeds[one.way]?.(target) ?? 'exit 1');
    },
    /** Starts a loop that attacks forever and counts its tries in the file `tries`. */
    async startLoop(targets: readonly Target[]) {
      const command = `${loop} evil/keys/core.fsmonitor ${targets.map(({ git }) => git).join(' ')}`;
      const { structured } = await session.call('bash', { workspace, command, run_in_background: true });
      return {
        advance: () => advance(join(top, 'tries')),
        stop: () => session.call('kill_shell', { shell_id: structured.shell_id }),
      };
    },
  };
}

function toPlant(top: string, name: string): Plant {
  return { key: name, value: (settings[name] ?? '').replace('TOP', top), file: `evil/keys/${nameOfKey(name)}` };
}

/** Waits until the counter in the file has advanced a few times, or no longer does. */
export async function advance(file: string): Promise<void> {
  const count = () => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0);
  const [before, deadline] = [count(), Date.now() + 2000];
  while (count() < before + 20 && Date.now() < deadline) await delay(5);
}
