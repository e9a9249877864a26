import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFixture, type RestFixture } from './fixture.ts';

let fixture: RestFixture;
let token: string;

beforeAll(async () => {
  fixture = await openFixture({ limits: { requestsPerMinute: 100_000 } });
  ({ token } = await fixture.addAccount('ann'));
});

afterAll(() => fixture[Symbol.asyncDispose]());

const lists = [
  ['sandboxes', (name: string) => ({ name, config: {} })],
  ['workspaces', (name: string) => ({ name, config: {} })],
  ['agents', (name: string) => ({ name, config: {} })],
  ['keys', (name: string) => ({ name, scopes: ['read'] })],
] as const;

describe.each(lists)('a list of %s', (list, toBody) => {
  const make = (name: string) => fixture.send('POST', `/v1/${list}`, { token, body: toBody(name) });

  test('shows each remaining row once, while rows are added and removed', async () => {
    const names = Array.from({ length: 23 }, (_, index) => `${list} ${index}`);
    for (const name of names) await make(name);
    const seen: string[] = [];
    let after = '';
    for (let page = 0; page < 20; page += 1) {
      const { json } = await fixture.send('GET', `/v1/${list}?limit=5${after}`, { token });
      expect(json[list].length).toBeLessThanOrEqual(5);
      seen.push(...json[list].map(({ name }: { name: string }) => name));
      // Removes the row shown last, and adds another.
      if (page < 3) await make(`${list} late ${page}`);
      const last = json[list].at(-1);
      if (page === 1 && list === 'sandboxes') {
        expect(await fixture.send('DELETE', `/v1/sandboxes/${last.sandboxId}`, { token })).toMatchObject({
          status: 200,
        });
      }
      if (json.next === undefined) break;
      after = `&after=${json.next}`;
    }
    expect(seen.toSorted()).toEqual([...new Set(seen)].toSorted());
    expect(seen).toEqual(expect.arrayContaining([...names, `${list} late 0`, `${list} late 2`]));
  });

  test('has fifty rows on a page by default, and says if there are more', async () => {
    for (let index = 0; index < 30; index += 1) await make(`${list} more ${index}`);
    const { json: fifty } = await fixture.send('GET', `/v1/${list}`, { token });
    expect(fifty[list]).toHaveLength(50);
    expect(fifty.next).toEqual(expect.any(String));
    const { json: all } = await fixture.send('GET', `/v1/${list}?limit=200`, { token });
    expect(all[list].length).toBeGreaterThan(50);
    expect(all).not.toHaveProperty('next');
  });
});

test('the audit trail is read page by page, in order and without a gap', async () => {
  const rows: { sequence: number; accountId: string }[] = [];
  let after = '';
  do {
    const { json } = await fixture.send('GET', `/v1/audit?limit=50${after}`, { token });
    rows.push(...json.audit);
    after = json.next === undefined ? '' : `&after=${json.next}`;
  } while (after !== '');
  expect(rows.map(({ sequence }) => sequence)).toEqual(
    fixture.dump().audit?.map((row) => (row as { sequence: number }).sequence),
  );
});
