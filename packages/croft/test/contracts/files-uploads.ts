import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../src/lib/crypto/sha256.ts';
import type { Prepare } from './files.ts';
import { bytesOf, expectFailure, pathsBelow, pieces } from './files-expect.ts';

const options = { maxBytes: 1024 * 1024 };

async function* failing(before: string): AsyncGenerator<Uint8Array> {
  yield bytesOf(before);
  throw new Error('the client went away');
}

export function describeUploads(prepare: Prepare): void {
  describe('uploads', () => {
    test('create a file from all pieces, with its directories, and return its version', async () => {
      await using fixture = await prepare();
      const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 251));
      const cut = [bytes.subarray(0, 1), Buffer.alloc(0), bytes.subarray(1, 50_000), bytes.subarray(50_000)];
      const uploaded = await fixture.files.upload('new/deep/a.bin', pieces(...cut), options);
      expect(readFileSync(fixture.at('new/deep/a.bin')).equals(bytes)).toBe(true);
      expect(uploaded).toMatchObject({ path: 'new/deep/a.bin', size: bytes.length, isNew: true });
      expect(uploaded.version).toBe(sha256(bytes));
      expect((await fixture.files.version('new/deep/a.bin'))?.version).toBe(uploaded.version);
    });

    test('replace a file and keep its mode; an empty upload makes an empty file', async () => {
      await using fixture = await prepare();
      writeFileSync(fixture.at('run.sh'), 'old', { mode: 0o755 });
      const uploaded = await fixture.files.upload('run.sh', pieces(), options);
      expect(uploaded).toMatchObject({ size: 0, isNew: false });
      expect(statSync(fixture.at('run.sh')).mode & 0o777).toBe(0o755);
    });

    test('that fail in the middle leave everything unchanged', async () => {
      await using fixture = await prepare();
      writeFileSync(fixture.at('kept.txt'), 'kept');
      for (const path of ['kept.txt', 'new.txt', 'no/such/place.txt']) {
        await expect(fixture.files.upload(path, failing('half'), options)).rejects.toThrow();
        await expectFailure(fixture.files.upload(path, pieces('x'.repeat(11)), { maxBytes: 10 }), 'E_TOO_LARGE');
      }
      expect(pathsBelow(fixture.directory)).toEqual(['kept.txt']);
      expect(readFileSync(fixture.at('kept.txt'), 'utf8')).toBe('kept');
    });

    test('up to the size limit are accepted', async () => {
      await using fixture = await prepare();
      const uploaded = await fixture.files.upload('a.txt', pieces('12345', '67890'), { maxBytes: 10 });
      expect(uploaded.size).toBe(10);
    });

    test('that cannot succeed are refused before a piece is read', async () => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('dir'));
      mkdirSync(fixture.at('.git'));
      symlinkSync(fixture.outside, fixture.at('out'));
      writeFileSync(fixture.at('there.txt'), 'there');
      let asked = 0;
      async function* asking() {
        asked += 1;
        yield bytesOf('x');
      }
      const upload = (path: string, more = {}) => fixture.files.upload(path, asking(), { ...options, ...more });
      await expectFailure(upload('dir'), 'E_NOT_A_FILE');
      await expectFailure(upload('.git/config'), 'E_CONTROL_FILE');
      await expectFailure(upload('out/x'), 'E_SANDBOX_VIOLATION');
      await expectFailure(upload('../x'), 'E_SANDBOX_VIOLATION');
      await expectFailure(upload('there.txt', { expect: 'absent' }), 'E_ALREADY_EXISTS');
      await expectFailure(upload('there.txt', { expect: { version: 'another' } }), 'E_STALE');
      await expectFailure(upload('new.txt', { expect: { version: 'another' } }), 'E_STALE');
      expect(asked).toBe(0);
    });

    test('check the target again after the last piece, so that concurrent changes are kept', async () => {
      await using fixture = await prepare();
      async function* meanwhile(work: () => void) {
        yield bytesOf('of the ');
        work();
        yield bytesOf('upload');
      }
      const made = () => writeFileSync(fixture.at('a.txt'), 'of somebody else');
      const late = fixture.files.upload('a.txt', meanwhile(made), { ...options, expect: 'absent' });
      await expectFailure(late, 'E_ALREADY_EXISTS', 'E_STALE');
      const seen = await fixture.files.version('a.txt');
      const changed = () => writeFileSync(fixture.at('a.txt'), 'of a third');
      const stale = fixture.files.upload('a.txt', meanwhile(changed), { ...options, expect: seen });
      await expectFailure(stale, 'E_STALE');
      expect(readFileSync(fixture.at('a.txt'), 'utf8')).toBe('of a third');
      expect(readdirSync(fixture.directory)).toEqual(['a.txt']);
    });

    test('are put in place inside the wrapper of the workspace, after the last piece', async () => {
      await using fixture = await prepare();
      const steps: string[] = [];
      async function* reported() {
        yield bytesOf('one');
        steps.push('sent');
      }
      const around = async <T>(work: () => Promise<T>) => {
        steps.push('before');
        const done = await work();
        steps.push(readFileSync(fixture.at('dir/a.txt'), 'utf8'));
        return done;
      };
      await fixture.files.upload('dir/a.txt', reported(), { ...options, around });
      expect(steps).toEqual(['sent', 'before', 'one']);
      const refusing = async () => {
        throw new Error('not now');
      };
      await expect(fixture.files.upload('b/c.txt', reported(), { ...options, around: refusing })).rejects.toThrow();
      expect(pathsBelow(fixture.directory)).toEqual(['dir', 'dir/a.txt']);
    });

    test('do not follow a link that appears meanwhile', async () => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('dir'));
      async function* swapping() {
        yield bytesOf('half');
        renameSync(fixture.at('dir'), fixture.at('moved'));
        symlinkSync(fixture.outside, fixture.at('dir'));
        yield bytesOf(' and half');
      }
      await expectFailure(fixture.files.upload('dir/a.txt', swapping(), options), 'E_SANDBOX_VIOLATION');
      expect(pathsBelow(fixture.directory)).toEqual(['dir', 'moved']);
    });

    test('to one path at the same time leave the whole of one', async () => {
      await using fixture = await prepare();
      const texts = Array.from({ length: 8 }, (_, index) => `${index}`.repeat(100_000));
      await Promise.all(texts.map((text) => fixture.files.upload('a.txt', pieces(text), options)));
      expect(texts).toContain(readFileSync(fixture.at('a.txt'), 'utf8'));
      expect(readdirSync(fixture.directory)).toEqual(['a.txt']);
    });
  });

  describe('a part of a file', () => {
    test('equals the same slice of the whole', async () => {
      await using fixture = await prepare();
      const bytes = Buffer.from(Array.from({ length: 3000 }, (_, index) => index % 256));
      await fixture.files.write('a.bin', bytes);
      await using file = await fixture.files.open('a.bin');
      for (const [start, end] of [
        [0, 3000],
        [0, 0],
        [1, 2],
        [2999, 3000],
        [100, 2000],
        [2999, 5000],
      ] as const) {
        const read: Buffer[] = [];
        for await (const chunk of file.chunks({ start, end })) read.push(Buffer.from(chunk));
        expect(Buffer.concat(read).equals(bytes.subarray(start, end)), `${start} to ${end}`).toBe(true);
      }
    });
  });
}
