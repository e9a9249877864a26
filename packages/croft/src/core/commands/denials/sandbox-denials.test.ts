import { describe, expect, test } from 'vitest';
import type { Sandbox, SandboxDenial } from '../sandbox.ts';
import { takeSandboxDenials } from './sandbox-denials.ts';

const limits = { memoryBytes: 1, processes: 1, cpus: 1, fileBytes: 1, openFiles: 1, diskBytes: 1 };

/** The parts of a sandbox that these tests use: its denials and its rules. */
function sandboxWith(takeDenials: () => SandboxDenial[], more: Partial<Sandbox> = {}): Sandbox {
  const parts: Partial<Sandbox> = { name: 'bubblewrap', workspacePath: '/w', network: 'deny-all', limits };
  return { ...parts, takeDenials, ...more } as Sandbox;
}

const denial = (layer: SandboxDenial['layer'], rule: string, target: string): SandboxDenial => ({
  layer,
  rule,
  target,
  next: 'Stop.',
});
const failed = (output: string) => ({ output, exit: { code: 1, signal: null } });
const readOnly = failed("touch: cannot touch '/usr/x': Read-only file system\n");
const labels = (denials: readonly SandboxDenial[]) => denials.map(({ rule, target }) => `${rule} ${target}`);

describe('a denial that the sandbox reports', () => {
  test('comes before the denials derived from output', () => {
    const sandbox = sandboxWith(() => [denial('system-call', 'mount', 'the kernel')]);
    expect(labels(takeSandboxDenials(sandbox, readOnly))).toEqual(['mount the kernel', 'read-only-system /usr/x']);
  });

  test.each([
    [denial('limit', 'processes', '512 processes'), 'bash: fork: Resource temporarily unavailable\n'],
    [denial('network', 'domains', 'evil.test:443'), 'curl: (6) Could not resolve host: evil.test\n'],
    [denial('network', 'domains', 'evil.test'), 'curl: (6) Could not resolve host: evil.test\n'],
  ])('is not repeated in other words: %j', (reported, output) => {
    expect(
      takeSandboxDenials(
        sandboxWith(() => [reported]),
        failed(output),
      ),
    ).toEqual([reported]);
  });

  test('is reported once, and is not lost when output is explained too', () => {
    const many = Array.from({ length: 8 }, (_, index) => denial('network', 'domains', `host-${index}.test`));
    expect(
      takeSandboxDenials(
        sandboxWith(() => [...many, ...many]),
        readOnly,
      ),
    ).toEqual(many);
  });

  test('is reported for a program that still runs or succeeded', () => {
    const sandbox = sandboxWith(() => [denial('limit', 'memory', '1 MB')]);
    expect(labels(takeSandboxDenials(sandbox, undefined))).toEqual(['memory 1 MB']);
    expect(labels(takeSandboxDenials(sandbox, { ...readOnly, exit: { code: 0, signal: null } }))).toEqual([
      'memory 1 MB',
    ]);
  });

  test('is short, plain and without secrets', () => {
    const sandbox = sandboxWith(() => [denial('network', 'domains', `\x1b[1m${'x'.repeat(195)}hunter2.test`)]);
    const [found] = takeSandboxDenials(sandbox, undefined, (text) => text.replace('hunter2', '[REDACTED]'));
    expect(found?.target).toBe(`${'x'.repeat(195)}[RED…`);
  });

  test('is not asked of a sandbox that is gone', () => {
    const sandbox = sandboxWith(() => {
      throw new Error('ENOENT');
    });
    expect(labels(takeSandboxDenials(sandbox, readOnly))).toEqual(['read-only-system /usr/x']);
  });
});

test('a sandbox that does not guard files has no denials about files', () => {
  const bare = { name: 'none', network: 'allow-all' } as const;
  expect(
    takeSandboxDenials(
      sandboxWith(() => [], bare),
      readOnly,
    ),
  ).toEqual([]);
});
