import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { expect, test, vi } from 'vitest';
import type { Sandbox } from '../../src/core/commands/sandbox.ts';
import { type OpenedSandbox, runIn, startIn, uniqueSeconds, waiting } from './sandbox-run.ts';

export function describeStreams(open: () => Promise<OpenedSandbox>): void {
  test('sends stdin and closes it; without input stdin is empty', async () => {
    const { sandbox } = await open();
    const running = startIn(sandbox, ['cat'], { hasInput: true });
    running.stdin.write('first ');
    running.stdin.end('last');
    expect(await text(running.stdout)).toBe('first last');
    expect(await running.exit).toMatchObject({ code: 0 });
    expect(await runIn(sandbox, ['cat'])).toMatchObject({ stdout: '', code: 0 });
  });

  test('carries 5 MB in and out intact, at the pace of the reader', async () => {
    const { sandbox } = await open();
    const bytes = randomBytes(5 * 1024 * 1024);
    const running = startIn(sandbox, ['cat'], { hasInput: true });
    const pieces = Array.from({ length: 80 }, (_, index) => bytes.subarray(index * 65_536, (index + 1) * 65_536));
    const fed = pipeline(Readable.from(pieces), running.stdin);
    const [echoed] = await Promise.all([buffer(running.stdout), fed, running.exit]);
    expect(digest(echoed)).toBe(digest(bytes));
  });

  test('blocks a writer while the program does not read', async () => {
    const { sandbox } = await open();
    const running = startIn(sandbox, ['sleep', uniqueSeconds()], { hasInput: true });
    let isTaken = false;
    running.stdin.write(Buffer.alloc(5 * 1024 * 1024), () => {
      isTaken = true;
    });
    await askOften(sandbox);
    expect(isTaken).toBe(false);
    running.kill();
    expect(await running.exit).toMatchObject({ signal: 'SIGKILL' });
  });

  test('loses nothing for a slow reader, and stores little for it', async () => {
    const { sandbox } = await open();
    const size = 20_000_000;
    const running = startIn(sandbox, ['head', '-c', String(size), '/dev/zero']);
    let isOver = false;
    void running.exit.then(() => {
      isOver = true;
    });
    await vi.waitFor(() => expect(running.stdout.readableLength).toBeGreaterThan(100_000), waiting);
    await askOften(sandbox);
    expect(running.stdout.readableLength).toBeLessThan(1024 * 1024);
    expect(isOver).toBe(false);
    let [total, most] = [0, 0];
    for await (const chunk of running.stdout) {
      total += chunk.length;
      most = Math.max(most, running.stdout.readableLength);
    }
    expect(total).toBe(size);
    expect(most).toBeLessThan(1024 * 1024);
    expect(await running.exit).toMatchObject({ code: 0 });
  });

  test('gives a terminal of the asked size, and resizes it', async () => {
    const { sandbox } = await open();
    const script = 'tty; stty size; trap "stty size; exit 5" WINCH; echo set; while :; do read x; done';
    const running = startIn(sandbox, ['/bin/bash', '-c', script], {
      terminal: { rows: 31, columns: 97 },
      hasInput: true,
    });
    let seen = '';
    running.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      seen += chunk;
    });
    await vi.waitFor(() => expect(seen).toContain('set'), waiting);
    expect(seen).toMatch(/^\/dev\/pts\/\d+\r\n31 97\r\nset/);
    running.resize({ rows: 40, columns: 120 });
    // The shell handles signals at the end of a line.
    running.stdin.write('\n');
    expect(await running.exit).toMatchObject({ code: 5 });
    expect(seen).toContain('40 120');
  });

  test('joins both outputs in a terminal, and ends its input', async () => {
    const { sandbox } = await open();
    const terminal = { rows: 24, columns: 80 };
    const running = startIn(sandbox, ['/bin/sh', '-c', 'echo err >&2; cat; echo over'], { terminal, hasInput: true });
    running.stdin.end('line\n');
    const stdout = await text(running.stdout);
    expect(stdout).toContain('err\r\n');
    expect(stdout).toContain('over\r\n');
    expect(await text(running.stderr)).toBe('');
  });
}

/** Runs enough commands that all output that is not blocked has arrived. */
async function askOften(sandbox: Sandbox): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await runIn(sandbox, ['true']);
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
