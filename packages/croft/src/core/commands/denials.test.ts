import { describe, expect, test } from 'vitest';
import { collectDenials } from './denials.ts';
import type { Denial, Sandbox } from './sandbox.ts';

const limits = { memoryBytes: 1, processes: 1, cpus: 1, fileBytes: 1, openFiles: 1, diskBytes: 1 };

/** All that is asked of a sandbox here: what it refused, and what holds in it. */
function sandboxWith(takeDenials: () => Denial[], more: Partial<Sandbox> = {}): Sandbox {
  const parts: Partial<Sandbox> = { name: 'bubblewrap', workspacePath: '/w', network: 'deny-all', limits };
  return { ...parts, takeDenials, ...more } as Sandbox;
}

const denial = (layer: Denial['layer'], rule: string, target: string): Denial => ({
  layer,
  rule,
  target,
  next: 'Stop.',
});
const failed = (output: string) => ({ output, exit: { code: 1, signal: null } });
const readOnly = failed("touch: cannot touch '/usr/x': Read-only file system\n");
const labels = (denials: readonly Denial[]) => denials.map(({ rule, target }) => `${rule} ${target}`);

describe('what a sandbox says it refused', () => {
  test('comes before what the program said', () => {
    const sandbox = sandboxWith(() => [denial('system-call', 'mount', 'the kernel')]);
    expect(labels(collectDenials(sandbox, readOnly))).toEqual(['mount the kernel', 'read-only-system /usr/x']);
  });

  test.each([
    [denial('limit', 'processes', '512 processes'), 'bash: fork: Resource temporarily unavailable\n'],
    [denial('network', 'domains', 'evil.test:443'), 'curl: (6) Could not resolve host: evil.test\n'],
    [denial('network', 'domains', 'evil.test'), 'curl: (6) Could not resolve host: evil.test\n'],
  ])('is not said again in other words: %j', (reported, output) => {
    expect(
      collectDenials(
        sandboxWith(() => [reported]),
        failed(output),
      ),
    ).toEqual([reported]);
  });

  test('is told once and never lost to what the program said', () => {
    const many = Array.from({ length: 8 }, (_, index) => denial('network', 'domains', `host-${index}.test`));
    expect(
      collectDenials(
        sandboxWith(() => [...many, ...many]),
        readOnly,
      ),
    ).toEqual(many);
  });

  test('is told of a program that is still running or went well', () => {
    const sandbox = sandboxWith(() => [denial('limit', 'memory', '1 MB')]);
    expect(labels(collectDenials(sandbox, undefined))).toEqual(['memory 1 MB']);
    expect(labels(collectDenials(sandbox, { ...readOnly, exit: { code: 0, signal: null } }))).toEqual(['memory 1 MB']);
  });

  test('is short, plain and without secrets', () => {
    const sandbox = sandboxWith(() => [denial('network', 'domains', `\x1b[1m${'x'.repeat(195)}hunter2.test`)]);
    const [found] = collectDenials(sandbox, undefined, (text) => text.replace('hunter2', '[REDACTED]'));
    expect(found?.target).toBe(`${'x'.repeat(195)}[RED…`);
  });

  test('cannot be asked when it is gone', () => {
    const sandbox = sandboxWith(() => {
      throw new Error('ENOENT');
    });
    expect(labels(collectDenials(sandbox, readOnly))).toEqual(['read-only-system /usr/x']);
  });
});

test('where nothing holds files, nothing is said about them', () => {
  const bare = { name: 'none', network: 'allow-all' } as const;
  expect(
    collectDenials(
      sandboxWith(() => [], bare),
      readOnly,
    ),
  ).toEqual([]);
});
