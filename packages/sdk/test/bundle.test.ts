import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';

/** Bundled as somebody does who ships the SDK to a browser, or to a worker at the edge. */
async function bundle(entry: string, conditions: readonly string[]): Promise<string> {
  const build = await rolldown({
    input: join(import.meta.dirname, '../src', entry),
    platform: 'browser',
    resolve: { conditionNames: [...conditions, 'import'] },
    // An import of Node would be left in the bundle, where the test finds it.
    external: (id) => id.startsWith('node:') || builtinModules.includes(id),
  });
  const { output } = await build.generate({ format: 'esm' });
  return output.map((file) => (file.type === 'chunk' ? file.code : '')).join('\n');
}

test.each([['browser'], ['workerd', 'worker', 'browser']])(
  'the main entry for %s has no require and nothing of Node',
  async (...conditions) => {
    const code = await bundle('index.ts', conditions);
    expect(/\bCroft = class\b/.test(code)).toBe(true);
    expect(partsOfNode(code)).toEqual([]);
    expect(partsOfNode(await bundle('adapters/ai/index.ts', conditions))).toEqual([]);
  },
);

function partsOfNode(code: string): string[] {
  const ofNode = /\brequire\s*\(\s*["']|__require|from\s*["']node:|import\s*\(\s*["']node:|\bprocess\.\w+|\bBuffer\./g;
  return [...code.matchAll(ofNode)].map(([found]) => found);
}
