import { vi } from 'vitest';

/**
 * A wait ends when what it waits for is there, so only a test that fails ever waits this long. How slow a machine may be
 * is said here and nowhere else: what a test gives for itself counts only if it is more.
 */
const patienceMs = 60_000;

const { waitFor, waitUntil } = vi;
vi.waitFor = (check, options) => waitFor(check, patient(options));
vi.waitUntil = (check, options) => waitUntil(check, patient(options));

function patient<Options extends { timeout?: number }>(options: number | Options = {} as Options): Options {
  const given = typeof options === 'number' ? ({ timeout: options } as Options) : options;
  return { ...given, timeout: Math.max(given.timeout ?? 0, patienceMs) };
}
