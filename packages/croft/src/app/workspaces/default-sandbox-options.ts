import type { SandboxOptions } from './sandbox-options.ts';

const gigabyte = 1024 ** 3;

/** Options of every sandbox, unless flags or records say otherwise. */
export const defaultSandboxOptions: SandboxOptions = {
  provider: 'bubblewrap',
  network: { mode: 'deny-all' },
  limits: {
    memoryBytes: 2 * gigabyte,
    processes: 512,
    cpus: 2,
    fileBytes: 4 * gigabyte,
    openFiles: 4096,
    diskBytes: 2 * gigabyte,
  },
  readable: [],
};
