import { createRequire } from 'node:module';
import { findNativeFile, isIntact } from './native-files.ts';

interface Addon {
  /** Gives memory that is free back to the system, on another thread. */
  releaseMemory(): void;
}

let loaded: Partial<Addon> | undefined;

/**
 * Gives memory that this process has freed back to the system. The C library keeps it otherwise, after a thread has ended
 * too. Without the native addon nothing happens.
 */
export function releaseMemory(): void {
  loaded ??= load();
  loaded.releaseMemory?.();
}

function load(): Partial<Addon> {
  const found = findNativeFile('croft-files.node');
  if (found === undefined || !isIntact(found)) return {};
  try {
    return createRequire(import.meta.url)(found.file);
  } catch {
    return {};
  }
}
