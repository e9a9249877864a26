import { vi } from 'vitest';

/** The path of a module from this file, and its replacement functions. */
export type Replacement = readonly [
  module: string,
  replace: (original: Record<string, never>) => Readonly<Record<string, unknown>>,
];

export type Escapes = typeof import('../../../src/escapes/run-escapes.ts');

/**
 * Loads the escapes of a program in which some modules are replaced by naive ones. This removes guards that are not
 * part of a sandbox. Programs are loaded one after the other and can then run in parallel.
 */
export async function loadUnguardedEscapes(replacements: readonly Replacement[]): Promise<Escapes> {
  // Each program adds listeners for the end of the process.
  process.setMaxListeners(process.getMaxListeners() + 2);
  vi.resetModules();
  for (const [module, replace] of replacements) {
    vi.doMock(module, async (importOriginal) => {
      const original = (await importOriginal()) as Record<string, never>;
      const naive = replace(original);
      const unknown = Object.keys(naive).filter((name) => !(name in original));
      if (unknown.length > 0) throw new Error(`${module} does not export ${unknown.join(', ')}`);
      return { ...original, ...naive };
    });
  }
  try {
    return await import('../../../src/escapes/run-escapes.ts');
  } finally {
    for (const [module] of replacements) vi.doUnmock(module);
    vi.resetModules();
  }
}
