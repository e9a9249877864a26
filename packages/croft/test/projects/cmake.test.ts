import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import { hasToolchains } from '../support/toolchains.ts';
import { describeEcosystem } from './describe-ecosystem.ts';
import { connectWithout, makeProjects } from './project.ts';

await describeEcosystem('a C program with CMake and ctest', {
  toolchains: ['cmake'],
  fixture: 'cmake',
  language: 'cpp',
  source: 'sums.c',
  tests: 'sums_test.c',
  stops: { adds: 'add(1, 2)', multiplies: 'multiply(3, 4)' },
  breaks: ['left + right', 'left + absent'],
  program: 'cmake',
  checks: [
    {
      tool: 'run_typecheck',
      file: 'sums.h',
      text: 'int add(int left, int right);\nint multiply(int left, int right);\nstatic int unused(void) { return 1; }\n',
      state: 'warnings',
      finding: { line: 3, rule: expect.stringContaining('unused-function') },
    },
  ],
});

const hasCmake = await hasToolchains('cmake');
const hasMeson = await hasToolchains('meson');
const makefile = { Makefile: 'test: sums.o\n\t./sums\nsums.o: sums.c\n\tcc -c sums.c\n', 'sums.c': 'int sums;\n' };
const meson = { 'meson.build': "project('sums', 'c')\ntest('sums', executable('sums', 'sums.c'))\n", 'sums.c': '' };
const cmake = { 'CMakeLists.txt': 'cmake_minimum_required(VERSION 3.10)\nproject(sums C)\n', 'sums.c': '' };

/** Which programs there are, the one that is missing, and what brings it. */
const cases = [
  ...(hasCmake
    ? ([
        ['CMake', cmake, [], 'cmake', 'cmake'],
        ['CMake', cmake, ['cmake'], 'make', 'make'],
        ['CMake', cmake, ['cmake', 'make', 'uname'], 'cc', 'gcc'],
        ['Make', makefile, [], 'make', 'make'],
        ['Make', makefile, ['make'], 'cc', 'gcc'],
      ] as const)
    : []),
  ...(hasMeson
    ? ([
        ['Meson', meson, [], 'meson', 'meson'],
        ['Meson', meson, ['meson', 'python3'], 'cc', 'gcc'],
      ] as const)
    : []),
];

describe.skipIf(cases.length === 0)('a missing dependency of another program', () => {
  test.each(cases)('%s without all but %j', async (_, tree, programs, missing, brings) => {
    using projectTree = makeProjects({}, tree);
    using bin = makeDirectory();
    await using session = await connectWithout(projectTree, join(bin.path, 'bin'), programs);
    for (const tool of ['run_tests', 'run_typecheck']) {
      const answer = await session.call(tool);
      expect(answer.text).toContain(`${tool}: ${missing}: not found on PATH; on Debian: apt-get install ${brings}`);
      expect(answer.structured.error).toMatchObject({ code: 'E_TOOL_MISSING', details: { program: missing } });
    }
  });
});
