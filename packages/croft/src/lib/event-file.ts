import { closeSync, openSync, writeSync } from 'node:fs';

/** Appends one JSON line at a time; a line is in the file when `write` returns. */
export function openEventFile(path: string) {
  const handle = openSync(path, 'a', 0o600);
  return {
    write: (record: object): void => void writeSync(handle, `${JSON.stringify(record)}\n`),
    [Symbol.dispose]: () => closeSync(handle),
  };
}
