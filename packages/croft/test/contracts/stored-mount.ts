import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StoredMount, WorkspaceQuota } from '../../src/core/storage/stored-mount.ts';

export interface SharedWorkspace extends AsyncDisposable {
  /** Opens the same workspace on another server. The same number again means that server after a restart. */
  open(server: number, options?: { quota?: WorkspaceQuota }): Promise<StoredMount>;
}

const signal = new AbortController().signal;

/** The contract of every workspace storage. */
export function describeStoredMount(name: string, share: () => Promise<SharedWorkspace>): void {
  describe(`a workspace of ${name}`, () => {
    let shared: SharedWorkspace;
    let [ours, theirs]: StoredMount[] = [];
    const at = (mount: StoredMount | undefined, path: string) => join(mount?.directory ?? '', path);
    const put = (mount: StoredMount | undefined, path: string, content: string | Buffer) =>
      writeFileSync(at(mount, path), content);
    const read = (mount: StoredMount | undefined, path: string) => readFileSync(at(mount, path), 'utf8');
    const pass = async () => {
      await ours?.commit(signal);
      await theirs?.refresh(signal);
    };
    beforeEach(async () => {
      shared = await share();
      ours = await shared.open(1);
      theirs = await shared.open(2);
    });
    afterEach(async () => {
      await ours?.close();
      await theirs?.close();
      await shared[Symbol.asyncDispose]();
    });

    test('a commit of one call is seen by the next call of another server', async () => {
      put(ours, 'a.txt', 'one');
      expect((await ours?.commit(signal))?.committed).toEqual(['a.txt']);
      expect(existsSync(at(theirs, 'a.txt'))).toBe(false);
      await theirs?.refresh(signal);
      expect(read(theirs, 'a.txt')).toBe('one');
      put(theirs, 'a.txt', 'two');
      await theirs?.commit(signal);
      await ours?.refresh(signal);
      expect(read(ours, 'a.txt')).toBe('two');
      expect((await ours?.commit(signal))?.committed).toEqual([]);
      expect((await theirs?.commit(signal))?.committed).toEqual([]);
    });

    test('files can be removed, renamed and replaced by another kind', async () => {
      mkdirSync(at(ours, 'd/e'), { recursive: true });
      for (const path of ['gone', 'old', 'd/e/deep', 'file', 'x']) put(ours, path, path);
      await pass();
      rmSync(at(ours, 'gone'));
      renameSync(at(ours, 'old'), at(ours, 'new'));
      rmSync(at(ours, 'd'), { recursive: true });
      put(ours, 'd', 'now a file');
      rmSync(at(ours, 'file'));
      mkdirSync(at(ours, 'file'));
      put(ours, 'file/inside', 'now a directory');
      rmSync(at(ours, 'x'));
      symlinkSync('new', at(ours, 'x'));
      await pass();
      expect(readdirSync(at(theirs, '')).toSorted()).toEqual(['d', 'file', 'new', 'x']);
      expect(read(theirs, 'd')).toBe('now a file');
      expect(read(theirs, 'file/inside')).toBe('now a directory');
      expect(readlinkSync(at(theirs, 'x'))).toBe('new');
      expect(read(theirs, 'new')).toBe('old');
    });

    test('modes, links, empty directories and any name are kept', async () => {
      put(ours, 'run.sh', '#!/bin/sh\n');
      chmodSync(at(ours, 'run.sh'), 0o755);
      put(ours, 'secret', 's');
      chmodSync(at(ours, 'secret'), 0o600);
      mkdirSync(at(ours, 'empty/inner'), { recursive: true });
      symlinkSync('/etc/passwd', at(ours, 'out'));
      symlinkSync('nowhere', at(ours, 'dangling'));
      const names = ['a b', 'ümlaut', '日本', '%{41}', '%25', 'new\nline', '\\back', 'quo\'te"', 'x'.repeat(255)];
      for (const name of names) put(ours, name, name);
      writeFileSync(
        Buffer.concat([Buffer.from(`${ours?.directory}/`), Buffer.from([0x66, 0xff, 0xc3, 0x28])]),
        'bytes',
      );
      await pass();
      const listing = (mount: StoredMount | undefined) =>
        execFileSync('find', ['.', '-mindepth', '1', '-printf', '%P %y %m %l\\0'], {
          cwd: mount?.directory,
          encoding: 'latin1',
        })
          .split('\0')
          .toSorted();
      expect(listing(theirs)).toEqual(listing(ours));
      expect(listing(ours).length).toBeGreaterThan(names.length + 7);
      chmodSync(at(ours, 'run.sh'), 0o644);
      chmodSync(at(ours, 'empty'), 0o700);
      rmSync(at(ours, 'empty/inner'), { recursive: true });
      await pass();
      expect(listing(theirs)).toEqual(listing(ours));
      rmSync(at(ours, 'empty'), { recursive: true });
      await pass();
      expect(existsSync(at(theirs, 'empty'))).toBe(false);
    });

    test('a directory stays when its last file is removed', async () => {
      mkdirSync(at(ours, 'd'));
      put(ours, 'd/last', 'x');
      await pass();
      rmSync(at(ours, 'd/last'));
      await pass();
      expect(statSync(at(theirs, 'd')).isDirectory()).toBe(true);
      expect(readdirSync(at(theirs, 'd'))).toEqual([]);
    });

    test('the second writer of one file is told, and both versions are stored on both servers', async () => {
      put(ours, 'f', 'start');
      put(ours, 'other', 'start');
      await pass();
      put(ours, 'f', 'ours');
      put(theirs, 'f', 'theirs');
      put(theirs, 'other', 'changed by the second');
      await ours?.commit(signal);
      const refused = await theirs?.commit(signal).catch((thrown) => thrown);
      expect(refused?.code).toBe('E_CONFLICT');
      const [conflict] = refused.details.conflicts;
      expect(conflict.path).toBe('f');
      expect(refused.text).toContain(conflict.kept);
      expect(refused.details.committed).toContain('other');
      expect(read(theirs, 'f')).toBe('ours');
      expect(read(theirs, conflict.kept)).toBe('theirs');
      await ours?.refresh(signal);
      expect(read(ours, 'f')).toBe('ours');
      expect(read(ours, conflict.kept)).toBe('theirs');
      expect(read(ours, 'other')).toBe('changed by the second');
      expect((await theirs?.commit(signal))?.conflicts).toEqual([]);
    });

    test('the same change on both sides is no conflict', async () => {
      put(ours, 'f', 'start');
      await pass();
      for (const mount of [ours, theirs]) {
        put(mount, 'f', 'same');
        put(mount, 'new', 'same too');
      }
      await ours?.commit(signal);
      await theirs?.commit(signal);
      expect(readdirSync(at(theirs, '')).toSorted()).toEqual(['f', 'new']);
    });

    test('a file changed here and removed there comes back, and the other server is told', async () => {
      put(ours, 'f', 'start');
      await pass();
      rmSync(at(ours, 'f'));
      put(theirs, 'f', 'changed');
      await ours?.commit(signal);
      const refused = await theirs?.commit(signal).catch((thrown) => thrown);
      expect(refused?.code).toBe('E_CONFLICT');
      expect(refused.text).toContain('they removed it');
      await ours?.refresh(signal);
      expect(read(ours, 'f')).toBe('changed');
    });

    test('a file removed here and changed there comes back with the change, and this server is told', async () => {
      put(ours, 'f', 'start');
      await pass();
      put(ours, 'f', 'changed');
      rmSync(at(theirs, 'f'));
      await ours?.commit(signal);
      const refused = await theirs?.commit(signal).catch((thrown) => thrown);
      expect(refused?.code).toBe('E_CONFLICT');
      expect(read(theirs, 'f')).toBe('changed');
      expect((await theirs?.commit(signal))?.committed).toEqual([]);
      await ours?.refresh(signal);
      expect(read(ours, 'f')).toBe('changed');
    });

    test('a refresh does not touch uncommitted changes', async () => {
      put(ours, 'f', 'start');
      put(ours, 'g', 'start');
      await pass();
      put(ours, 'f', 'ours');
      put(ours, 'g', 'ours');
      await ours?.commit(signal);
      put(theirs, 'f', 'half done');
      await theirs?.refresh(signal);
      expect(read(theirs, 'f')).toBe('half done');
      expect(read(theirs, 'g')).toBe('ours');
      // The file is reverted here, so it is not a change any more.
      put(theirs, 'f', 'start');
      await theirs?.refresh(signal);
      expect(read(theirs, 'f')).toBe('ours');
    });

    test('a path created on both sides goes to one of them, and neither file is lost', async () => {
      put(ours, 'new', 'ours');
      put(theirs, 'new', 'theirs');
      await ours?.commit(signal);
      await expect(theirs?.commit(signal)).rejects.toThrow(/somebody else/);
      const kept = readdirSync(at(theirs, '')).filter((each) => each !== 'new');
      expect([read(theirs, 'new'), ...kept.map((each) => read(theirs, each))].toSorted()).toEqual(['ours', 'theirs']);
    });

    test('a path can be removed and created again and again', async () => {
      for (const round of ['1', '2', '3']) {
        put(ours, 'f', round);
        await pass();
        expect(read(theirs, 'f')).toBe(round);
        rmSync(at(theirs, 'f'));
        await theirs?.commit(signal);
        await ours?.refresh(signal);
        expect(existsSync(at(ours, 'f'))).toBe(false);
      }
    });

    test('a restart finds everything as it was, and commits the uncommitted changes', async () => {
      mkdirSync(at(ours, 'd'));
      put(ours, 'd/a', 'a');
      await ours?.commit(signal);
      put(ours, 'd/b', 'left over');
      await ours?.close();
      put(theirs, 'c', 'meanwhile');
      await theirs?.commit(signal);
      ours = await shared.open(1);
      expect(read(ours, 'd/a')).toBe('a');
      expect(read(ours, 'c')).toBe('meanwhile');
      await theirs?.refresh(signal);
      expect(read(theirs, 'd/b')).toBe('left over');
    });

    test('a quota is enforced before anything is acknowledged, and deleting always works', async () => {
      await ours?.close();
      ours = await shared.open(1, { quota: { bytes: 100, files: 3 } });
      put(ours, 'a', 'x'.repeat(90));
      await ours.commit(signal);
      put(ours, 'b', 'x'.repeat(20));
      const refused = await ours.commit(signal).catch((thrown) => thrown);
      expect(refused?.code).toBe('E_QUOTA');
      expect(refused.message).toMatch(/110.*100/);
      await theirs?.refresh(signal);
      for (const mount of [ours, theirs]) expect(existsSync(at(mount, 'b'))).toBe(false);
      put(ours, 'a', 'changed'.repeat(20));
      rmSync(at(ours, 'a'));
      put(ours, 'moved', 'x'.repeat(101));
      await expect(ours.commit(signal)).rejects.toThrow(/101.*taken back/);
      expect(read(ours, 'a')).toBe('x'.repeat(90));
      put(ours, 'a', 'x');
      put(ours, 'b', 'x'.repeat(20));
      await pass();
      expect(read(theirs, 'b')).toBe('x'.repeat(20));
      for (const name of ['c', 'd']) put(ours, name, '');
      await expect(ours.commit(signal)).rejects.toThrow(/4 files.*3/);
      put(ours, 'c', '');
      await pass();
      expect(existsSync(at(theirs, 'c'))).toBe(true);
    });

    test('large files come whole, also if a tool reads them first', async () => {
      const large = Buffer.alloc(9 * 1024 * 1024, 'large ');
      put(ours, 'large', large);
      put(ours, 'small', 's');
      await ours?.commit(signal);
      const third = await shared.open(3);
      expect(lstatSync(at(third, 'large')).size).toBe(large.length);
      await using file = await third.files.open('large');
      let size = 0;
      for await (const chunk of file.chunks()) size += chunk.length;
      expect(size).toBe(large.length);
      expect(readFileSync(at(third, 'large')).equals(large)).toBe(true);
      await third.close();
      const fourth = await shared.open(4);
      put(fourth, 'small', 'changed');
      expect((await fourth.commit(signal)).committed).toEqual(['small']);
      await fourth.materialize(undefined, signal);
      expect(readFileSync(at(fourth, 'large')).equals(large)).toBe(true);
      await fourth.close();
    });
  });
}
