import { AppError } from '@croft/protocol';
import { decodeText } from '../../lib/text/lines.ts';
import type { Files } from '../files.ts';

/** What an agent should know when it starts: the seed's place first, then the newer one. */
const memoryFiles = ['MEMORY.md', 'memory/MEMORY.md'] as const;

/** What a model is shown of one workspace's memory; the rest it can read. */
const maxShownLength = 16_000;
/** Beyond this a file is not a memory. */
const maxBytes = 4 * 1024 * 1024;
const maxAttempts = 20;

/** `undefined` when there is none, or none that can be read: an agent starts all the same. */
export async function loadMemory(files: Files): Promise<string | undefined> {
  for (const path of memoryFiles) {
    const found = await files.read(path, { maxBytes }).catch(() => undefined);
    if (found) return cut(decodeText(found.bytes).text.trim(), path);
  }
  return undefined;
}

function cut(text: string, path: string): string {
  if (text === '') return `(${path} exists but is empty)`;
  if (text.length <= maxShownLength) return text;
  return `${text.slice(0, maxShownLength)}\n… (${path} goes on; read it for the rest)`;
}

/** Adds at the end. Others may be adding at the same moment: whoever was first is kept, and the other tries again. */
export async function appendMemory(files: Files, entry: string): Promise<{ path: string; bytes: number }> {
  const [path] = memoryFiles;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const before = await files.read(path, { maxBytes }).catch(ifMissing);
    const old = before?.bytes ?? Buffer.from('# Memory\n');
    const bytes = Buffer.concat([old, Buffer.from(`${endsInNewline(old) ? '' : '\n'}\n${entry.trim()}\n`)]);
    const expect = before ? { version: before.version } : 'absent';
    const written = await files.write(path, bytes, { expect }).catch(ifOvertaken);
    if (written) return { path: written.path, bytes: bytes.length };
  }
  throw new AppError('E_STALE', `${path} is being changed by others all the time`, { details: { path } });
}

function endsInNewline(bytes: Buffer): boolean {
  return bytes.at(-1) === 10;
}

function ifMissing(thrown: unknown): undefined {
  if (AppError.is(thrown) && thrown.code === 'E_FILE_NOT_FOUND') return undefined;
  throw thrown;
}

function ifOvertaken(thrown: unknown): undefined {
  if (AppError.is(thrown) && (thrown.code === 'E_STALE' || thrown.code === 'E_ALREADY_EXISTS')) return undefined;
  throw thrown;
}
