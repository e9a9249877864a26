import { vi } from 'vitest';

/**
 * A wait ends when what it waits for is there, so only a test that fails ever waits this long. A test says a time of its
 * own only where to come later would be as wrong as not to come.
 */
const patienceMs = 60_000;

const { waitFor, waitUntil } = vi;
vi.waitFor = (check, options) => waitFor(check, patient(options));
vi.waitUntil = (check, options) => waitUntil(check, patient(options));

function patient<Options extends { timeout?: number }>(options?: number | Options): Options {
  const given = typeof options === 'number' ? { timeout: options } : options;
  return { timeout: patienceMs, ...given } as Options;
}
