import { readFileSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as everyTool from '../packages/croft/src/tools/index.ts';
import { makeDirectory } from '../packages/croft/test/support/harness.ts';
import { installed, type Program } from './agents/installed.ts';
import type { Seen } from './drivers/cases.ts';
import { canGoOffline, runDriver } from './run-driver.ts';

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const rows = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join('');
const wide = Array.from({ length: 1500 }, (_, index) => `${'wide '.repeat(15)}${index + 1}\n`).join('');
const workspace = makeDirectory({
  'a.txt': 'one\ntwo\n',
  'rows.log': rows,
  'wide.log': wide,
  'pixel.png': Buffer.from(pixel, 'base64'),
});
afterAll(() => workspace[Symbol.dispose]());

interface Client {
  readonly name: string;
  /** It is a command-line agent, with a model that we have scripted. */
  readonly agent?: Program;
  /** Its driver counts the progress it is told of. */
  readonly tellsProgress?: true;
  /** It shows the model both channels. */
  readonly showsBoth?: true;
}

const clients: readonly Client[] = [
  { name: 'sdk-1', tellsProgress: true, showsBoth: true },
  { name: 'ai-sdk' },
  { name: 'langchain', showsBoth: true },
  { name: 'mastra' },
  { name: 'openai-agents' },
  { name: 'inspector', showsBoth: true },
  { name: 'claude-code', agent: 'claude-code' },
  { name: 'codex', agent: 'codex' },
  { name: 'codex-code-mode', agent: 'codex' },
  { name: 'gemini-cli', agent: 'gemini-cli' },
  { name: 'opencode', agent: 'opencode' },
];

/** An agent reports its use, so it never runs with a network. */
function whySkipped({ agent }: Client): string | undefined {
  if (!agent) return undefined;
  if (!canGoOffline) return 'unshare cannot make a place without a network here';
  try {
    installed(agent);
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** Tools of the harness are for agents of accounts alone. `tools` has those that are not listed. */
const ownTools = new Set([
  ...Object.values(everyTool)
    .filter(({ isHarness, isEveryday }) => !isHarness && isEveryday)
    .map(({ name }) => name),
  'tools',
]);

for (const client of clients) {
  const reason = whySkipped(client);
  if (reason !== undefined) process.stderr.write(`${client.name} is left out: ${reason}\n`);
  describe.skipIf(reason !== undefined)(`the model of ${client.name}`, () => testClient(client));
}

function testClient({ name, agent, tellsProgress, showsBoth }: Client): void {
  let seen: Map<string, Seen>;
  beforeAll(async () => {
    rmSync(workspace.at('task'), { recursive: true, force: true });
    seen = await runDriver(`${agent ? 'agents' : 'drivers'}/${name}.ts`, workspace.path);
  });
  const shown = (one: Seen['name']) => JSON.stringify(seen.get(one)?.seen ?? seen.get(one)?.thrown) ?? '';

  if (agent)
    test('is offered every listed tool', () => {
      expect(new Set(seen.get('tools')?.seen as string[])).toEqual(ownTools);
    });

  test('sees what went wrong and what to do next', () => {
    for (const words of ['no such file or directory: absent.txt', 'Next: List the parent', 'E_FILE_NOT_FOUND'])
      expect(shown('error')).toContain(words);
    expect(shown('error')).not.toMatch(/schema/i);
  });

  test('sees an image, with words that say what it is: a model that takes no images still has the words', () => {
    expect(shown('image')).toContain(pixel);
    expect(shown('image')).toContain('image pixel.png (image/png, 70 bytes)');
  });

  test.each([
    ['of short lines', 'long', /\D1\D+2\D+3\D/, /20000\D+3|exit: 3/],
    ['of long lines', 'wide', /wide 1\D+wide 2\D+wide 3\D/, /wide 1500\D+3/],
  ] as const)('sees how a long answer %s begins, how it ends, and how to see the rest', (_, one, beginning, end) => {
    const { length } = shown(one);
    expect(length).toBeLessThan(showsBoth ? 90_000 : 45_000);
    expect(shown(one)).toMatch(beginning);
    expect(shown(one)).toMatch(end);
    expect(shown(one)).toMatch(/next_page|nextCursor/);
  });

  test('gets the answer to a long call', () => {
    expect(shown('slow')).toContain('done');
    if (tellsProgress) expect(seen.get('slow')?.progress).toBeGreaterThan(0);
  });

  test('reads a sentence when a command printed nothing', () => {
    expect(shown('empty')).toContain('The command printed nothing and ended with exit 0.');
  });

  test('completes a small task: writes a program, runs it, and sees what it says', () => {
    expect(shown('ran')).toContain('the sum is 42');
    expect(readFileSync(workspace.at('task/sum.txt'), 'utf8')).toBe('the sum is 42\n');
  });

  test('sees line numbers in a file', () => {
    expect(shown('numbered')).toMatch(/1\\+tone.*2\\+ttwo/);
  });
}
