import { vi } from 'vitest';

/**
 * A wait ends as soon as its condition holds, so only a failing test waits this long. A test sets its own time only
 * where a late result would be as wrong as none.
 */
const patienceMs = 60_000;

const { waitFor, waitUntil } = vi;
vi.waitFor = (check, options) => waitFor(check, patient(options));
vi.waitUntil = (check, options) => waitUntil(check, patient(options));

function patient<Options extends { timeout?: number }>(options?: number | Options): Options {
  const given = typeof options === 'number' ? { timeout: options } : options;
  return { timeout: patienceMs, ...given } as Options;
}
