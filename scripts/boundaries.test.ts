import { expect, test } from 'vitest';
import { findViolations } from './boundaries.ts';

test.each([
  ['core/tools/tool.ts', "import { spawn } from 'node:child_process';"],
  ['core/tools/tool.ts', "import { read } from '../../tools/read.ts';"],
  ['tools/read.ts', "import { write } from './write.ts';"],
  ['tools/read.ts', "import { readFileSync } from 'node:fs';"],
  ['providers/bubblewrap.ts', "import { spawn } from 'node:child_process';"],
  ['providers/bubblewrap.ts', "await import('../tools/index.ts')"],
  ['providers/bubblewrap/provider.ts', "import { createSearchBoxes } from '../search-box.ts';"],
  ['rest/server.ts', "import { Server } from '@modelcontextprotocol/server';"],
  ['host/egress.ts', "import { tmpdir } from 'node:os';"],
  ['elsewhere/new.ts', "import { z } from 'zod';"],
])('%s is refused %s', (file, source) => {
  expect(findViolations(file, source)).toHaveLength(1);
});

test.each([
  ['tools/index.ts', "export { read } from './read.ts';"],
  ['tools/read.ts', "import { z } from 'zod';"],
  ['lib/processes/spawn.ts', "import { spawn } from 'node:child_process';"],
  ['lib/files/temporary-base.ts', "import { tmpdir } from 'node:os';"],
  ['providers/bubblewrap/provider.ts', "import { toBwrapArguments } from './bwrap-arguments.ts';"],
  ['cli/commands/mcp.ts', "import { serveMcpStdio } from '../../mcp/stdio.ts';"],
])('%s may import %s', (file, source) => {
  expect(findViolations(file, source)).toEqual([]);
});
