import { vi } from 'vitest';

/** A module, named from here, and what it has in place of its own. */
export type Replacement = readonly [
  module: string,
  replace: (original: Record<string, never>) => Readonly<Record<string, unknown>>,
];

export type Escapes = typeof import('../src/escapes/run.ts');

/**
 * The escapes of a program in which some modules are naive. That is how a guard is taken away that is no part of a
 * sandbox: where it is imported. Loaded one after the other, they can be run side by side.
 */
export async function loadEscapes(replacements: readonly Replacement[]): Promise<Escapes> {
  // Each program has something to put away when the process ends.
  process.setMaxListeners(process.getMaxListeners() + 2);
  vi.resetModules();
  for (const [module, replace] of replacements) {
    vi.doMock(module, async (importOriginal) => {
      const original = (await importOriginal()) as Record<string, never>;
      return { ...original, ...replace(original) };
    });
  }
  try {
    return await import('../src/escapes/run.ts');
  } finally {
    for (const [module] of replacements) vi.doUnmock(module);
    vi.resetModules();
  }
}
