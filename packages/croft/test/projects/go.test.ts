import { expect } from 'vitest';
import { describeEcosystem } from './describe-ecosystem.ts';

const wrongFormat = `package sums

import "fmt"

func Show() {
	fmt.Printf("%d", "text")
}
`;

const wrongType = `package sums

var Wrong int = "text"
`;

await describeEcosystem('a Go module', {
  toolchains: ['go'],
  fixture: 'go',
  language: 'go',
  source: 'sums.go',
  tests: 'sums_test.go',
  stops: { adds: 'want 3', multiplies: 'want 12' },
  breaks: ['left + right', 'left + absent'],
  program: 'go',
  checks: [
    {
      tool: 'run_lint',
      file: 'show.go',
      text: wrongFormat,
      finding: { line: 6, message: expect.stringContaining('%d') },
    },
    { tool: 'run_typecheck', file: 'wrong.go', text: wrongType, finding: { line: 3 } },
  ],
});
