import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createCommand } from './command.ts';
import type { CommandResult } from './command-result.ts';

const mebibyte = 'x'.repeat(1024 * 1024);
const pieces = 24;

function createLoudCommand(pause: () => Promise<void>) {
  return createCommand({
    async run(onOutput) {
      for (let nth = 0; nth < pieces; nth++) {
        onOutput({ stream: 'stdout', text: mebibyte });
        await pause();
      }
      return { exitCode: 0 } as CommandResult;
    },
    kill: async () => {},
  });
}

async function countChars(command: ReturnType<typeof createLoudCommand>): Promise<number> {
  let chars = 0;
  for await (const { text } of command) chars += text.length;
  return chars;
}

test('loops that keep up get all output, however much there is', async () => {
  const command = createLoudCommand(() => turn());
  const all = pieces * mebibyte.length;
  expect(await Promise.all([countChars(command), countChars(command)])).toEqual([all, all]);
});

test('a loop that begins too late gets what was kept', async () => {
  const command = createLoudCommand(async () => {});
  await command;
  expect(await countChars(command)).toBe(16 * mebibyte.length);
});
