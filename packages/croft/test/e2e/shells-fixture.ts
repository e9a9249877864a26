import { vi } from 'vitest';
import { shareServer } from './shared-server.ts';

export const { call, put } = shareServer();
export const eventually = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { interval: 20 });
export const output = (shell_id: string, more: Record<string, unknown> = {}) =>
  call('bash_output', { shell_id, ...more });

export async function start(command: string): Promise<string> {
  const { structured } = await call('bash', { command, run_in_background: true });
  return structured.shell_id;
}
