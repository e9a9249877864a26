import type { Account } from '../support/servers/platform.ts';

/** One attack of an account on the machine. `prepare` runs once, `attack` again and again. */
export interface Attack {
  readonly name: string;
  readonly prepare?: string;
  attack(call: (tool: string, input: object) => Promise<unknown>, round: number): Promise<unknown>;
}

const bash = (command: string) => ({ command, timeout_ms: 20_000 });
const hostileRules = [`${'**/'.repeat(80)}x`, `${'**/a/'.repeat(50)}x`, `${'*a'.repeat(120)}b`, '*.q'];
const marks = Array.from({ length: 200 }, (_, index) => `mark ${index};`);

export const attacks: readonly Attack[] = [
  {
    name: 'rules of git that are made to be slow',
    prepare:
      'd=$(printf "a/%.0s" $(seq 30)); for i in $(seq 40); do mkdir -p d$i/$d; (cd d$i/$d; touch f{1..25}.ts); done',
    attack: (call, round) => {
      const rule = hostileRules[round % hostileRules.length] ?? '';
      const count = Math.floor((120 * 1024) / (rule.length + 1));
      return call('bash', bash(`yes '${rule}' | head -${count} > .gitignore; echo '#${round}' >> .gitignore`));
    },
  },
  {
    name: 'many edits of a large file',
    prepare: `for i in $(seq 0 199); do echo "mark $i;"; done > big.txt; yes ${'x'.repeat(99)} | head -600000 >> big.txt`,
    async attack(call, round) {
      const [old, now] = round % 2 === 0 ? ['mark', 'sign'] : ['sign', 'mark'];
      await call('read', { file_path: 'big.txt', limit: 3 });
      const edits = marks.map((mark) => ({
        old_string: mark.replace('mark', old),
        new_string: mark.replace('mark', now),
      }));
      await call('edit', { file_path: 'big.txt', edits });
    },
  },
  {
    name: 'sparse files',
    attack: (call, round) => call('bash', bash(`for i in $(seq 20); do truncate -s $((2**31 + ${round})) s$i; done`)),
  },
  {
    name: 'patterns that are made to be slow',
    prepare: `n=$(printf 'ab%.0s' $(seq 90)); for i in $(seq 2000); do echo > $n$i.ts; done`,
    async attack(call) {
      await call('glob', { pattern: '*a*a*a*a*[q-s]{1..900}*' });
      await call('glob', { pattern: '**/*a*b*[q-s]?{1..900}*' });
    },
  },
  {
    name: 'a flood of output',
    attack: (call) => call('bash', bash('timeout 5 cat /dev/zero; timeout 5 yes >&2; true')),
  },
  { name: 'a fork bomb', attack: (call) => call('bash', bash('f() { f | f & }; (f) 2>/dev/null; sleep 3; true')) },
  {
    name: 'many files',
    attack: (call, round) =>
      call('bash', bash(`mkdir -p r${round}; cd r${round}; for i in $(seq 5000); do echo $i > f$i; done`)),
  },
];

/** Runs in its own workspace and sandbox. Refusals do not matter. */
export async function prepareAttack(account: Account, { prepare, attack }: Attack) {
  const sandbox = await account.newSandbox({ permissionMode: 'bypass' });
  const workspaces = [{ name: 'w', workspaceId: await account.newWorkspace() }];
  const agentId = await account.newAgent({ sandbox, workspaces });
  const call = (tool: string, input: object) => account.call(agentId, tool, input);
  if (prepare) await call('bash', bash(prepare));
  let rounds = 0;
  return {
    /** Repeats the attack until `until` resolves, and finishes the current round. */
    async runUntil(until: Promise<unknown>): Promise<void> {
      let isOver = false;
      void until.then(() => {
        isOver = true;
      });
      while (!isOver) await attack(call, rounds++);
    },
    rounds: () => rounds,
  };
}
