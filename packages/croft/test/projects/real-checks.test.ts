import { describe, expect, test } from 'vitest';
import { type CheckTool, expectSameVerdict } from './expect-same-verdict.ts';
import { shareProjects } from './project.ts';
import { isAsked, unpackNpm } from './unpack-projects.ts';

interface Compared {
  readonly tool: CheckTool;
  /** The command of the project's people. */
  readonly command: string;
  /** Text added to a file to break it. Absent: the command is red from the start. */
  readonly breaks?: readonly [file: string, line: string];
}

interface Published {
  readonly version: string;
  /** The packages that its checks need, instead of all development dependencies. */
  readonly needs: readonly string[];
  readonly checks: readonly Compared[];
}

const lint = (breaks?: Compared['breaks'], command = 'npm run lint'): Compared => ({
  ...{ tool: 'run_lint', command },
  ...(breaks && { breaks }),
});
const types = (breaks?: Compared['breaks'], command = 'npx --no-install tsc --noEmit'): Compared => ({
  ...{ tool: 'run_typecheck', command },
  ...(breaks && { breaks }),
});
const unused = 'var unused = 1 ;\n';
const wrongType = 'export const wrongType: number = "text";\n';
const neostandard = ['eslint@9.17.0', 'neostandard@0.12.0'];
const ljharb = ['eslint@8.8.0', '@ljharb/eslint-config@21.1.1'];

/** Packages whose settings for a linter or compiler are published with them, or need none. */
const packages: Readonly<Record<string, Published>> = {
  reusify: {
    version: '1.1.0',
    needs: [...neostandard, 'typescript@5.7', '@types/node@22', 'tape@5'],
    checks: [lint(['reusify.js', unused]), types(['reusify.d.ts', wrongType])],
  },
  '@fastify/error': { version: '4.1.0', needs: neostandard, checks: [lint(['index.js', unused])] },
  'fast-uri': { version: '3.0.6', needs: neostandard, checks: [lint(['lib/utils.js', unused])] },
  minimist: { version: '1.2.8', needs: ljharb, checks: [lint(['index.js', unused])] },
  gopd: {
    version: '1.2.0',
    needs: [...ljharb, 'typescript@5.7', '@ljharb/tsconfig@0.2', '@types/tape@5', 'tape@5'],
    // Its script runs programs that are not there.
    checks: [lint(), types(['index.d.ts', wrongType])],
  },
  'side-channel': {
    version: '1.1.0',
    needs: [...ljharb, 'typescript@5.7', '@ljharb/tsconfig@0.2', '@types/tape@5', '@types/object-inspect@1', 'tape@5'],
    checks: [lint(), types(['index.d.ts', wrongType])],
  },
  fastq: {
    version: '1.19.1',
    needs: ['standard@16', 'snazzy@9', 'typescript@5.7', 'tape@5'],
    checks: [lint(['queue.js', unused])],
  },
  dotenv: { version: '16.4.7', needs: ['standard@17'], checks: [lint(['lib/main.js', unused])] },
  'run-parallel': {
    version: '1.2.0',
    needs: ['standard@17'],
    checks: [lint(['index.js', unused], 'npx --no-install standard')],
  },
  debug: { version: '4.4.0', needs: ['xo@0.60'], checks: [lint()] },
  'p-map': { version: '7.0.3', needs: ['xo@0.56'], checks: [lint(['index.js', unused], 'npx --no-install xo')] },
  'openapi-fetch': { version: '0.13.5', needs: ['@biomejs/biome@1.9.4'], checks: [lint()] },
};

describe.skipIf(!isAsked)('the verdict on a published package', { timeout: 600_000 }, () => {
  const { projectTree, call } = shareProjects({});

  test.each(Object.entries(packages))('%s', async (name, { checks, ...published }) => {
    unpackNpm(projectTree, name, published);
    for (const { tool, command, breaks } of checks) {
      const compared = { path: projectTree.path, call, command, tool };
      await expectSameVerdict(compared, breaks !== undefined);
      if (!breaks) continue;
      const [file, line] = breaks;
      const text = projectTree.read(file);
      projectTree.put(file, text + line);
      await expectSameVerdict(compared, false);
      projectTree.put(file, text);
    }
    expect(checks.length).toBeGreaterThan(0);
  });
});
