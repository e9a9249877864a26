import { defineLintTool } from '../core/checks/lint/define-lint-tool.ts';

export const runTypecheck = defineLintTool('typecheck', {
  aliases: ['RunTypecheck'],
  title: 'Type-check',
  description:
    'Run the project’s type checker or compiler in the sandbox, without building, and answer its findings by file, ' +
    'line and rule. Only `clean` is green, and `warnings`, with which the tool itself passes.',
});
