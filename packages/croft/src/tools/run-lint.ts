import { defineLintTool } from '../core/checks/lint/define-lint-tool.ts';

export const runLint = defineLintTool('lint', {
  aliases: ['RunLint'],
  title: 'Lint',
  description:
    'Run the project’s linter in the sandbox and answer its findings by file, line and rule. Only `clean` is green, and `warnings`, with which the tool itself passes.',
});
