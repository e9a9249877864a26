import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../src/lib/crypto/sha256.ts';
import { asOtherTool, makeData, newBucketLocation, openMount } from '../support/s3/mount-fixture.ts';
import { startS3 } from '../support/s3/s3-server.ts';

const server = await startS3();
const bucket = (await server?.bucket('kill')) ?? '';
const signal = new AbortController().signal;

function runChild(settings: object): Promise<{ isKilled: boolean; out: string }> {
  const script = join(import.meta.dirname, 'mount-kill-child.ts');
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [script, JSON.stringify(settings)], (error, out, err) => {
      if (error && error.signal !== 'SIGKILL') reject(new Error(`${error.message}\n${err}`));
      else resolve({ isKilled: error !== null, out });
    });
  });
}

/** The files of a directory by their paths. */
function filesIn(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true }).map(String);
  const files = names.filter((name) => statSync(join(directory, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(directory, name), 'utf8')]));
}

/** Two at a time: most of it is waiting. */
async function forEachStep(work: (at: number) => Promise<boolean>): Promise<number> {
  for (let at = 1; ; at += 2) {
    const isOver = await Promise.all([work(at), work(at + 1)]);
    if (isOver.includes(true)) return at;
  }
}

describe.skipIf(!server)('kill -9 after every single request', () => {
  test('of a commit: no file is torn or lost, and the next start finishes it', {
    timeout: 600_000,
  }, async () => {
    const steps = await forEachStep(async (at) => {
      using data = makeData();
      const location = newBucketLocation(server!, bucket);
      const tool = asOtherTool(location);
      const other = join(data.path, 'other');
      const { isKilled } = await runChild({ location, data: data.path, other, at, phase: 'commit' });
      for (const [key, text] of Object.entries(await tool.all())) {
        const { 'croft-hash': hash, 'croft-kind': kind } = await tool.metadata(key);
        if (kind === 'file') expect(`${at} ${key} ${sha256(text)}`).toBe(`${at} ${key} ${hash}`);
      }
      const ours = await openMount({ data: data.path, bucketLocation: location });
      // The next call reports the conflicts, whoever calls.
      await ours.commit(signal).catch((thrown) => expect(thrown.code).toBe('E_CONFLICT'));
      const here = filesIn(ours.directory);
      const kept = Object.keys(here).find((name) => name.startsWith('both.conflict-')) ?? '';
      expect(here, `step ${at}`).toEqual({
        ...{ changed: 'new changed', new: 'new new', 'e/moved': 'new e/moved', large: 'new large'.repeat(300_000) },
        ...{ both: 'theirs', [kept]: 'new both', revived: 'theirs' },
      });
      expect(await tool.all(), `step ${at}`).toEqual(here);
      const theirs = await openMount({ data: other, bucketLocation: location });
      await theirs.refresh(signal);
      expect(filesIn(theirs.directory)).toEqual(here);
      await ours.close();
      await theirs.close();
      tool.close();
      return !isKilled;
    });
    expect(steps).toBeGreaterThan(15);
  });

  test.for(['open', 'refresh'] as const)('of %s', { timeout: 600_000 }, async (phase) => {
    const steps = await forEachStep(async (at) => {
      using data = makeData();
      const location = newBucketLocation(server!, bucket);
      const tool = asOtherTool(location);
      for (const name of ['a', 'b/c', 'w']) await tool.write(name, name);
      const other = join(data.path, 'other');
      const { isKilled } = await runChild({ location, data: data.path, other, at, phase });
      const ours = await openMount({ data: data.path, bucketLocation: location });
      await ours.commit(signal).catch((thrown) => expect(thrown.code).toBe('E_CONFLICT'));
      expect(filesIn(ours.directory), `step ${at}`).toEqual(await tool.all());
      expect(await tool.all()).toMatchObject({ a: 'a', 'b/c': 'b/c', w: 'w' });
      await ours.close();
      tool.close();
      return !isKilled;
    });
    expect(steps).toBeGreaterThan(2);
  });
});
