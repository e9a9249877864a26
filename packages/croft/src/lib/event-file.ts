import { closeSync, openSync, writeSync } from 'node:fs';

/** Appends one JSON line at a time; a line is in the file when `write` returns. */
export function openEventFile(path: string) {
  const handle = open(path);
  return {
    write: (record: object): void => void writeSync(handle, `${JSON.stringify(record)}\n`),
    [Symbol.dispose]: () => closeSync(handle),
  };
}

function open(path: string): number {
  try {
    return openSync(path, 'a', 0o600);
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? cause.code : cause;
    throw new Error(`events cannot be written to ${path}: ${reason}`, { cause });
  }
}
