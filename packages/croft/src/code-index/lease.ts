import type { IndexDatabase } from './database.ts';

/** Of several processes on one workspace, one builds the index. A lease runs out by itself when its owner is killed. */
export function takeLease(index: IndexDatabase, { owner, forMs }: { owner: string; forMs: number }): boolean {
  return index.write(() => {
    const held = index.prepare("SELECT value FROM state WHERE name = 'lease'").get()?.value;
    const [holder = '', until = '0'] = String(held ?? '').split(' ');
    if (holder !== owner && Number(until) > Date.now()) return false;
    index.prepare("INSERT OR REPLACE INTO state VALUES ('lease', ?)").run(`${owner} ${Date.now() + forMs}`);
    return true;
  });
}
